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
        cases += on_pool(&pool, |cpu| assert!(allowed.contains(&cpu), "ran on CPU {cpu}"));
    }
    cases
}

/// Every schedule and locality on a pool; each participant says where it runs.
///
/// # Panics
///
/// If an iteration does not run exactly once.
pub(super) fn on_pool(pool: &Pool, runs_on: impl Fn(usize) + Sync) -> usize {
    let mut cases = 0;
    let width = pool.threads();
    for schedule in SCHEDULES {
        for locality in [Locality::Llc, Locality::Node, Locality::Flat] {
            for len in [width.saturating_sub(1), width, 3 * width + 1, 40 * width + 7] {
                let counts: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
                let each = locsteal::range(0..len).pool(pool).schedule(schedule);
                each.locality(locality).for_each_chunk(|chunk| {
                    runs_on(current_cpu());
                    for count in &counts[chunk] {
                        count.fetch_add(1, Relaxed);
                    }
                });
                let wrong = counts.iter().position(|count| count.load(Relaxed) != 1);
                assert_eq!(wrong, None, "{schedule:?}, {locality:?}, {len} iterations, {width}");
                cases += 1;
            }
        }
    }
    cases
}
