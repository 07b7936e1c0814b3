//! A set of positions that participants add to without waiting.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const BITS: usize = 64;

/// Which of the positions `0..len` have been reached, one bit for each.
///
/// Participants add the ranges of their chunks; who owns the set reads it after they have left. Up to 256 positions it
/// allocates nothing.
#[derive(Debug)]
pub(crate) struct PositionSet {
    few: [AtomicU64; 4],
    many: Box<[AtomicU64]>,
    len: usize,
}

impl PositionSet {
    pub(crate) fn new(len: usize) -> Self {
        let few = [const { AtomicU64::new(0) }; 4];
        let words = len.div_ceil(BITS);
        let words = if words <= few.len() { 0 } else { words };
        Self { few, many: (0..words).map(|_| AtomicU64::new(0)).collect(), len }
    }

    fn words(&self) -> &[AtomicU64] {
        if self.many.is_empty() { &self.few } else { &self.many }
    }

    /// Adds `first..=last`.
    ///
    /// `Relaxed` is enough: the bits guard no other memory, and the set is read by someone who has waited for all
    /// participants.
    pub(crate) fn insert(&self, first: usize, last: usize) {
        debug_assert!(first <= last && last < self.len, "{first}..={last} of {}", self.len);
        let words = self.words();
        let (low, high) = (first / BITS, last / BITS);
        let from = u64::MAX << (first % BITS);
        let to = u64::MAX >> (BITS - 1 - last % BITS);
        if low == high {
            words[low].fetch_or(from & to, Relaxed);
            return;
        }
        // Only the words at the ends can be shared with other ranges.
        words[low].fetch_or(from, Relaxed);
        for word in &words[low + 1..high] {
            word.store(u64::MAX, Relaxed);
        }
        words[high].fetch_or(to, Relaxed);
    }

    /// The positions that are in the set (`true`) or not in it (`false`).
    pub(crate) fn positions(&mut self, reached: bool) -> impl Iterator<Item = usize> {
        let len = self.len;
        let flip = if reached { 0 } else { u64::MAX };
        let words = self.words().iter().map(move |word| word.load(Relaxed) ^ flip);
        words
            .enumerate()
            .filter(|(_, word)| *word != 0)
            .flat_map(|(at, word)| {
                (0..BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * BITS + bit)
            })
            .take_while(move |position| *position < len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_the_ranges_that_were_added() {
        for len in [0, 1, 63, 64, 65, 256, 257, 1000] {
            for ranges in [
                vec![],
                vec![(0, 0)],
                vec![(3, 70), (71, 71)],
                vec![(0, 200), (250, 256)],
                vec![(63, 999)],
            ] {
                let mut set = PositionSet::new(len);
                let mut expected = vec![false; len];
                for (first, last) in ranges {
                    if last < len {
                        set.insert(first, last);
                        expected[first..=last].fill(true);
                    }
                }
                for reached in [false, true] {
                    let want: Vec<usize> = (0..len).filter(|p| expected[*p] == reached).collect();
                    assert_eq!(set.positions(reached).collect::<Vec<_>>(), want, "length {len}");
                }
            }
        }
    }
}
