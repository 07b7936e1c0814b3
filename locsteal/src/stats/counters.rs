//! Counters that one thread at a time writes and any thread reads.

use std::ops::Range;

use super::{ByTier, Stats};
use crate::sync::Ordering;
use crate::sync::unordered::AtomicU64;

/// One counter for each number in [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; FIELDS]);

const FIELDS: usize = 25;
/// The first of them, which every loop adds to.
const USUAL: usize = 5;

impl Counters {
    /// Adds `stats`; only one thread at a time may call it.
    ///
    /// Relaxed: the numbers are for people and order nothing.
    #[inline]
    pub(crate) fn add(&self, stats: &Stats) {
        let more = to_array(stats);
        // Most loops have only these to tell.
        self.add_some(&more, 0..USUAL);
        if more[USUAL..].iter().fold(0, |any, n| any | n) != 0 {
            self.add_some(&more, USUAL..FIELDS);
        }
    }

    #[inline]
    fn add_some(&self, more: &[u64; FIELDS], which: Range<usize>) {
        for (counter, &more) in self.0[which.clone()].iter().zip(&more[which]) {
            let sum = counter.load(Ordering::Relaxed).saturating_add(more);
            counter.store(sum, Ordering::Relaxed);
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

#[inline]
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
        steps_aside,
        jobs,
        jobs_pinned,
        jobs_inline,
    } = *stats;
    [
        loops,
        joins,
        chunks,
        iterations,
        wakes,
        serial_loops,
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
        steps_aside,
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
        joins: next(),
        chunks: next(),
        iterations: next(),
        wakes: next(),
        serial_loops: next(),
        steals: tiers(&mut next),
        moved: tiers(&mut next),
        rescues: next(),
        protected_skips: next(),
        remote_passes: next(),
        parks: next(),
        steps_aside: next(),
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
