//! R1 under chosen and rolled orders of events: each iteration once, and with an exit none twice and all below it.

use super::*;

/// Who is where in a loop whose events come in rolled order.
enum Seat {
    Outside,
    /// It has claimed its block and not laid it out yet.
    Entering,
    Inside(Box<Walk>),
    Gone,
}

struct Outcome {
    runs: Vec<u32>,
    exit: Option<u64>,
}

fn play(rig: &Rig, dice: &mut Dice, exits: &[u64]) -> Outcome {
    let width = rig.deal.width();
    let mut seats: Vec<Seat> = (0..width).map(|_| Seat::Outside).collect();
    let caller = dice.below(width as u64) as usize;
    let near = dice.below(rig.seats as u64) as usize;
    let near = if near < width { caller } else { near };
    seats[caller] = Seat::Inside(rig.caller_near(caller, near).into());
    let mut runs = vec![0; rig.deal.units() as usize];
    // Some owners never come.
    let absent = dice.below(4);
    for _ in 0..1_000_000 {
        rig.now.set(rig.now.get() + dice.below(3));
        let seat = dice.below(width as u64) as usize;
        match &mut seats[seat] {
            Seat::Outside if dice.below(4) < absent => {}
            Seat::Outside => match rig.try_enter(seat) {
                Entry::Owner if rig.kind.publishes() => seats[seat] = Seat::Entering,
                Entry::Owner => seats[seat] = Seat::Inside(Walk::owner(seat, &rig.view()).into()),
                Entry::Late => seats[seat] = Seat::Inside(Walk::late(seat, &rig.view()).into()),
                Entry::NotNow => {}
                Entry::Never => seats[seat] = Seat::Gone,
            },
            Seat::Entering => seats[seat] = Seat::Inside(Walk::owner(seat, &rig.view()).into()),
            Seat::Inside(walk) => match rig.step(walk) {
                Step::Run(chunk) => {
                    for i in chunk {
                        if i >= rig.board.ending().bound() {
                            break;
                        }
                        runs[i as usize] += 1;
                        if exits.contains(&i) {
                            rig.board.ending().exit_at(i);
                            break;
                        }
                    }
                }
                Step::Wait(_) | Step::Pause(_) => {}
                Step::Leave if seat == caller => {
                    let exit = rig.board.ending().exit();
                    rig.board.clear(&rig.deal);
                    assert!((0..width).all(|seat| rig.left_at(seat).is_empty()));
                    return Outcome { runs, exit };
                }
                Step::Leave => {
                    rig.leave(walk);
                    seats[seat] = Seat::Gone;
                }
            },
            Seat::Gone => {}
        }
    }
    panic!("the loop does not end");
}

fn rolled(dice: &mut Dice) -> Rig {
    let seats = 1 + dice.below(9) as usize;
    let domain = 1 + dice.below(3) as usize;
    let orders = match dice.below(4) {
        0 => (Orders::cyclic(), seats),
        _ => machine(seats, domain, domain * (1 + dice.below(3) as usize)),
    };
    let kinds = [
        Kind::Steal,
        Kind::Steal,
        Kind::Steal,
        Kind::Static,
        Kind::StaticChunk(1 + dice.below(9) as u32),
        Kind::Dynamic,
        Kind::DynamicChunk(1 + dice.below(9) as u32),
        Kind::Growing,
    ];
    let rig = Rig {
        kind: kinds[dice.below(kinds.len() as u64) as usize],
        locality: [Locality::Llc, Locality::Node, Locality::Flat][dice.below(3) as usize],
        grain: 1 + dice.below(6) as u32,
        launched: dice.below(2) * LAUNCHED,
        patience: dice.below(200),
        grace: dice.below(3) as u32,
        ..Rig::new(orders, 1 + dice.below(60))
    };
    rig.width(1 + dice.below(seats as u64) as usize)
}

#[test]
fn each_iteration_runs_once_in_any_order_of_events() {
    for seed in 0..3_000 {
        let mut dice = Dice(seed);
        let rig = rolled(&mut dice);
        let outcome = play(&rig, &mut dice, &[]);
        assert!(outcome.runs.iter().all(|&runs| runs == 1), "seed {seed}: {:?}", outcome.runs);
        assert_eq!(outcome.exit, None);
    }
}

#[test]
fn the_lowest_exit_wins_and_all_below_it_have_run_once() {
    for seed in 0..3_000 {
        let mut dice = Dice(seed);
        let rig = rolled(&mut dice);
        let exits = [(); 3].map(|()| dice.below(rig.deal.units().into()));
        let lowest = exits.into_iter().min();
        let outcome = play(&rig, &mut dice, &exits);
        assert_eq!(outcome.exit, lowest, "seed {seed}");
        for (i, &runs) in (0..).zip(&outcome.runs) {
            let below = Some(i) <= lowest;
            assert!(if below { runs == 1 } else { runs <= 1 }, "seed {seed}: {i} ran {runs} times");
        }
    }
}

#[test]
fn after_a_stop_nothing_is_started() {
    for kind in [Kind::Steal, Kind::Static, Kind::StaticChunk(3), Kind::Dynamic] {
        let rig = Rig { kind, ..Rig::new(machine(4, 2, 2), 64) };
        let mut caller = rig.caller(0);
        let mut worker = rig.owner(3);
        rig.run(&mut caller);
        rig.run(&mut worker);
        rig.board.ending().stop();
        rig.at(1_000_000);
        assert_eq!(rig.step(&mut worker), Step::Leave, "{kind:?}");
        assert_eq!(rig.step(&mut caller), Step::Wait(Some(3)), "{kind:?}");
        rig.leave(&worker);
        assert_eq!(rig.step(&mut caller), Step::Leave, "{kind:?}");
        rig.board.clear(&rig.deal);
        assert!((0..4).all(|seat| rig.left_at(seat).is_empty()));
    }
}

#[test]
fn a_higher_exit_after_a_lower_one_changes_nothing() {
    let rig = Rig::new(machine(2, 2, 2), 64);
    rig.board.ending().exit_at(5);
    rig.board.ending().exit_at(90);
    assert_eq!(rig.board.ending().exit(), Some(5));
    assert_eq!(rig.board.ending().bound(), 5);
}

/// Where a loop may end anywhere, little is in hand above what has been run.
#[test]
fn growing_chunks_are_a_small_share_of_what_was_taken_before() {
    let rig = Rig { kind: Kind::Growing, grain: 10, ..Rig::new(machine(4, 2, 2), 25_000) };
    let mut walk = rig.caller(0);
    let (mut taken, mut chunks, mut last) = (0, 0, 0);
    while let Step::Run(chunk) = rig.step(&mut walk) {
        assert_eq!(chunk.start, taken, "in order");
        let (len, left) = (chunk.end - chunk.start, 100_000 - taken);
        // All four together hold a quarter of what was taken.
        assert!(len <= (taken / 16).max(10), "{len} after {taken}");
        assert!(len >= last || len <= left / 8 + 10, "{len} after {last} with {left} left");
        (taken, chunks, last) = (chunk.end, chunks + 1, len);
    }
    assert_eq!(taken, 100_000);
    assert!(chunks < 500, "{chunks} chunks");
}

#[test]
fn long_chunks_of_a_counter_end_where_cache_lines_may_begin() {
    for kind in [Kind::Dynamic, Kind::Growing] {
        let rig = Rig { kind, grain: 100, ..Rig::new(machine(4, 2, 2), 25_000) };
        let mut walk = rig.caller(0);
        let mut ends = Vec::new();
        while let Step::Run(chunk) = rig.step(&mut walk) {
            ends.push((chunk.end, if chunk.end - chunk.start < 256 { 8 } else { 16 }));
        }
        assert_eq!(ends.pop().map(|(end, _)| end), Some(100_000), "{kind:?}");
        assert!(
            ends.len() > 10 && ends.iter().all(|(end, edge)| end % edge == 0),
            "{kind:?}: {ends:?}"
        );
    }
}
