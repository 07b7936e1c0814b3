//! Panics in bodies: they reach the caller, stop the loop soon, and leave the pool as good as new.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, Mutex};
use std::thread;

use locsteal::{Pool, Schedule};

/// Panics without the message of the panic hook.
fn fail<T: Send + 'static>(payload: T) -> ! {
    resume_unwind(Box::new(payload))
}

/// All threads of the pool come to one loop: three iterations that wait for each other.
fn all_come(pool: &Pool, threads: usize) -> usize {
    let seen = Mutex::new(HashSet::new());
    let barrier = Barrier::new(threads);
    locsteal::range(0..threads).pool(pool).schedule(Schedule::DynamicChunk(1)).for_each(|_| {
        seen.lock().unwrap().insert(thread::current().id());
        barrier.wait();
    });
    seen.into_inner().unwrap().len()
}

#[test]
fn exactly_one_participant_panics() {
    let pool = Pool::builder().threads(3).build().unwrap();
    for bad in 0..3 {
        let barrier = Barrier::new(3);
        // Each participant holds one iteration until all have one; then one panics.
        let caught = catch_unwind(AssertUnwindSafe(|| {
            locsteal::range(0..3).pool(&pool).schedule(Schedule::DynamicChunk(1)).for_each(|i| {
                barrier.wait();
                if i == bad {
                    fail(i);
                }
            });
        }));
        assert_eq!(*caught.unwrap_err().downcast::<i32>().unwrap(), bad);
        assert_eq!(all_come(&pool, 3), 3, "all threads are used again");
    }
}

#[test]
fn the_lowest_of_several_panics_is_rethrown() {
    let pool = Pool::builder().threads(3).build().unwrap();
    let barrier = Barrier::new(3);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        locsteal::range(0..3).pool(&pool).schedule(Schedule::DynamicChunk(1)).for_each(|i| {
            barrier.wait();
            fail(i);
        });
    }));
    assert_eq!(*caught.unwrap_err().downcast::<i32>().unwrap(), 0);
}

#[test]
fn few_iterations_are_started_when_all_panic() {
    for threads in [1, 2, 4] {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for schedule in [Schedule::Static, Schedule::Steal, Schedule::DynamicChunk(1)] {
            let started = AtomicU64::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                locsteal::range(0..1_000_000).pool(&pool).schedule(schedule).for_each(|_| {
                    started.fetch_add(1, SeqCst);
                    fail(());
                });
            }));
            assert!(caught.is_err());
            let started = started.into_inner();
            assert!(started <= 2 * threads as u64, "{started} iterations, {threads} threads");
        }
    }
}

#[test]
fn a_huge_loop_with_an_early_panic_ends_at_once() {
    let pool = Pool::builder().threads(4).build().unwrap();
    for schedule in
        [Schedule::Static, Schedule::Steal, Schedule::Dynamic, Schedule::DynamicChunk(7)]
    {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            locsteal::range(0..1_u64 << 40)
                .pool(&pool)
                .schedule(schedule)
                .for_each(|_| fail("early"));
        }));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "early");
    }
    let caught = catch_unwind(AssertUnwindSafe(|| {
        locsteal::range(0..=usize::MAX).pool(&pool).for_each(|_| fail("early"));
    }));
    assert!(caught.is_err());
}

#[test]
fn a_panic_in_an_inner_loop_travels_through_the_outer_one() {
    let pool = Pool::builder().threads(4).build().unwrap();
    for _ in 0..100 {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            locsteal::range(0..8).pool(&pool).for_each(|i| {
                locsteal::range(0..8).pool(&pool).for_each(|j| {
                    if (i, j) == (3, 5) {
                        fail("inner");
                    }
                });
            });
        }));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "inner");
    }
    assert_eq!(all_come(&pool, 4), 4);
}

#[test]
fn payloads_whose_drop_panics() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !thread::panicking() {
                fail("a payload's drop");
            }
        }
    }
    let pool = Pool::builder().threads(4).build().unwrap();
    for _ in 0..20 {
        let barrier = Barrier::new(4);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            locsteal::range(0..4).pool(&pool).schedule(Schedule::DynamicChunk(1)).for_each(|_| {
                barrier.wait();
                fail(Bomb);
            });
        }));
        std::mem::forget(caught.unwrap_err());
    }
    assert_eq!(all_come(&pool, 4), 4);
}
