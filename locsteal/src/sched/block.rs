//! What is left of a seat's block, as one word: the owner takes from its front, thieves from its back.

use crate::sync::{AtomicU64, Ordering};

/// Units `lo..hi` that nobody has taken yet. All empty ranges are the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) lo: u32,
    pub(crate) hi: u32,
}

impl Span {
    pub(crate) const EMPTY: Self = Self { lo: 0, hi: 0 };

    pub(crate) const fn new(lo: u32, hi: u32) -> Self {
        if lo < hi { Self { lo, hi } } else { Self::EMPTY }
    }

    pub(crate) const fn len(self) -> u32 {
        self.hi - self.lo
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.lo == self.hi
    }

    /// The first `n` units, or a few fewer, and the rest: see [`edge`].
    pub(crate) const fn split_front(self, n: u32) -> (Self, Self) {
        let mid = if n < self.len() { edge(self.lo + n, n) } else { self.hi };
        (Self::new(self.lo, mid), Self::new(mid, self.hi))
    }

    /// The last `n` units, or a few more, and the rest: see [`edge`].
    pub(crate) const fn split_back(self, n: u32) -> (Self, Self) {
        let mid = if n < self.len() { edge(self.hi - n, self.len() - n) } else { self.lo };
        (Self::new(mid, self.hi), Self::new(self.lo, mid))
    }

    const fn pack(self) -> u64 {
        (self.lo as u64) << 32 | self.hi as u64
    }

    const fn unpack(word: u64) -> Self {
        Self { lo: (word >> 32) as u32, hi: word as u32 }
    }
}

/// Where to cut instead of at `unit`, which is `n` units from the front: no earlier than a twelfth of them, and where what is 8 bytes a unit
/// begins a cache line, or two, if the array does. Else what is read and written by vectors would straddle lines all along a chunk.
const fn edge(unit: u32, n: u32) -> u32 {
    match n {
        ..96 => unit,
        96..256 => unit & !7,
        _ => unit & !15,
    }
}

/// How many units to take from `unit` on instead of `n`, so that what comes next begins at an [`edge`].
pub(super) const fn to_edge(unit: u32, n: u32) -> u32 {
    match unit.checked_add(n) {
        Some(end) => edge(end, n) - unit,
        None => n,
    }
}

/// The word itself. Each of its values says all there is to say about the block, so a compare-exchange that succeeds
/// after the word has changed and come back is still right.
///
/// All accesses are relaxed: the word hands over numbers only, no memory. What an iteration may touch was published
/// with the loop itself (see `presence`), and what it wrote is handed over when its participant leaves.
#[derive(Debug)]
pub(crate) struct Block(AtomicU64);

impl Block {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Span::EMPTY.pack()))
    }

    /// What was left a moment ago.
    pub(crate) fn left(&self) -> Span {
        Span::unpack(self.0.load(Ordering::Relaxed))
    }

    /// Sets the block while nobody else may touch it: before it is published, or after everyone has left.
    pub(crate) fn set(&self, span: Span) {
        self.0.store(span.pack(), Ordering::Relaxed);
    }

    /// Takes some units, as chosen by `choose(left) -> (taken, rest)`; `None` when that takes nothing.
    pub(crate) fn take(&self, mut choose: impl FnMut(Span) -> (Span, Span)) -> Option<Span> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let (taken, rest) = choose(Span::unpack(word));
            if taken.is_empty() {
                return None;
            }
            match self.0.compare_exchange_weak(
                word,
                rest.pack(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(taken),
                Err(now) => word = now,
            }
        }
    }

    /// Puts `span` into the block if it is empty; gives back whether it did.
    pub(crate) fn refill(&self, span: Span) -> bool {
        self.0
            .compare_exchange(Span::EMPTY.pack(), span.pack(), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn splits_keep_every_unit_once() {
        for (lo, hi) in [(0, 0), (0, 1), (3, 10), (u32::MAX - 2, u32::MAX)] {
            let span = Span::new(lo, hi);
            for n in [0, 1, 2, 7, u32::MAX] {
                let (front, rest) = span.split_front(n);
                assert_eq!(front.len(), n.min(span.len()));
                assert_eq!(front.len() + rest.len(), span.len());
                assert!(rest.is_empty() || front.is_empty() || front.hi == rest.lo);
                let (back, rest) = span.split_back(n);
                assert_eq!(back.len(), n.min(span.len()));
                assert!(rest.is_empty() || back.is_empty() || rest.hi == back.lo);
            }
        }
    }

    #[test]
    fn long_parts_begin_where_cache_lines_may_begin() {
        for lo in [0, 5, 1000] {
            let span = Span::new(lo, lo + 5000);
            for n in [1, 2, 95, 96, 97, 255, 256, 1000, 4997] {
                let (front, rest) = span.split_front(n);
                let fewer = n - front.len();
                assert!(fewer * 12 <= n, "{n} from {lo}");
                let edge = match n {
                    ..96 => 1,
                    96..256 => 8,
                    _ => 16,
                };
                assert!(rest.lo.is_multiple_of(edge), "{n} from {lo}");
                assert_eq!(to_edge(lo, n), front.len());
                let (back, rest) = span.split_back(n);
                assert!(back.len() >= n && back.len() < n + 16 && back.hi == span.hi);
                assert_eq!((rest.lo, rest.hi), (span.lo, back.lo));
                let edge = match 5000 - n {
                    ..96 => 1,
                    96..256 => 8,
                    _ => 16,
                };
                assert!(back.lo.is_multiple_of(edge), "{n} from the back of {lo}");
            }
        }
    }

    #[test]
    fn the_last_units_are_taken_as_they_are() {
        for from_end in 1..200 {
            let n = to_edge(u32::MAX - from_end, 1000);
            assert!(n > 0 && n <= 1000, "{from_end} before the end");
        }
        assert_eq!(to_edge(u32::MAX - 1, 1), 1);
    }

    #[test]
    fn refill_only_when_empty() {
        let block = Block::new();
        assert!(block.refill(Span::new(4, 9)));
        assert!(!block.refill(Span::new(10, 12)));
        assert_eq!(block.take(|left| left.split_front(9)), Some(Span::new(4, 9)));
        assert_eq!(block.take(|left| left.split_front(1)), None);
        assert!(block.refill(Span::new(10, 12)));
    }
}
