//! What a call site makes of loops that cost this or that.

use super::*;

fn through(choice: Choice, ns: u64) -> Sample {
    Sample { choice, ns, left_after: None, in_company: false }
}

/// Runs `loops` loops of `len` iterations with these costs; what they took, and what the last choice was.
fn run(memory: &Memory, len: u64, loops: u32, cost: impl Fn(Choice) -> u64) -> (u64, Choice) {
    let mut total = 0;
    for _ in 0..loops {
        let Decision { choice, measured, .. } = memory.decide(len, || false);
        let ns = cost(choice);
        total += ns;
        if measured {
            memory.learn(len, through(choice, ns));
        }
    }
    (total, memory.expectation(len).0)
}

fn costs(serial: u64, static_: u64, steal: u64) -> impl Fn(Choice) -> u64 {
    move |choice| match choice {
        Choice::Serial => serial,
        Choice::Static => static_,
        Choice::Steal => steal,
    }
}

#[test]
fn finds_the_best_and_costs_little_on_the_way() {
    for (serial, static_, steal) in [
        (100, 400, 700),
        (300, 500, 600),
        (20_000, 11_000, 12_000),
        (25_000, 24_000, 14_000),
        (3_000_000, 2_400_000, 1_500_000),
        (10_000_000, 5_000_000, 5_100_000),
    ] {
        let memory = Memory::new();
        let best = serial.min(static_).min(steal);
        let (first, _) = run(&memory, 1000, 10, costs(serial, static_, steal));
        let (rest, choice) = run(&memory, 1000, 10_000, costs(serial, static_, steal));
        assert_eq!(costs(serial, static_, steal)(choice), best);
        assert!(rest <= 10_000 * best + 10_000 * best / 50, "{rest} for {best} each");
        assert!(first <= 10 * best + 4 * static_.max(steal).max(serial.min(50_000)), "{first}");
    }
}

#[test]
fn long_loops_are_never_tried_serially() {
    let memory = Memory::new();
    let cost = |choice| {
        assert_ne!(choice, Choice::Serial);
        costs(0, 60_000, 70_000)(choice)
    };
    assert_eq!(run(&memory, 100, 5000, cost).1, Choice::Static);
}

#[test]
fn follows_a_change() {
    let memory = Memory::new();
    assert_eq!(run(&memory, 1000, 20_000, costs(900, 2000, 2100)).1, Choice::Serial);
    assert_eq!(run(&memory, 1000, 5000, costs(90_000, 50_000, 60_000)).1, Choice::Static);
    assert_eq!(run(&memory, 1000, 20_000, costs(90_000, 85_000, 48_000)).1, Choice::Steal);
    assert_eq!(run(&memory, 1000, 20_000, costs(500, 1000, 1000)).1, Choice::Serial);
}

/// Where loops run serially, workers sleep: only from the third loop in a row that needs them on are they fast.
#[test]
fn finds_its_way_back_from_serial_loops_although_workers_sleep() {
    let memory = Memory::new();
    run(&memory, 1000, 100, costs(20_000, 45_000, 48_000));
    assert_eq!(memory.expectation(1000).0, Choice::Serial);
    let mut in_a_row = 0;
    let mut total = 0;
    for _ in 0..40_000 {
        let Decision { choice, measured, .. } = memory.decide(1000, || false);
        in_a_row = if choice == Choice::Serial { 0 } else { in_a_row + 1 };
        let ns = match in_a_row {
            0 => 20_000,
            1 | 2 => 60_000,
            _ => 11_000,
        };
        total += ns;
        if measured {
            memory.learn(1000, through(choice, ns));
        }
    }
    assert_ne!(memory.expectation(1000).0, Choice::Serial);
    assert!(total < 40_000 * 15_000, "{total}");
}

/// The same where but one of the ways to share the loop is any good, and the other gives workers no time to wake up.
#[test]
fn what_counts_is_what_a_loop_costs_once_its_workers_are_awake() {
    let memory = Memory::new();
    run(&memory, 1000, 100, costs(20_000, 45_000, 100_000));
    assert_eq!(memory.expectation(1000).0, Choice::Serial);
    let mut in_a_row = 0;
    for _ in 0..40_000 {
        let Decision { choice, measured, .. } = memory.decide(1000, || false);
        in_a_row = if choice == Choice::Static { in_a_row + 1 } else { 0 };
        let ns = match (choice, in_a_row) {
            (Choice::Serial, _) => 20_000,
            (Choice::Static, 1 | 2) => 60_000,
            (Choice::Static, _) => 11_000,
            (Choice::Steal, _) => 100_000,
        };
        if measured {
            memory.learn(1000, through(choice, ns));
        }
    }
    assert_eq!(memory.expectation(1000).0, Choice::Static);
}

#[test]
fn what_was_far_behind_is_tried_again_after_a_while() {
    let memory = Memory::new();
    assert_eq!(run(&memory, 1000, 1000, costs(9000, 2000, 10_000)).1, Choice::Static);
    assert_eq!(run(&memory, 1000, 30_000, costs(9000, 2000, 500)).1, Choice::Steal);
}

#[test]
fn the_best_of_the_first_measurements_counts() {
    let memory = Memory::new();
    for ns in [50_000, 10_000, 80_000] {
        assert_eq!(memory.decide(1000, || false).choice, Choice::Steal);
        memory.learn(1000, through(Choice::Steal, ns));
    }
    let [.., steal] = memory.expectation(1000).1;
    assert!((steal.unwrap() - 10.0).abs() < 0.1, "{steal:?} ns an iteration");
}

#[test]
fn what_no_thread_could_have_heard_of_is_left_to_the_caller_until_it_grows() {
    let memory = Memory::new();
    run(&memory, 2, 100, costs(40, 110, 120));
    let shared = |choice| {
        assert_eq!(choice, Choice::Serial, "not even tried");
        40
    };
    assert_eq!(run(&memory, 2, 100_000, shared).1, Choice::Serial);
    assert_eq!(run(&memory, 2, 5000, costs(4000, 2500, 2600)).1, Choice::Static);
}

#[test]
fn an_interrupted_loop_does_not_mislead_for_long() {
    let memory = Memory::new();
    run(&memory, 1000, 1000, costs(900, 2000, 2100));
    let before = memory.expectation(1000);
    memory.learn(1000, through(Choice::Serial, 4_000_000));
    assert_eq!(memory.expectation(1000), before, "one is not believed");
    memory.learn(1000, through(Choice::Serial, 4_000_000));
    assert_eq!(run(&memory, 1000, 2000, costs(900, 2000, 2100)).1, Choice::Serial);
}

#[test]
fn what_was_not_believed_is_measured_again_at_once() {
    let memory = Memory::new();
    let cost = costs(900, 2000, 2100);
    run(&memory, 1000, 1000, &cost);
    let choice = loop {
        let Decision { choice, measured, .. } = memory.decide(1000, || false);
        if measured && choice == Choice::Serial {
            break choice;
        }
        if measured {
            memory.learn(1000, through(choice, cost(choice)));
        }
    };
    memory.learn(1000, through(choice, 50_000));
    let again = memory.decide(1000, || false);
    assert_eq!((again.choice, again.measured), (choice, true));
    memory.learn(1000, through(choice, 900));
    assert_eq!(memory.expectation(1000).0, Choice::Serial);
}

#[test]
fn classes_learn_apart() {
    let memory = Memory::new();
    run(&memory, 10, 100, costs(10, 400, 500));
    run(&memory, 1_000_000, 100, costs(0, 300_000, 320_000));
    assert_eq!(memory.expectation(12).0, Choice::Serial);
    assert_eq!(memory.expectation(1_040_000).0, Choice::Static);
    assert_eq!(memory.expectation(5000).1, [None; 3]);
}

/// An iteration takes 1 ns; of a million, the one at `exit` leaves. Two participants run static blocks; or take turns.
#[test]
fn loops_that_are_left_early_share_a_counter() {
    let memory = Memory::new();
    let (len, exit) = (1_000_000, 125_000);
    let mut total = 0;
    for _ in 0..2000 {
        let decision = memory.decide(len, || false);
        let ns = match decision.schedule() {
            Schedule::Dynamic => exit / 2 + 5000,
            Schedule::Static | Schedule::Steal => exit + 1000,
            _ => exit,
        };
        total += ns;
        if decision.measured {
            let sample = Sample {
                choice: decision.choice,
                ns,
                left_after: Some(exit + 1),
                in_company: false,
            };
            memory.learn(len, sample);
        }
    }
    assert_eq!(memory.decide(len, || false).schedule(), Schedule::Dynamic);
    assert!(total < 2000 * (exit * 11 / 20), "{total}");
    // Where they run through after all, the counter is kept only if it is no worse.
    for _ in 0..5000 {
        let decision = memory.decide(len, || false);
        let ns = if decision.choice == Choice::Steal { len / 2 } else { len };
        if decision.measured {
            memory.learn(len, through(decision.choice, ns));
        }
    }
    assert_eq!(memory.expectation(len).0, Choice::Steal);
}

#[test]
fn a_loop_that_is_left_makes_its_class_begin_anew_and_counts_for_what_was_run() {
    let memory = Memory::new();
    run(&memory, 1000, 100, costs(9000, 5000, 6000));
    let left =
        Sample { choice: Choice::Static, ns: 1000, left_after: Some(100), in_company: false };
    memory.learn(1000, left);
    assert_eq!(memory.expectation(1000).1, [None; 3], "loops that run through tell little");
    let Decision { choice, measured, left: known } = memory.decide(1000, || false);
    assert_eq!((choice, measured, known), (Choice::Steal, true, true));
    memory.learn(1000, Sample { choice, ..left });
    let [.., steal] = memory.expectation(1000).1;
    assert!((steal.unwrap() - 10.0).abs() < 0.1, "{steal:?} ns an iteration");
}

#[test]
fn no_loop_that_runs_to_its_end_is_taken_for_one_that_is_left() {
    // Workers that sometimes come late, as where they are more than there are CPUs: what one measurement says the next denies.
    let mut state = 1_u64;
    let mut lot = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let memory = Memory::new();
    for _ in 0..200_000 {
        let Decision { choice, measured, left } = memory.decide(1000, || false);
        assert!(!left);
        if measured {
            let late = if choice == Choice::Serial { 0 } else { lot(3) * 15_000 };
            memory.learn(1000, through(choice, 18_000 + lot(2_000) + late));
        }
    }
}

#[test]
fn small_loops_inside_of_others_are_serial() {
    let memory = Memory::new();
    assert_eq!(memory.decide(1000, || true).choice, Choice::Steal, "nothing is known yet");
    run(&memory, 1000, 100, costs(600, 500, 450));
    assert_eq!(memory.expectation(1000).0, Choice::Steal);
    let mut measured = 0;
    for _ in 0..1000 {
        let decision = memory.decide(1000, || true);
        assert_eq!(decision.choice, Choice::Serial);
        if decision.measured {
            measured += 1;
            memory.learn(1000, through(decision.choice, 600));
        }
    }
    assert!(measured < 100, "{measured}");
    run(&memory, 100_000, 100, costs(600_000, 310_000, 320_000));
    assert_ne!(memory.decide(100_000, || true).choice, Choice::Serial, "worth sharing");
    // Small on many seats, long on one; and launched from inside alone.
    let mut serial = 0;
    for _ in 0..1000 {
        let decision = memory.decide(10_000, || true);
        let ns = costs(500_000, 14_000, 13_000)(decision.choice);
        serial += u32::from(decision.choice == Choice::Serial);
        if decision.measured {
            memory.learn(10_000, through(decision.choice, ns));
        }
    }
    assert!(serial <= 2, "{serial}");
}

/// As [`run`], where what is shared is so in company or not.
fn run_beside(memory: &Memory, loops: u32, company: impl Fn(u32) -> bool) -> (u32, Choice) {
    let cost = costs(1800, 1200, 1300);
    let mut shared = 0;
    for count in 0..loops {
        let Decision { choice, measured, .. } = memory.decide(10_000, || false);
        let is_shared = choice != Choice::Serial;
        shared += u32::from(is_shared);
        if measured {
            let in_company = is_shared && company(count);
            memory.learn(10_000, Sample { in_company, ..through(choice, cost(choice)) });
        }
    }
    (shared, memory.expectation(10_000).0)
}

#[test]
fn what_is_shared_at_the_expense_of_other_callers_counts_for_nothing() {
    let memory = Memory::new();
    let (first, choice) = run_beside(&memory, 20, |_| true);
    assert!(
        first < 10 && choice == Choice::Serial,
        "{first} {choice:?} {:?}",
        memory.expectation(10_000)
    );
    let (shared, choice) = run_beside(&memory, 100_000, |_| true);
    assert_eq!(choice, Choice::Serial);
    assert!(shared < 200, "{shared} tries");
    let (_, choice) = run_beside(&memory, 20_000, |_| false);
    assert_eq!(choice, Choice::Static, "the others are gone");
    let (shared, choice) = run_beside(&memory, 10_000, |_| true);
    assert!(shared < 2_000 && choice == Choice::Serial, "they are back: {shared}");
}

#[test]
fn one_meeting_with_another_caller_changes_nothing() {
    let memory = Memory::new();
    assert_eq!(run_beside(&memory, 20, |_| false).1, Choice::Static);
    let (shared, choice) = run_beside(&memory, 20_000, |count| count % 2 == 0);
    assert!(shared > 19_000 && choice == Choice::Static, "{shared}");
}

#[test]
fn words_come_back() {
    let lesson = Lesson {
        cost: [Cost::new(1.5), Cost::default(), Cost::new(1e9)],
        stage: LAST_STAGE,
        round: 2,
        tries: 1,
        left: true,
        suspect: true,
    };
    assert_eq!(Lesson::unpack(lesson.pack()), lesson);
    assert_eq!(Lesson::best_in(lesson.pack()), lesson.best());
    assert!((Cost::new(1234.0).value().unwrap() / 1234.0 - 1.0).abs() < 0.005);
}

#[test]
fn a_word_tells_at_a_glance_whether_the_plain_loop_is_settled_on() {
    for bits in 0..1_u32 << 9 {
        let bit = |at: u32| bits >> at & 1 != 0;
        let lesson = Lesson {
            cost: [Cost::new(if bit(0) { 1.0 } else { 3.0 }), Cost::new(2.0), Cost::default()],
            stage: if bit(1) { SETTLED } else { 0 } + (bits >> 2 & 3) as u8,
            round: (bits >> 4 & 3).min(2) as u8,
            tries: (bits >> 6 & 1) as u8,
            left: bit(7),
            suspect: bit(8),
        };
        let plain = lesson.stage >= SETTLED
            && (lesson.round, lesson.suspect, lesson.best()) == (0, false, Choice::Serial);
        assert_eq!(Lesson::is_settled_on_serial(lesson.pack()), plain, "{lesson:?}");
        // By the glance and by the whole rule, the same comes of every lot.
        for lot in [0, 1 << 21, 1 << 22, 1 << 23, 1 << 24, 1 << 25, u32::MAX] {
            if plain && !is_drawn(lesson.stage, lot) {
                let decision = Memory::decide_by(lesson.pack(), 1000, || false, lot);
                assert_eq!((decision.choice, decision.measured), (Choice::Serial, false));
            }
        }
    }
}

#[test]
fn what_is_small_beside_others_is_looked_at_again() {
    let memory = Memory::new();
    run(&memory, 1000, 100, costs(3000, 2000, 2100));
    let beside = |cost: &dyn Fn(Choice) -> u64| {
        let mut serial = 0;
        for _ in 0..20_000 {
            let decision = memory.decide(1000, || true);
            serial += u32::from(decision.choice == Choice::Serial);
            if decision.measured {
                memory.learn(1000, through(decision.choice, cost(decision.choice)));
            }
        }
        serial
    };
    assert_eq!(beside(&costs(3000, 2000, 2100)), 20_000);
    assert!(beside(&costs(3_000_000, 1_600_000, 1_700_000)) < 10_000, "it has become long");
}
