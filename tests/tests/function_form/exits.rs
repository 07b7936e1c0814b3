//! Loops that are left early.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use locsteal::Schedule;

use crate::{SCHEDULES, Value, pool};

#[test]
fn the_lowest_exit_wins_and_everything_below_has_run() {
    let pool = pool();
    for schedule in SCHEDULES {
        for len in [1_usize, 7, 1000] {
            for exits in [vec![0], vec![6, 3], vec![999, 500, 501], vec![len], (0..len).collect()] {
                let ran: Vec<AtomicUsize> = (0..len).map(|_| AtomicUsize::new(0)).collect();
                let begin = || locsteal::range(0..len).pool(&pool).schedule(schedule);
                let result = begin().try_for_each(|i| {
                    ran[i].fetch_add(1, SeqCst);
                    if exits.contains(&i) { Err(format!("left at {i}")) } else { Ok(()) }
                });
                let lowest = exits.iter().copied().filter(|exit| *exit < len).min();
                assert_eq!(result, lowest.map_or(Ok(()), |exit| Err(format!("left at {exit}"))));
                for (i, ran) in ran.iter().enumerate() {
                    let ran = ran.load(SeqCst);
                    assert!(
                        ran == 1 || (ran == 0 && lowest.is_some_and(|exit| i > exit)),
                        "{i}: {ran}"
                    );
                }
                let flow = begin().try_for_each(|i| {
                    if exits.contains(&i) {
                        ControlFlow::Break(i)
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                assert_eq!(flow, lowest.map_or(ControlFlow::Continue(()), ControlFlow::Break));
                let option = begin().try_for_each(|i| (!exits.contains(&i)).then_some(()));
                assert_eq!(option.is_none(), lowest.is_some());
                assert_eq!(begin().find_first(|i| exits.contains(i)), lowest);
                let mapped = begin().find_map_first(|i| exits.contains(&i).then(|| Box::new(i)));
                assert_eq!(mapped.map(|i| *i), lowest);
                assert_eq!(begin().any(|i| exits.contains(&i)), lowest.is_some());
                assert_eq!(begin().all(|i| !exits.contains(&i)), lowest.is_none());
            }
        }
    }
    assert!(!locsteal::range(0..0).any(|_| true));
    assert!(locsteal::range(0..0).all(|_| false));
}

#[test]
fn a_participant_notices_in_the_middle_of_its_chunk_that_the_loop_was_left() {
    let pool = pool();
    // No block can be run to its end in the time that a thread may have to wait for a CPU.
    let len = 3_000_000_000;
    let (met, started) = (Barrier::new(2), AtomicUsize::new(0));
    let begun = locsteal::range(0..len).pool(&pool).schedule(Schedule::Static);
    let left = begun.try_for_each(|i| {
        started.fetch_add(1, SeqCst);
        if i == 0 || i == len / 3 {
            // Two blocks have begun, each of which is one chunk.
            met.wait();
        }
        thread::yield_now();
        if i == 0 { Err("left") } else { Ok(()) }
    });
    assert_eq!(left, Err("left"));
    assert!(started.into_inner() < len / 3, "a whole block was run");
}

#[test]
fn a_panic_above_an_exit_does_not_count() {
    let pool = pool();
    for schedule in SCHEDULES {
        let result = catch_unwind(AssertUnwindSafe(|| {
            locsteal::range(0..300).pool(&pool).schedule(schedule).try_for_each(|i| match i {
                100 => Err("left"),
                // Only once the loop has been left for certain, so that this is not luck: iteration 100 has run by then.
                200.. => resume_unwind(Box::new(())),
                _ => Ok(()),
            })
        }));
        // Where 200 runs before 100, the panic stops the loop, and 100 may never run.
        if let Ok(result) = result {
            assert_eq!(result, Err("left"));
        }
    }
    let result = locsteal::range(0..300).schedule(Schedule::Serial).try_for_each(|i| match i {
        100 => Err("left"),
        101.. => resume_unwind(Box::new(())),
        _ => Ok(()),
    });
    assert_eq!(result, Err("left"));
}

#[test]
fn what_leaves_the_loop_is_dropped_or_returned_once() {
    let pool = pool();
    let alive = AtomicUsize::new(0);
    for schedule in SCHEDULES {
        let result = locsteal::range(0..200)
            .pool(&pool)
            .schedule(schedule)
            .try_for_each(|i| if i % 10 == 9 { Err(Value::new(i, &alive)) } else { Ok(()) });
        assert_eq!(alive.load(SeqCst), 1);
        assert_eq!(result.unwrap_err().0, 9);
        assert_eq!(alive.load(SeqCst), 0);
    }
}
