//! How single operations scatter: what a median hides.

use std::time::Duration;

use super::batch::warm;
use super::protocol::Spread;
use super::usage;
use crate::lines::{Pace, Timed};

/// Shares of the operations that took at most the time beside it.
pub(crate) const SHARES: [f64; 7] = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0];

/// Times `count` operations one by one.
pub(super) fn measure(
    timed: &mut dyn Timed,
    pace: Pace,
    warm_up: Duration,
    count: usize,
) -> Spread {
    warm(timed, pace, warm_up);
    let before = usage::own();
    let mut times: Vec<f64> =
        (0..count.max(1)).map(|_| timed.sample(1, pace).as_nanos() as f64).collect();
    let after = usage::own();
    times.sort_by(f64::total_cmp);
    let per_operation = 1.0 / times.len() as f64;
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    Spread {
        ns: SHARES.map(at),
        cpu_ns: after.cpu.saturating_sub(before.cpu).as_nanos() as f64 * per_operation,
        sleeps: (after.sleeps - before.sleeps) as f64 * per_operation,
        preemptions: (after.preemptions - before.preemptions) as f64 * per_operation,
    }
}
