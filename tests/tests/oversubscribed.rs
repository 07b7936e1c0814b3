//! Loops on 64 seats, whatever the machine has: far more workers than CPUs, most of which come late or never.
//! `cargo measure crowd` tells what that costs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread;

use locsteal::{Pool, Schedule};

const SEATS: usize = 64;

static POOL: LazyLock<Pool> =
    LazyLock::new(|| Pool::builder().threads(SEATS).name("crowd").build().unwrap());

const SCHEDULES: [Schedule; 6] = [
    Schedule::Auto,
    Schedule::Static,
    Schedule::StaticChunk(7),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(3),
];

/// Takes about `units` times ten nanoseconds.
fn work(units: usize) -> u64 {
    (0..units as u64).fold(1, |x, i| std::hint::black_box(x ^ (x << 7)).wrapping_add(i))
}

/// How much an iteration has to do, given the loop's length.
type Cost = fn(usize, usize) -> usize;

/// Loops whose iterations are alike, whose first ones take nearly everything, and whose cost grows.
const SHAPES: [(&str, Cost); 3] = [
    ("even", |_, _| 4),
    ("hot front", |i, len| if i < len / 64 { 400 } else { 1 }),
    ("triangular", |i, len| i * 16 / len.max(1)),
];

#[test]
fn every_iteration_once_under_every_schedule_even_or_not() {
    for schedule in SCHEDULES {
        for (shape, units) in SHAPES {
            for len in [1, 2, 63, 64, 65, 1_000, 20_000] {
                let counts: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
                locsteal::range(0..len).pool(&POOL).schedule(schedule).for_each(|i| {
                    std::hint::black_box(work(units(i, len)));
                    counts[i].fetch_add(1, Relaxed);
                });
                for (i, count) in counts.iter().enumerate() {
                    let count = count.load(Relaxed);
                    assert_eq!(count, 1, "{schedule:?}, {shape}: iteration {i} of {len}");
                }
            }
        }
    }
}

#[test]
fn reductions_are_right_and_reproducible_ones_the_same_as_on_two_seats() {
    let two = Pool::builder().threads(2).build().unwrap();
    for schedule in SCHEDULES {
        for len in [1u64, 64, 10_007] {
            let sum = AtomicU64::new(0);
            locsteal::range(0..len).pool(&POOL).schedule(schedule).for_each(|i| {
                sum.fetch_add(i, Relaxed);
            });
            assert_eq!(sum.into_inner(), len * (len - 1) / 2, "{schedule:?}");
            let total = |pool: &Pool| sum_of_roots(pool, schedule, len);
            assert_eq!(total(&POOL).to_bits(), total(&two).to_bits(), "{schedule:?}, {len}");
        }
    }
}

#[locsteal::par_for(pool = pool, schedule = (schedule), reduce(reproducible, +: sum))]
fn sum_of_roots(pool: &Pool, schedule: Schedule, len: u64) -> f64 {
    let mut sum = 0.0;
    for i in 0..len {
        sum += (i as f64).sqrt();
    }
    sum
}

#[test]
fn a_loop_in_a_loop_and_several_callers_at_once() {
    let ran = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                locsteal::range(0..8).pool(&POOL).for_each(|_| {
                    locsteal::range(0..500).pool(&POOL).schedule(Schedule::Steal).for_each(|_| {
                        ran.fetch_add(1, Relaxed);
                    });
                });
            });
        }
    });
    assert_eq!(ran.into_inner(), 4 * 8 * 500);
}

#[test]
fn a_panic_comes_through_and_the_pool_is_as_good_as_new() {
    for schedule in SCHEDULES {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            locsteal::range(0..10_000).pool(&POOL).schedule(schedule).for_each(|i| {
                assert_ne!(i, 7_777, "on purpose");
            });
        }));
        let payload = panicked.expect_err("the panic comes to the caller");
        let text = payload.downcast_ref::<String>().expect("a message");
        assert!(text.contains("on purpose"), "{text}");
        let ran = AtomicU64::new(0);
        locsteal::range(0..10_000).pool(&POOL).schedule(schedule).for_each(|_| {
            ran.fetch_add(1, Relaxed);
        });
        assert_eq!(ran.into_inner(), 10_000, "{schedule:?}");
    }
}

/// While one long iteration runs, who has found nothing leaves and does not come back: the loop has as many visits as seats at
/// most, and no thief goes on looking.
#[test]
fn who_finds_nothing_beside_a_long_iteration_leaves_for_good() {
    // One of its own, as its visits are counted.
    let pool = Pool::builder().threads(SEATS).build().unwrap();
    let others = AtomicU64::new(0);
    let len = 64 * SEATS;
    locsteal::range(0..len).pool(&pool).schedule(Schedule::Steal).grain(1).for_each(|i| {
        if i == 0 {
            // Until all that can be run elsewhere has been, and a good while longer.
            while others.load(Relaxed) < 3 * (len as u64) / 4 {
                thread::yield_now();
            }
            std::hint::black_box(work(200_000));
        } else {
            others.fetch_add(1, Relaxed);
        }
    });
    let stats = pool.stats();
    assert_eq!((stats.loops, stats.iterations), (1, len as u64));
    assert!(stats.joins < SEATS as u64, "{} visits", stats.joins);
}
