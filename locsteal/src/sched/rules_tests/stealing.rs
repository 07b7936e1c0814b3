//! R7: how much a thief takes, from which end, and where it puts what it does not run at once.

use super::*;

/// A thief that is done with its own block, and a victim at work on its own.
fn thief_and_victim(rig: &Rig, thief: usize, victim: usize) -> (Walk, Walk) {
    let mut thief = rig.caller(thief);
    let victim = rig.owner(victim);
    rig.run_own(&mut thief);
    (thief, victim)
}

#[test]
fn a_thief_takes_a_quarter_from_the_back_and_at_least_the_grain() {
    for grain in [1, 2, 5, 16] {
        for left in 1..=100 {
            let rig = Rig { grain, ..Rig::new(machine(2, 2, 2), 100) };
            let (mut thief, _victim) = thief_and_victim(&rig, 0, 1);
            rig.put(1, 100..100 + left);
            let first = rig.run(&mut thief);
            let taken = (left / 4).max(grain).min(left);
            let rest = rig.left_at(0);
            assert_eq!(first.start, u64::from(100 + left - taken), "{left} left, grain {grain}");
            assert_eq!(first.end + rest.clone().count() as u64, u64::from(100 + left));
            assert_eq!(rig.left_at(1).count() as u32, left - taken);
            assert!(rest.is_empty() || rest.start == first.end, "it goes on from the front");
        }
    }
}

#[test]
fn what_a_thief_does_not_run_at_once_stands_at_its_seat_for_others() {
    let rig = Rig::new(machine(3, 3, 3), 1024);
    let (mut thief, _victim) = thief_and_victim(&rig, 0, 1);
    let first = rig.run(&mut thief);
    let rest = rig.left_at(0);
    assert!(rest.start == first.end && rest.end == rig.block(1).end && rest.count() > 100);
    rig.put(1, 0..0);
    let mut other = rig.owner(2);
    rig.run_own(&mut other);
    let second = rig.run(&mut other);
    assert_eq!(
        rig.left_at(2).end.max(second.end),
        rig.block(1).end,
        "from the back of the thief's"
    );
    assert_eq!(rig.run(&mut thief).start, first.end, "the thief goes on with its remainder");
}

#[test]
fn what_a_rescuer_does_not_run_at_once_stays_in_the_rescued_block() {
    let rig = Rig { launched: 0, ..Rig::new(machine(3, 3, 3), 1024) };
    let mut caller = rig.caller(0);
    let mut other = rig.owner(2);
    rig.run_own(&mut caller);
    rig.run_own(&mut other);
    let first = rig.run(&mut caller);
    assert_eq!(rig.left_at(0), 0..0, "not at the rescuer's seat");
    assert_eq!(rig.left_at(1), first.end..rig.block(1).end);
    assert_eq!(rig.run(&mut caller).start, first.end, "which the rescuer works on");
    let steals = |walk: &mut Walk| walk.take_tally().steals.total();
    assert_eq!(steals(&mut caller), 0, "without stealing");
    rig.run(&mut other);
    assert_eq!(steals(&mut other), 1, "while others steal from it");
}

#[test]
fn a_rescuer_returns_to_its_own_seat_when_the_rescued_block_is_used_up() {
    let rig = Rig { launched: 0, ..Rig::new(machine(2, 2, 2), 64) };
    let mut caller = rig.caller(0);
    rig.run_own(&mut caller);
    rig.run(&mut caller);
    rig.put(1, 0..0);
    rig.put(0, 100..102);
    assert_eq!(rig.run(&mut caller).start, 100);
}

#[test]
fn chunks_of_a_block_grow_from_a_thirty_second_and_shrink_to_the_grain() {
    let rig = Rig::new(machine(1, 1, 1), 4096);
    let mut caller = rig.caller(0);
    let mut sizes = Vec::new();
    while let Step::Run(chunk) = rig.step(&mut caller) {
        sizes.push(chunk.count());
    }
    assert_eq!(sizes[..3], [128, 256, 512]);
    let top = sizes.iter().position(|size| size == sizes.iter().max().unwrap()).unwrap();
    assert!(sizes[..=top].is_sorted() && sizes[top..].is_sorted_by(|a, b| a >= b), "{sizes:?}");
    assert!(sizes[top] <= 2048 && sizes.ends_with(&[1]));
    assert_eq!(sizes.iter().sum::<usize>(), 4096);
}

/// The sizes of the chunks of a block whose iterations take next to nothing.
fn chunks_of_nothing(block: u64) -> Vec<usize> {
    let rig = Rig::new(machine(1, 1, 1), block);
    let mut caller = rig.caller(0);
    let mut sizes = Vec::new();
    while let Step::Run(chunk) = rig.step(&mut caller) {
        sizes.push(chunk.count());
        rig.at(sizes.len() as u64);
    }
    sizes
}

#[test]
fn what_takes_next_to_nothing_is_not_cut_any_more() {
    assert_eq!(chunks_of_nothing(1024), [32, 992]);
}

#[test]
fn a_few_empty_iterations_foretell_nothing() {
    assert_eq!(chunks_of_nothing(8), [1, 2, 2, 1, 1, 1]);
}
