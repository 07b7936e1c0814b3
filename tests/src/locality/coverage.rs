//! Each iteration once, on real threads, in every schedule and locality, at every width.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use locsteal::{Layout, Locality, Pool, Schedule};

use super::Setting;
use super::kernel::current_cpu;

const SCHEDULES: [Schedule; 8] = [
    Schedule::Auto,
    Schedule::Static,
    Schedule::StaticChunk(3),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::DynamicChunk(5),
    Schedule::Serial,
];

/// Every width, placed by default.
pub(super) fn check(setting: &Setting) -> usize {
    let allowed = &setting.machine.allowed;
    let mut cases = 0;
    for width in 1..=allowed.len() {
        let pool = Pool::builder().threads(width).layout(Layout::Spread).build().expect("a pool");
        for locality in [Locality::Llc, Locality::Node, Locality::Flat] {
            for len in [width - 1, width, 3 * width + 1, 40 * width + 7] {
                cases += each_once(&pool, locality, len, |cpu| {
                    assert!(allowed.contains(&cpu), "ran on CPU {cpu}");
                });
            }
        }
    }
    cases
}

/// Loops of this length in every schedule; each participant says on which CPU it runs.
pub(super) fn each_once(
    pool: &Pool,
    locality: Locality,
    len: usize,
    runs_on: impl Fn(usize) + Sync,
) -> usize {
    for schedule in SCHEDULES {
        let counts: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
        let each = locsteal::range(0..len).pool(pool).schedule(schedule);
        each.locality(locality).for_each_chunk(|chunk| {
            runs_on(current_cpu());
            for count in &counts[chunk] {
                count.fetch_add(1, Relaxed);
            }
        });
        let wrong = counts.iter().position(|count| count.load(Relaxed) != 1);
        let seats = pool.threads();
        assert_eq!(wrong, None, "{schedule:?}, {locality:?}, {len} iterations, {seats} seats");
    }
    SCHEDULES.len()
}
