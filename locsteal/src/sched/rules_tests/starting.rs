//! R5, who begins which block, and R6, how long a block waits for its owner.

use super::*;

const WITH_BLOCKS: [Kind; 3] = [Kind::Static, Kind::Steal, Kind::StaticChunk(3)];

#[test]
fn blocks_are_dealt_alike_whoever_calls() {
    for kind in WITH_BLOCKS {
        for (seats, caller) in [(1, 0), (2, 0), (2, 1), (8, 0), (8, 3), (8, 7)] {
            let rig = Rig { kind, ..Rig::new(machine(seats, 2, 4), 7) };
            let mut walks = vec![rig.caller(caller)];
            walks.extend(
                (0..seats).rev().filter(|&seat| seat != caller).map(|seat| rig.owner(seat)),
            );
            for walk in &mut walks {
                rig.run_own(walk);
            }
        }
    }
}

#[test]
fn a_block_waits_for_its_owner_as_long_as_the_waiting_participant_took() {
    for kind in WITH_BLOCKS {
        let rig = Rig { kind, ..Rig::new(machine(2, 2, 2), 64) };
        let mut caller = rig.caller(0);
        rig.run_own(&mut caller);
        for after in [500, 501, 999] {
            rig.at(after);
            assert_eq!(rig.step(&mut caller), Step::Wait(None), "{kind:?}, {after}");
        }
        rig.at(1_000);
        let rescued = rig.run(&mut caller);
        assert_eq!(rig.home(&rescued), 1, "{kind:?}");
    }
}

#[test]
fn a_block_never_waits_longer_than_patience_lasts() {
    let rig = Rig { patience: 50, ..Rig::new(machine(2, 2, 2), 64) };
    let mut caller = rig.caller(0);
    rig.run_own(&mut caller);
    rig.at(5_000);
    assert_eq!(rig.step(&mut caller), Step::Wait(None));
    rig.at(5_049);
    assert_eq!(rig.step(&mut caller), Step::Wait(None));
    rig.at(5_050);
    assert_eq!(rig.home(&rig.run(&mut caller)), 1);
}

#[test]
fn many_late_owners_cost_one_delay() {
    for kind in WITH_BLOCKS {
        let rig = Rig { kind, ..Rig::new(machine(8, 2, 4), 6) };
        let mut caller = rig.caller(0);
        rig.run_own(&mut caller);
        rig.at(500);
        assert_eq!(rig.step(&mut caller), Step::Wait(None));
        rig.at(1_000);
        let mut ran = 0;
        while ran < 7 * 6 {
            ran += rig.run(&mut caller).count();
        }
        assert_eq!(rig.step(&mut caller), Step::Leave, "{kind:?}");
    }
}

#[test]
fn the_clock_runs_from_the_launch_for_whoever_looks() {
    let rig = Rig { patience: 1_000, ..Rig::new(machine(3, 4, 4), 64) };
    let mut caller = rig.caller(0);
    let mut owner = rig.owner(1);
    rig.run_own(&mut owner);
    rig.at(100);
    // It is done with its block, and steals of the caller's, while seat 2 is protected.
    assert_eq!(rig.home(&rig.run(&mut owner)), 0);
    rig.at(150);
    assert_eq!(rig.run_while(&mut caller, 0), Step::Wait(None), "its chance ends at 300");
    rig.at(199);
    assert_eq!(rig.run_while(&mut owner, 0), Step::Wait(None), "and for this one at 200");
    rig.at(200);
    assert_eq!(rig.home(&rig.run(&mut owner)), 2);
    assert_eq!(rig.home(&rig.run(&mut caller)), 2, "a begun block is protected from nobody");
}

#[test]
fn blocks_of_a_tiny_loop_are_begun_at_once() {
    for kind in WITH_BLOCKS {
        let rig = Rig { kind, launched: 0, ..Rig::new(machine(3, 1, 3), 2) };
        let mut caller = rig.caller(0);
        let mut ran = 0;
        // No time passes.
        while let Step::Run(chunk) = caller.step(&rig.view(), || 1) {
            ran += chunk.count();
        }
        assert_eq!(ran, 6, "{kind:?}");
    }
}

#[test]
fn a_loop_of_an_iteration_a_seat_is_finished_without_a_look_at_the_clock() {
    for kind in WITH_BLOCKS {
        let rig = Rig { kind, launched: 0, ..Rig::new(machine(3, 1, 3), 1) };
        let mut caller = rig.caller(0);
        let mut ran = 0;
        while let Step::Run(chunk) = caller.step(&rig.view(), || panic!("no clock is needed")) {
            ran += chunk.count();
        }
        assert_eq!(ran, 3, "{kind:?}");
    }
}

#[test]
fn while_one_block_is_protected_others_are_stolen_from() {
    let rig = Rig { patience: 1_000, ..Rig::new(machine(3, 4, 4), 64) };
    let mut caller = rig.caller(0);
    let _busy = rig.owner(2);
    rig.run_own(&mut caller);
    rig.at(100);
    assert_eq!(rig.home(&rig.run(&mut caller)), 2);
    assert_eq!(caller.take_tally().rescues, 0);
}

#[test]
fn a_block_that_its_owner_has_begun_is_not_rescued() {
    let rig = Rig::new(machine(2, 2, 2), 64);
    let mut caller = rig.caller(0);
    // The owner has come, and has not laid out its block yet.
    assert_eq!(rig.try_enter(1), Entry::Owner);
    rig.run_own(&mut caller);
    rig.at(1_000_000);
    assert_eq!(rig.step(&mut caller), Step::Wait(None));
    let mut owner = Walk::owner(1, &rig.view());
    assert_eq!(rig.home(&rig.run(&mut caller)), 1, "now it is stolen from");
    assert_eq!(rig.run(&mut owner).start, rig.block(1).start);
}

#[test]
fn an_owner_that_comes_after_the_rescue_works_on_what_is_left_of_its_block() {
    let rig = Rig { launched: 0, ..Rig::new(machine(2, 2, 2), 64) };
    let mut caller = rig.caller(0);
    rig.run_own(&mut caller);
    let rescued = rig.run(&mut caller);
    assert_eq!(rescued.start, rig.block(1).start);
    let mut late = rig.late(1);
    assert_eq!(rig.run(&mut late).start, rescued.end);
    assert_eq!(late.take_tally().moved.total(), 0, "it is at home");
}

#[test]
fn two_rescuers_do_not_begin_the_same_block() {
    for kind in WITH_BLOCKS {
        let rig = Rig { kind, launched: 0, ..Rig::new(machine(3, 4, 4), 64) };
        let mut caller = rig.caller(0);
        let mut owner = rig.owner(1);
        rig.run_own(&mut caller);
        rig.run_own(&mut owner);
        let first = rig.run(&mut caller);
        match rig.step(&mut owner) {
            Step::Run(second) => assert!(second.start >= first.end, "{first:?}, {second:?}"),
            other => assert_eq!(other, Step::Leave),
        }
        let rescues = caller.take_tally().rescues + owner.take_tally().rescues;
        assert_eq!(rescues, 1, "{kind:?}");
    }
}

#[test]
fn an_owner_that_comes_just_before_the_rescue_keeps_its_block() {
    for kind in WITH_BLOCKS {
        let rig = Rig { kind, ..Rig::new(machine(2, 2, 2), 64) };
        let mut caller = rig.caller(0);
        rig.run_own(&mut caller);
        rig.at(100);
        assert_eq!(rig.step(&mut caller), Step::Wait(None));
        // It comes between the rescuer's look at the seat and its claim.
        let step = caller.step(&rig.view(), || {
            assert_eq!(rig.try_enter(1), Entry::Owner);
            LAUNCHED + 200
        });
        assert_eq!(step, Step::Wait(None), "{kind:?}");
        rig.run_own(&mut Walk::owner(1, &rig.view()));
    }
}

/// Who waits in its sleep waits for an owner that is inside. At a seat whose block another is about to publish in its
/// stead there is none.
#[test]
fn the_caller_does_not_sleep_for_an_owner_that_never_came() {
    use super::super::presence::Phase;
    use super::super::rules::{Rules, Sight};

    /// While the caller looks around, a participant that does not know of the exit yet begins to rescue block 1.
    struct Meanwhile<'a>(&'a Rig);
    impl Rules for Meanwhile<'_> {
        fn saw(&mut self, sight: Sight) {
            if sight == Sight::Looked(2) {
                let (presence, view) = (&self.0.board.seat(1).presence, self.0.view());
                assert!(presence.claim(presence.read(), view.generation, Phase::Taken));
            }
        }
    }

    let rig = Rig::new(machine(3, 4, 4), 64);
    let mut caller = rig.caller(0);
    let _rescuer = rig.owner(2);
    rig.board.ending().exit_at(0);
    let step = caller.step_by(&rig.view(), || rig.now.get(), &mut Meanwhile(&rig));
    assert_eq!(step, Step::Wait(None), "nobody would ring");
}

#[test]
fn a_caller_that_has_shut_the_only_other_seat_leaves_at_once() {
    for kind in [Kind::Static, Kind::Steal] {
        let rig = Rig { launched: 0, kind, ..Rig::new(machine(2, 2, 2), 1) };
        let mut caller = rig.caller(0);
        rig.run_own(&mut caller);
        assert_eq!(rig.home(&rig.run(&mut caller)), 1);
        assert_eq!(rig.step(&mut caller), Step::Leave);
        assert_eq!(rig.try_enter(1), Entry::Never);
    }
}
