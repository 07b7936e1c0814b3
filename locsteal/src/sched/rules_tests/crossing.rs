//! R9, when a thief looks at other nodes, and R10, when a participant leaves.

use super::*;

#[test]
fn other_nodes_are_looked_at_only_after_a_local_pass_that_found_nothing() {
    let rig = Rig::new(machine(8, 2, 4), 64);
    let mut thief = rig.caller(1);
    let _busy: Vec<Walk> = [0, 2, 3, 4, 5, 6, 7].map(|seat| rig.owner(seat)).into();
    let mut crossed = false;
    while let Step::Run(chunk) = rig.step(&mut thief) {
        let left = [0, 1, 2, 3].iter().any(|&seat| !rig.left_at(seat).is_empty());
        if rig.home(&chunk) < 4 {
            assert!(!crossed, "its node had nothing left");
            assert_eq!(thief.take_tally().remote_passes, 0);
        } else {
            crossed = true;
            // What it took from afar may stand at its own seat.
            assert!(!left || !rig.left_at(1).is_empty());
        }
    }
    assert!(crossed && thief.take_tally().remote_passes > 0);
}

#[test]
fn what_came_from_another_node_is_used_up_before_the_next_look() {
    let rig = Rig::new(machine(4, 2, 2), 1024);
    let mut thief = rig.caller(1);
    let _busy = [2, 3].map(|seat| rig.owner(seat));
    let _mate = rig.owner(0);
    rig.run_own(&mut thief);
    rig.put(0, 0..0);
    let first = rig.run(&mut thief);
    assert_eq!(rig.home(&first), 3);
    // Now that it has something, work turns up next to it.
    let block = rig.deal.block(0);
    rig.put(0, block.lo..block.lo + 100);
    let mut next = first.end;
    while !rig.left_at(1).is_empty() {
        let chunk = rig.run(&mut thief);
        assert_eq!(chunk.start, next);
        next = chunk.end;
    }
    assert_eq!(next, rig.block(3).end);
    assert_eq!(rig.home(&rig.run(&mut thief)), 0, "then it is back home");
    let tally = thief.take_tally();
    assert_eq!((tally.steals.remote, tally.steals.llc, tally.remote_passes), (1, 1, 1));
}

#[test]
fn a_node_shares_what_one_of_its_seats_brought_from_another() {
    let rig = Rig::new(machine(6, 3, 3), 4096);
    let mut first = rig.caller(0);
    let mut second = rig.owner(1);
    let mut third = rig.owner(2);
    let _busy: Vec<Walk> = (3..6).map(|seat| rig.owner(seat)).collect();
    for walk in [&mut first, &mut second, &mut third] {
        rig.run_own(walk);
    }
    rig.run(&mut second);
    for walk in [&mut third, &mut first] {
        let chunk = rig.run(walk);
        assert!(rig.home(&chunk) >= 3);
        let tally = walk.take_tally();
        assert_eq!((tally.steals.llc, tally.steals.remote), (1, 0), "seat {}", walk.seat());
    }
}

#[test]
fn wherever_the_only_work_is_every_thief_finds_it() {
    for locality in [Locality::Llc, Locality::Node, Locality::Flat] {
        for seats in [machine(8, 2, 4), machine(8, 1, 2), (Orders::cyclic(), 8)] {
            for width in 2..=8 {
                for (thief, victim) in (0..width * width).map(|pair| (pair / width, pair % width)) {
                    if thief == victim {
                        continue;
                    }
                    let rig = Rig { locality, ..Rig::new(seats.clone(), 4).width(width) };
                    let mut caller = rig.caller(thief);
                    rig.run_own(&mut caller);
                    for seat in (0..width).filter(|&seat| seat != thief) {
                        let walk = rig.owner(seat);
                        if seat != victim {
                            rig.put(seat, 0..0);
                            rig.leave(&walk);
                        }
                    }
                    assert_eq!(rig.home(&rig.run(&mut caller)), victim);
                    rig.put(thief, 0..0);
                    rig.put(victim, 0..0);
                    assert_eq!(rig.step(&mut caller), Step::Wait(Some(victim)));
                }
            }
        }
    }
}

#[test]
fn a_worker_stays_while_a_block_anywhere_may_still_need_it() {
    for (seat, far) in [(0, 3), (2, 0)] {
        let rig = Rig::new(machine(4, 2, 2), 4);
        let _caller = rig.caller(1);
        let mut worker = rig.owner(seat);
        for other in (0..4).filter(|&other| other != far) {
            if other != seat && other != 1 {
                rig.leave(&rig.owner(other));
            }
            rig.put(other, 0..0);
        }
        rig.run(&mut worker);
        rig.at(10);
        assert_eq!(rig.step(&mut worker), Step::Wait(None), "a protected block");
        assert_eq!(rig.try_enter(far), Entry::Owner);
        rig.at(1_000_000);
        assert_eq!(rig.step(&mut worker), Step::Wait(None), "its owner is laying it out");
        let owner = Walk::owner(far, &rig.view());
        rig.put(far, 0..0);
        assert_eq!(rig.step(&mut worker), Step::Leave, "and has nothing left");
        rig.leave(&owner);
    }
}

#[test]
fn the_caller_leaves_last_and_closes_seats_that_nobody_came_to() {
    let rig = Rig { launched: 0, ..Rig::new(machine(4, 2, 2), 1) };
    let mut caller = rig.caller(0);
    let owner = rig.owner(2);
    let ran: usize = std::iter::from_fn(|| match rig.step(&mut caller) {
        Step::Run(chunk) => Some(chunk.count()),
        other => {
            assert_eq!(other, Step::Wait(Some(2)));
            None
        }
    })
    .sum();
    assert_eq!(ran, 3, "all but what the owner holds");
    rig.leave(&owner);
    assert_eq!(rig.step(&mut caller), Step::Leave);
    for seat in 0..4 {
        assert_eq!(rig.try_enter(seat), Entry::Never, "seat {seat}");
    }
}

#[test]
fn the_caller_closes_seats_that_had_nothing_to_begin() {
    for kind in [Kind::Steal, Kind::Static, Kind::StaticChunk(2), Kind::Dynamic] {
        let deal = Deal::new(2, 1, 4);
        let rig = Rig { kind, deal, launched: 0, ..Rig::new(machine(4, 2, 2), 4) };
        let mut caller = rig.caller(1);
        while let Step::Run(_) = rig.step(&mut caller) {}
        assert_eq!(rig.step(&mut caller), Step::Leave, "{kind:?}");
        for seat in 0..4 {
            assert_eq!(rig.try_enter(seat), Entry::Never, "{kind:?}, seat {seat}");
        }
    }
}

/// A caller that is done asks a few times whether the others are, before it takes their lines away.
#[test]
fn the_caller_is_patient_before_it_looks_at_others() {
    for kind in [Kind::Static, Kind::Steal] {
        let rig = Rig { kind, grace: 2, launched: 0, ..Rig::new(machine(2, 2, 2), 1) };
        let mut caller = rig.caller(0);
        rig.run(&mut caller);
        assert_eq!(rig.step(&mut caller), Step::Pause(1), "{kind:?}");
        assert_eq!(rig.step(&mut caller), Step::Pause(1), "{kind:?}");
        assert_eq!(rig.run(&mut caller), 0..1, "then it runs what nobody has begun, {kind:?}");

        let rig = Rig { kind, grace: 2, launched: 0, ..Rig::new(machine(2, 2, 2), 1) };
        let mut caller = rig.caller(0);
        rig.run(&mut caller);
        let mut owner = rig.owner(1);
        rig.run(&mut owner);
        assert_eq!(rig.step(&mut caller), Step::Pause(1), "{kind:?}");
        rig.leave(&owner);
        assert_eq!(rig.step(&mut caller), Step::Leave, "at once, {kind:?}");
    }
}
