//! Operations with pauses between them: how long the first one after a pause takes, and what CPU time the pool's threads burn
//! while they wait for it.

use std::time::{Duration, Instant};

use super::protocol::Gapped;
use super::usage;
use crate::lines::{Pace, Timed};
use crate::stats::median;

/// After so many pauses a pool that learns from them has learned.
const LEARNING: u32 = 16;

pub(super) fn measure(timed: &mut dyn Timed, gap: Duration, count: u32) -> Gapped {
    let pace = Pace::Busy(gap);
    for _ in 0..LEARNING {
        timed.sample(1, pace);
    }
    let mut times: Vec<f64> =
        (0..count.max(1)).map(|_| timed.sample(1, pace).as_nanos() as f64).collect();
    // Reading the clocks takes a while, so it is done apart.
    let (mut burnt, mut waited) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..count.max(1) {
        let (start, before) = (Instant::now(), usage::of_other_threads());
        crate::lines::compute(gap);
        let after = usage::of_other_threads();
        waited += start.elapsed();
        burnt += after.saturating_sub(before);
        timed.sample(1, Pace::Hot);
    }
    Gapped { ns: median(&mut times), burnt: burnt.as_secs_f64() / waited.as_secs_f64() }
}
