//! What can be said before a loop begins, and what each participant gets: threads, states and chunks.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread;

use locsteal::{Locality, Schedule};

use crate::{SCHEDULES, Value, message, pool};

#[test]
fn options_can_be_given_in_any_order_and_do_not_change_the_result() {
    let pool = pool();
    let done = AtomicU64::new(0);
    let sum = locsteal::range(0..1000)
        .name("sum")
        .threads(2)
        .progress(|n| done.store(n, SeqCst))
        .grain(10)
        .rev()
        .pool(&pool)
        .locality(Locality::Flat)
        .enumerate()
        .schedule(Schedule::Steal)
        .reproducible()
        .sum(|(position, i)| position * i);
    assert_eq!(sum, (0..1000).rev().enumerate().map(|(position, i)| position * i).sum());
    assert_eq!(done.into_inner(), 1000);
}

#[test]
fn no_more_threads_than_allowed_work_on_a_loop() {
    let pool = pool();
    for schedule in SCHEDULES {
        for threads in [1, 2] {
            let seen = Mutex::new(HashSet::new());
            let begun = locsteal::range(0..500).pool(&pool).schedule(schedule).threads(threads);
            begun.for_each(|_| {
                seen.lock().unwrap().insert(thread::current().id());
            });
            assert!(seen.into_inner().unwrap().len() <= threads);
        }
    }
}

#[test]
fn states_are_made_at_most_once_for_each_participant_and_dropped() {
    let pool = pool();
    for schedule in SCHEDULES {
        for len in [0, 1, 4, 1000] {
            let (made, alive, runs) =
                (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            locsteal::range(0..len).pool(&pool).schedule(schedule).for_each_local(
                || Value::new(made.fetch_add(1, SeqCst), &alive),
                |state, _| {
                    state.0 += 1;
                    runs.fetch_add(1, SeqCst);
                },
            );
            assert_eq!(runs.into_inner(), len);
            assert!(made.into_inner() <= len.min(3));
            assert_eq!(alive.into_inner(), 0);
        }
        let alive = AtomicUsize::new(0);
        for bad_init in [false, true] {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                locsteal::range(0..100).pool(&pool).schedule(schedule).for_each_local(
                    || {
                        assert!(!bad_init, "init");
                        Value::new(0, &alive)
                    },
                    |_, i| assert!(i != 50, "body"),
                );
            }));
            assert_eq!(message(caught), if bad_init { "init" } else { "body" });
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

#[test]
fn chunks_cover_the_loop() {
    let pool = pool();
    let x: Vec<usize> = (0..1000).collect();
    for schedule in SCHEDULES {
        let parts = Mutex::new(Vec::new());
        locsteal::range(10..=1000_u32).pool(&pool).schedule(schedule).for_each_chunk(|chunk| {
            parts.lock().unwrap().extend(chunk);
        });
        let mut parts = parts.into_inner().unwrap();
        parts.sort_unstable();
        assert!(parts.into_iter().eq(10..=1000));
        let mut y = vec![0; 1000];
        locsteal::source(&mut y).zip(&x).pool(&pool).schedule(schedule).for_each_chunk(|chunk| {
            for (y, x) in chunk {
                *y = *x;
            }
        });
        assert_eq!(y, x);
    }
}
