//! Panics in bodies: they reach the caller, stop the loop soon, and leave the pool as good as new.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, Mutex};
use std::thread;

use locsteal::{ParallelSource, Pool, Schedule, par_for};

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

/// Panics when dropped, unless a panic drops it.
struct Fuse(&'static str);

impl Drop for Fuse {
    fn drop(&mut self) {
        if !thread::panicking() {
            fail(self.0);
        }
    }
}

/// Panics whenever it is dropped, and counts.
struct Grenade<'a>(&'a AtomicU64);

impl Drop for Grenade<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        fail("grenade");
    }
}

/// What the loop panics with.
fn panic_of<T>(run: impl FnOnce() -> T) -> &'static str {
    let caught = catch_unwind(AssertUnwindSafe(|| std::mem::forget(run())));
    *caught.expect_err("the loop panics").downcast::<&str>().unwrap()
}

/// Three iterations, each on a thread of its own if they wait for each other.
fn three(pool: &Pool) -> locsteal::Loop<'_, impl ParallelSource<Item = usize> + Sync> {
    locsteal::range(0..3_usize).pool(pool).schedule(Schedule::DynamicChunk(1))
}

#[test]
fn what_ends_after_the_iterations_is_later_than_they() {
    let pool = Pool::builder().threads(3).build().unwrap();
    for bad in 0..3 {
        let barrier = Barrier::new(3);
        let body = |i| {
            barrier.wait();
            if i == bad {
                fail("body");
            }
        };
        // The two others' states are dropped when they have nothing more to do.
        let said = panic_of(|| {
            three(&pool).for_each_local(|| Fuse("state"), |_, i| body(i));
        });
        assert_eq!(said, "body");
        // What they have made is joined then.
        let said = panic_of(|| {
            three(&pool).fold_reduce(|| (), |(), i| body(i), |(), ()| fail("combine"));
        });
        assert_eq!(said, "body");
        // One of the two is left to the caller, who drops it.
        let said = panic_of(|| {
            let merge = |mine: &mut Fuse, other| {
                std::mem::forget(std::mem::replace(mine, other));
            };
            three(&pool).fold_reduce(|| Fuse("sum"), |_, i| body(i), merge)
        });
        assert_eq!(said, "body");
    }
    assert_eq!(all_come(&pool, 3), 3);
}

#[par_for]
fn leaves_with_a_state(pool: &Pool, schedule: Schedule) -> Option<usize> {
    #[par_for(pool = pool, schedule = (schedule), local(state = Fuse("state")))]
    for i in 0..100_usize {
        let _used = &state;
        if i >= 20 {
            return Some(i);
        }
    }
    None
}

#[test]
fn a_state_whose_drop_panics_counts_also_where_the_loop_is_left() {
    for threads in [1, 3] {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for schedule in [Schedule::Static, Schedule::Steal, Schedule::DynamicChunk(3)] {
            assert_eq!(panic_of(|| leaves_with_a_state(&pool, schedule)), "state");
        }
        assert_eq!(all_come(&pool, threads), threads);
    }
}

#[test]
fn states_that_cannot_be_made_dropped_or_joined_stop_the_loop() {
    for threads in [1, 3] {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for schedule in
            [Schedule::Serial, Schedule::Static, Schedule::Steal, Schedule::DynamicChunk(3)]
        {
            for reproducible in [false, true] {
                let begin = || {
                    let begun = locsteal::range(0..500_usize).pool(&pool).schedule(schedule);
                    if reproducible { begun.reproducible() } else { begun }
                };
                let dropped = || begin().for_each_local(|| Fuse("state"), |_, _| {});
                assert_eq!(panic_of(dropped), "state");
                let made = || begin().for_each_local(|| fail::<&str>("init"), |(), _| {});
                assert_eq!(panic_of(made), "init");
                let made = || begin().fold_reduce(|| fail("identity"), |(), _| {}, |(), ()| {});
                assert_eq!(panic_of(made), "identity");
                if reproducible {
                    let joined =
                        || begin().fold_reduce(|| (), |(), _| {}, |(), ()| fail("combine"));
                    assert_eq!(panic_of(joined), "combine");
                }
            }
        }
        assert_eq!(all_come(&pool, threads), threads);
    }
}

#[test]
fn what_a_panic_leaves_behind_may_panic_when_it_is_dropped() {
    for threads in [1, 3] {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for schedule in [Schedule::Serial, Schedule::Steal, Schedule::DynamicChunk(3)] {
            let drops = AtomicU64::new(0);
            // Items: the rest of the chunk, and those of chunks that were not taken.
            let items: Vec<_> = (0..100).map(|_| Grenade(&drops)).collect();
            let taken = AtomicU64::new(0);
            let said = panic_of(|| {
                locsteal::source(items).pool(&pool).schedule(schedule).for_each(|item| {
                    std::mem::forget(item);
                    if taken.fetch_add(1, SeqCst) == 5 {
                        fail("body");
                    }
                });
            });
            assert_eq!(said, "body");
            assert_eq!(drops.swap(0, SeqCst) + taken.into_inner(), 100);
            // Values that were made before.
            let made = AtomicU64::new(0);
            let said = panic_of(|| {
                let begun = locsteal::range(0..100).pool(&pool).schedule(schedule);
                begun.collect_vec(|_| {
                    if made.fetch_add(1, SeqCst) == 20 {
                        fail("body");
                    }
                    Grenade(&drops)
                })
            });
            assert_eq!(said, "body");
            assert_eq!(drops.swap(0, SeqCst) + 1, made.into_inner());
            // A listener.
            let said = panic_of(|| {
                let listener = Grenade(&drops);
                locsteal::range(0..100)
                    .pool(&pool)
                    .schedule(schedule)
                    .progress(move |_| {
                        let _held = &listener;
                    })
                    .for_each(|_| fail("body"));
            });
            assert_eq!(said, "body");
            assert_eq!(drops.into_inner(), 1);
        }
        assert_eq!(all_come(&pool, threads), threads);
    }
}

#[test]
fn values_of_a_loop_that_was_left_are_all_dropped_whatever_their_drops_do() {
    let pool = Pool::builder().threads(3).build().unwrap();
    for schedule in [Schedule::Serial, Schedule::Steal, Schedule::DynamicChunk(3)] {
        let (made, drops) = (AtomicU64::new(0), AtomicU64::new(0));
        let said = panic_of(|| {
            locsteal::range(0..200).pool(&pool).schedule(schedule).try_collect_vec(|i| {
                if i == 100 {
                    return None;
                }
                made.fetch_add(1, SeqCst);
                Some(Grenade(&drops))
            })
        });
        assert_eq!(said, "grenade");
        assert_eq!(drops.into_inner(), made.into_inner());
    }
    assert_eq!(all_come(&pool, 3), 3);
}
