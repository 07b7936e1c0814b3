//! One batch: warm up, find how many operations make a sample, take samples, give their median.

use std::time::{Duration, Instant};

use super::protocol::Sample;
use super::usage;
use crate::lines::{Pace, Timed};
use crate::stats::median;

/// Fewest samples that a batch takes of operations that fit its budget.
const FEWEST: usize = 3;

pub(super) fn measure(
    timed: &mut dyn Timed,
    pace: Pace,
    warm_up: Duration,
    budget: Duration,
) -> Sample {
    let one = warm(timed, pace, warm_up);
    let count = if pace == Pace::Hot { per_sample(one, timed.shortest_sample()) } else { 1 };
    let before = usage::own();
    let start = Instant::now();
    let mut samples = Vec::new();
    loop {
        let time = timed.sample(count, pace);
        samples.push(time.as_nanos() as f64 / count as f64);
        let used = start.elapsed();
        // An operation longer than the budget is timed once a batch; the number of batches makes up for it.
        if used >= budget && (samples.len() >= FEWEST || time >= budget) {
            break;
        }
    }
    let wall = start.elapsed().as_secs_f64();
    let after = usage::own();
    Sample {
        ns: median(&mut samples),
        cpus: after.cpu.saturating_sub(before.cpu).as_secs_f64() / wall,
        preemptions: after.preemptions - before.preemptions,
    }
}

/// Runs operations for `time`, at least one, in growing lots. Returns the time of one, from the last lot.
pub(super) fn warm(timed: &mut dyn Timed, pace: Pace, time: Duration) -> Duration {
    let start = Instant::now();
    let mut count = 1;
    loop {
        let lot = timed.sample(count, pace);
        if start.elapsed() >= time {
            return lot / count as u32;
        }
        if pace == Pace::Hot && lot < time / 4 {
            count *= 2;
        }
    }
}

fn per_sample(one: Duration, shortest: Duration) -> u64 {
    (shortest.as_nanos() / one.as_nanos().max(1)).clamp(1, 1 << 24) as u64
}

#[cfg(test)]
mod tests {
    use anyhow::Result;

    use super::*;

    /// Operations that take no time but say that they took 100 ns each.
    struct Pretends(Vec<u64>);

    impl Timed for Pretends {
        fn check(&mut self) -> Result<()> {
            Ok(())
        }

        fn sample(&mut self, count: u64, _pace: Pace) -> Duration {
            self.0.push(count);
            Duration::from_nanos(100) * count as u32
        }
    }

    #[test]
    fn a_sample_is_long_beside_the_clock_and_the_median_is_per_operation() {
        let mut timed = Pretends(Vec::new());
        let sample =
            measure(&mut timed, Pace::Hot, Duration::from_micros(10), Duration::from_micros(100));
        assert!((sample.ns - 100.0).abs() < 1e-9);
        assert_eq!(timed.0.iter().rev().take(FEWEST).collect::<Vec<_>>(), [&500; FEWEST]);
    }

    #[test]
    fn paused_operations_are_timed_one_by_one() {
        let mut timed = Pretends(Vec::new());
        let pace = Pace::Asleep(Duration::ZERO);
        measure(&mut timed, pace, Duration::ZERO, Duration::ZERO);
        assert!(timed.0.iter().all(|count| *count == 1));
    }
}
