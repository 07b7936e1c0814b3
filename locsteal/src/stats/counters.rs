//! Counters that one thread at a time writes and any thread reads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{ByTier, Stats};

/// One counter for each number in [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; FIELDS]);

const FIELDS: usize = 24;

impl Counters {
    /// Adds `stats`; only one thread at a time may call it.
    ///
    /// Relaxed: the numbers are for people and order nothing.
    pub(crate) fn add(&self, stats: &Stats) {
        for (counter, more) in self.0.iter().zip(to_array(stats)) {
            if more != 0 {
                let sum = counter.load(Ordering::Relaxed).saturating_add(more);
                counter.store(sum, Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn read(&self) -> Stats {
        let mut numbers = [0; FIELDS];
        for (number, counter) in numbers.iter_mut().zip(&self.0) {
            *number = counter.load(Ordering::Relaxed);
        }
        from_array(numbers)
    }
}

fn to_array(stats: &Stats) -> [u64; FIELDS] {
    let Stats {
        loops,
        serial_loops,
        joins,
        chunks,
        iterations,
        steals,
        moved,
        rescues,
        protected_skips,
        remote_passes,
        parks,
        wakes,
        jobs,
        jobs_pinned,
        jobs_inline,
    } = *stats;
    [
        loops,
        serial_loops,
        joins,
        chunks,
        iterations,
        steals.llc,
        steals.node,
        steals.remote,
        steals.unknown,
        moved.llc,
        moved.node,
        moved.remote,
        moved.unknown,
        rescues,
        protected_skips,
        remote_passes,
        parks,
        wakes,
        jobs.llc,
        jobs.node,
        jobs.remote,
        jobs.unknown,
        jobs_pinned,
        jobs_inline,
    ]
}

fn from_array(numbers: [u64; FIELDS]) -> Stats {
    let mut numbers = numbers.into_iter();
    let mut next = || numbers.next().unwrap_or_default();
    let tiers = |next: &mut dyn FnMut() -> u64| ByTier {
        llc: next(),
        node: next(),
        remote: next(),
        unknown: next(),
    };
    Stats {
        loops: next(),
        serial_loops: next(),
        joins: next(),
        chunks: next(),
        iterations: next(),
        steals: tiers(&mut next),
        moved: tiers(&mut next),
        rescues: next(),
        protected_skips: next(),
        remote_passes: next(),
        parks: next(),
        wakes: next(),
        jobs: tiers(&mut next),
        jobs_pinned: next(),
        jobs_inline: next(),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_their_places() {
        let mut numbers = [0; FIELDS];
        (1..).zip(&mut numbers).for_each(|(value, number)| *number = value);
        let stats = from_array(numbers);
        assert_eq!(to_array(&stats), numbers);
        let counters = Counters::default();
        counters.add(&stats);
        counters.add(&stats);
        assert_eq!(counters.read(), stats + stats);
    }
}
