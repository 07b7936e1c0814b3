//! What a thief leaves to a block's owner, since it could only be in its way.

use super::*;

/// Two nodes of two caches of two seats; in one cache it must take 100 to be worth moving.
fn rig() -> Rig {
    Rig { patience: 12_800, ..Rig::new(machine(8, 2, 4), 1024) }
}

/// Whether a caller at seat 0, which has needed so much for each of its 1,024 iterations, steals from a victim whose
/// owner has done so many of its own, and has so many left. All others are gone.
fn steals(rig: &Rig, cost: impl Fn(u64) -> u64, victim: usize, done: u32, left: u32) -> bool {
    let mut caller = rig.caller(0);
    for seat in 1..8 {
        let owner = rig.owner(seat);
        rig.put(seat, 0..0);
        if seat != victim {
            rig.leave(&owner);
        }
    }
    let Range { start, end } = rig.block(0);
    let (mut next, mut after) = (start, 0);
    while next < end {
        let chunk = rig.run(&mut caller);
        next = chunk.end;
        after += chunk.map(|i| cost(i - start)).sum::<u64>();
        rig.at(after);
    }
    let start = rig.deal.block(victim).lo + done;
    rig.put(victim, start..start + left);
    matches!(rig.step(&mut caller), Step::Run(_))
}

#[test]
fn the_farther_away_the_more_must_be_left() {
    for (victim, worth) in [(1, 100), (2, 200), (4, 400)] {
        for left in [1, 50, 99, 100, 199, 200, 399, 400, 512] {
            // The owner has needed 4 for each of its own.
            let stolen = steals(&rig(), |_| 2, victim, 512, left / 4);
            let time = left / 4 * 4;
            assert_eq!(stolen, time >= worth, "{time} left at seat {victim}");
        }
    }
}

#[test]
fn where_distance_does_not_matter_all_victims_are_near() {
    for victim in [1, 2, 4] {
        let flat = || Rig { locality: Locality::Flat, ..rig() };
        assert!(!steals(&flat(), |_| 1, victim, 1000, 24));
        assert!(steals(&flat(), |_| 1, victim, 800, 224), "seat {victim}");
    }
}

#[test]
fn little_is_stolen_from_an_owner_that_is_slow() {
    // At the thief's pace these take 20; the owner, which has done no more than 8 in all the time, needs 2,560.
    assert!(steals(&rig(), |_| 1, 4, 8, 20));
}

#[test]
fn little_is_stolen_by_a_thief_that_was_slow_of_late() {
    let slow_end = |i| if i < 1000 { 1 } else { 20 };
    assert!(steals(&rig(), slow_end, 1, 1000, 20));
    assert!(!steals(&rig(), |_| 1, 1, 1000, 20));
}

#[test]
fn what_a_thief_put_at_a_seat_is_not_left_to_it() {
    let rig = rig();
    let mut caller = rig.caller(0);
    let _thief = rig.owner(1);
    rig.run_own(&mut caller);
    rig.at(1024);
    rig.put(1, 5000..5010);
    assert_eq!(rig.home(&rig.run(&mut caller)), 3);
}

#[test]
fn while_no_time_is_known_everything_is_worth_stealing() {
    assert!(steals(&Rig { launched: 0, ..rig() }, |_| 0, 4, 1000, 1));
}

#[test]
fn few_units_that_took_little_foretell_nothing() {
    for done in [1, 7, 8, 12] {
        let rig = Rig { patience: 12_800, ..Rig::new(machine(8, 2, 4), 16) };
        assert_eq!(steals(&rig, |_| 1, 1, done, 4), done < 8, "{done} done");
    }
}
