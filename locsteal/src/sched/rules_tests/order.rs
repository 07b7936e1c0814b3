//! R8, in which order a thief visits its victims, and R11, from where nearness is judged.

use super::*;

/// The seats whose blocks a thief comes to, in order, while everybody else stays at the first chunk of their own.
fn visited(rig: &Rig, thief: Thief) -> Vec<usize> {
    let mut caller = Walk::caller(thief).seated(&rig.view());
    let width = rig.deal.width();
    let _busy: Vec<Walk> =
        (0..width).filter(|&seat| seat != thief.seat).map(|seat| rig.owner(seat)).collect();
    let mut seats = Vec::new();
    while let Step::Run(chunk) = rig.step(&mut caller) {
        let seat = rig.home(&chunk);
        if seats.last() != Some(&seat) {
            seats.push(seat);
        }
    }
    seats
}

fn from(seat: usize) -> Thief {
    Thief { seat, near: seat }
}

#[test]
fn the_nearest_victims_come_first() {
    // Two nodes of two caches of two seats each.
    let rig = || Rig::new(machine(8, 2, 4), 16);
    assert_eq!(visited(&rig(), from(1)), [1, 0, 2, 3, 5, 6, 7, 4]);
    assert_eq!(visited(&rig(), from(3)), [3, 2, 0, 1, 7, 4, 5, 6]);
    assert_eq!(visited(&rig(), from(6)), [6, 7, 4, 5, 2, 3, 0, 1]);
    let by_node = Rig { locality: Locality::Node, ..rig() };
    assert_eq!(visited(&by_node, from(3)), [3, 0, 1, 2, 7, 4, 5, 6]);
    let flat = Rig { locality: Locality::Flat, ..rig() };
    assert_eq!(visited(&flat, from(3)), [3, 4, 5, 6, 7, 0, 1, 2]);
}

#[test]
fn nearer_nodes_come_before_farther_ones() {
    let rig = Rig::new(machine(8, 2, 2), 16);
    assert_eq!(visited(&rig, from(4)), [4, 5, 6, 7, 2, 3, 0, 1]);
}

#[test]
fn seats_dealt_in_turn_over_nodes_are_sorted_by_node() {
    let homes: Vec<SeatHome> =
        (0..6).map(|seat| SeatHome { domain: Some(seat % 2), node: seat % 2 }).collect();
    let rig = Rig::new((Orders::new(&homes, |_, _| 21), 6), 16);
    assert_eq!(visited(&rig, from(2)), [2, 4, 0, 3, 5, 1]);
}

#[test]
fn thieves_of_one_node_begin_at_different_victims_of_another() {
    let first_remote =
        |thief| visited(&Rig::new(machine(8, 4, 4), 16), from(thief))[4..].first().copied();
    assert_eq!([0, 1, 2, 3].map(first_remote), [4, 5, 6, 7].map(Some));
}

#[test]
fn seats_beyond_the_width_are_skipped() {
    for width in 1..=8 {
        for thief in 0..width {
            let rig = Rig::new(machine(8, 2, 4), 8).width(width);
            let mut seen = visited(&rig, from(thief));
            seen.sort_unstable();
            assert_eq!(seen, (0..width).collect::<Vec<_>>(), "width {width}, thief {thief}");
        }
    }
    let rig = Rig::new(machine(8, 2, 4), 8).width(6);
    assert_eq!(visited(&rig, from(5)), [5, 4, 1, 2, 3, 0]);
}

#[test]
fn nearness_is_that_of_the_one_who_looks() {
    // A caller in the cache of seats 6 and 7, in a loop too narrow for them: it sits at seat 4, next to its own node.
    let rig = || Rig::new(machine(8, 2, 4), 16).width(6);
    assert_eq!(visited(&rig(), Thief { seat: 4, near: 7 }), [4, 5, 3, 0, 1, 2]);
    assert_eq!(visited(&rig(), Thief { seat: 4, near: 4 }), [4, 5, 0, 1, 2, 3]);
    // In a loop of the other node alone, everything is far from it.
    let rig = Rig::new(machine(8, 2, 4), 16).width(2);
    let mut caller = rig.caller_near(0, 6);
    let _busy = rig.owner(1);
    while let Step::Run(_) = rig.step(&mut caller) {}
    let tally = caller.take_tally();
    assert_eq!((tally.steals.llc, tally.moved.llc), (0, 0));
    assert!(tally.steals.remote > 0 && tally.moved.remote > 0);
}

#[test]
fn what_moves_is_counted_by_how_far_it_went() {
    let rig = Rig::new(machine(8, 2, 4), 64);
    let mut caller = rig.caller(0);
    let _busy: Vec<Walk> = (1..8).map(|seat| rig.owner(seat)).collect();
    let mut moved = [0; 8];
    while let Step::Run(chunk) = rig.step(&mut caller) {
        moved[rig.home(&chunk)] += chunk.end - chunk.start;
    }
    let tally = caller.take_tally();
    assert_eq!(tally.iterations, moved.iter().sum());
    assert_eq!(tally.moved.llc, moved[1]);
    assert_eq!(tally.moved.node, moved[2] + moved[3]);
    assert_eq!(tally.moved.remote, moved[4..].iter().sum());
    assert_eq!(tally.moved.unknown, 0);
}
