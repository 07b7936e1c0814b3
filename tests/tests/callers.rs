//! Who may launch, when, and holding what: nested, concurrent, under locks; nothing may hang.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::thread;

use locsteal::{Pool, Schedule};

const SCHEDULES: [Schedule; 4] =
    [Schedule::Static, Schedule::Steal, Schedule::Dynamic, Schedule::DynamicChunk(1)];

/// 100,000 launches of tiny loops from eight threads at once.
#[test]
fn many_callers_of_tiny_loops() {
    let pool = Pool::builder().threads(4).build().unwrap();
    thread::scope(|scope| {
        for caller in 0..8_u64 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..12_500_u64 {
                    let sum = AtomicU64::new(0);
                    let schedule = SCHEDULES[(round % 4) as usize];
                    let len = round % 6;
                    locsteal::range(0..len).pool(pool).schedule(schedule).for_each(|i| {
                        sum.fetch_add(caller + i, Relaxed);
                    });
                    let expected = len * caller + len * len.saturating_sub(1) / 2;
                    assert_eq!(sum.into_inner(), expected);
                }
            });
        }
    });
}

/// Three loops deep, from eight threads at once.
#[test]
fn nested_three_deep() {
    let pool = Pool::builder().threads(4).build().unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for schedule in SCHEDULES.repeat(10) {
                    let count = AtomicU64::new(0);
                    let each = |len: u64| locsteal::range(0..len).pool(&pool).schedule(schedule);
                    each(5).for_each(|_| {
                        each(4).for_each(|_| {
                            each(3).for_each(|_| {
                                count.fetch_add(1, Relaxed);
                            });
                        });
                    });
                    assert_eq!(count.into_inner(), 60);
                }
            });
        }
    });
}

/// More loops at once than a pool has lanes for.
#[test]
fn deeper_than_there_are_lanes() {
    fn descend(pool: &Pool, depth: u64, count: &AtomicU64) {
        if depth == 0 {
            count.fetch_add(1, Relaxed);
            return;
        }
        locsteal::range(0..2_u64).pool(pool).for_each(|i| {
            if i == 0 {
                descend(pool, depth - 1, count);
            }
        });
    }
    let pool = Pool::builder().threads(2).build().unwrap();
    let count = AtomicU64::new(0);
    descend(&pool, 60, &count);
    assert_eq!(count.into_inner(), 1);
}

/// A waiting participant runs nothing that does not belong to its loop, so it never meets a lock that it holds.
#[test]
fn a_lock_held_across_an_inner_loop() {
    let pool = Pool::builder().threads(4).build().unwrap();
    let lock = Mutex::new(0_u64);
    for _ in 0..1000 {
        locsteal::range(0..4).pool(&pool).for_each(|_| {
            let mut held = lock.lock().unwrap();
            let inner = AtomicU64::new(0);
            locsteal::range(0..8_u64).pool(&pool).for_each(|i| {
                inner.fetch_add(i, Relaxed);
            });
            *held += inner.into_inner();
        });
    }
    assert_eq!(lock.into_inner().unwrap(), 1000 * 4 * 28);
}

#[test]
fn a_loop_inside_lazy_initialisation() {
    let pool = Pool::builder().threads(4).build().unwrap();
    for _ in 0..200 {
        let once = OnceLock::new();
        locsteal::range(0..8).pool(&pool).for_each(|_| {
            let sum = once.get_or_init(|| {
                let sum = AtomicU64::new(0);
                locsteal::range(0..100_u64).pool(&pool).for_each(|i| {
                    sum.fetch_add(i, Relaxed);
                });
                sum.into_inner()
            });
            assert_eq!(*sum, 4950);
        });
    }
}

/// Loops of one pool inside loops of another, both ways.
#[test]
fn pools_within_pools() {
    let (a, b) =
        (Pool::builder().threads(3).build().unwrap(), Pool::builder().threads(2).build().unwrap());
    let count = AtomicU64::new(0);
    thread::scope(|scope| {
        for (outer, inner) in [(&a, &b), (&b, &a)] {
            let count = &count;
            scope.spawn(move || {
                for _ in 0..100 {
                    locsteal::range(0..6).pool(outer).for_each(|_| {
                        locsteal::range(0..6).pool(inner).for_each(|_| {
                            count.fetch_add(1, Relaxed);
                        });
                    });
                }
            });
        }
    });
    assert_eq!(count.into_inner(), 2 * 100 * 36);
}

#[test]
fn empty_and_tiny_loops_by_turns() {
    let pool = Pool::builder().threads(4).build().unwrap();
    let count = AtomicU64::new(0);
    #[expect(clippy::reversed_empty_ranges, reason = "an empty range is what is tested")]
    for _ in 0..10_000 {
        let each = |range: std::ops::Range<i32>| {
            locsteal::range(range).pool(&pool).for_each(|_| {
                count.fetch_add(1, Relaxed);
            });
        };
        each(0..0);
        each(7..3);
        each(0..3);
    }
    assert_eq!(count.into_inner(), 30_000);
}

#[test]
fn a_triangular_nest_with_its_empty_last_row() {
    let pool = Pool::builder().threads(3).build().unwrap();
    for n in [0_u64, 1, 2, 10] {
        let pairs = AtomicU64::new(0);
        for k in 0..n {
            locsteal::range(k + 1..n).pool(&pool).for_each(|_| {
                pairs.fetch_add(1, Relaxed);
            });
        }
        assert_eq!(pairs.into_inner(), n * n.saturating_sub(1) / 2);
    }
}

/// More seats than CPUs, many times over.
#[test]
fn sixty_five_seats() {
    let pool = Pool::builder().threads(65).build().unwrap();
    assert_eq!(pool.threads(), 65);
    for schedule in SCHEDULES {
        let sum = AtomicU64::new(0);
        locsteal::range(0..10_000_u64).pool(&pool).schedule(schedule).for_each(|i| {
            sum.fetch_add(i, Relaxed);
        });
        assert_eq!(sum.into_inner(), 49_995_000);
    }
}
