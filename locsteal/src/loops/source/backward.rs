//! Ranges of integers from their end to their beginning.

use std::ops::Range;

use super::words::{Word, plain_chunks};
use super::{ExactSource, IndexedSource, Length, ParallelSource, RangeSource, Rev, Shifted, Whole};

/// A range of integers in reverse order. Made by [`RangeSource::rev`].
///
/// It is [`Rev`] for ranges, with chunks that count what is left of them: from that the compiler sees that an index which
/// falls stays inside of what the chunk owns, and so a loop needs no bounds checks and can be vectorised.
#[derive(Clone, Copy, Debug)]
pub struct BackwardSource<T> {
    range: RangeSource<T>,
    /// The first item; anything if there is none.
    highest: T,
}

impl<T: Word> RangeSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    /// The values from the last to the first.
    #[inline]
    #[must_use]
    pub fn rev(self) -> BackwardSource<T> {
        let highest = self.value(self.length().last().unwrap_or(0));
        BackwardSource { range: self, highest }
    }
}

impl<T: Word> BackwardSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    /// The item at a position.
    #[inline]
    pub(in crate::loops) fn value(&self, position: u128) -> T {
        self.highest.back(position)
    }
}

// SAFETY:
// 1. By this promise of the range.
// 2. Position `p` is position `n - 1 - p` of the range. So the lowest of the items is that of `last`, and the others follow it
//    upwards; `last - first` fits a `u64`, as a range has at most 2⁶⁴ - 1 values of at most 64 bits.
// 3. A chunk is a plain value that shares nothing.
// 4. Integers own nothing.
unsafe impl<T: Word> ParallelSource for BackwardSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    type Item = T;
    type Chunk = BackwardChunk<T>;

    #[inline]
    fn length(&self) -> Length {
        self.range.length()
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> BackwardChunk<T> {
        let count = (last - first) as u64 + 1;
        BackwardChunk { lowest: self.value(last), left: count, count }
    }
}

impl<T: Word> IndexedSource<Whole> for BackwardSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    type Aligned<W: ExactSource> = Rev<Shifted<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.value(position).saturating_i128()
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Rev<Shifted<W>> {
        Rev::new(self.range.align(whole))
    }
}

/// The values of a range from the last to the first.
#[derive(Clone, Debug)]
pub struct BackwardChunk<T> {
    lowest: T,
    /// How many values there are, from the lowest one on. They exist: a chunk is made of a part of a range, and only gets shorter.
    left: u64,
    /// How many they were when the chunk was made: what it owns of an array is as long.
    count: u64,
}

impl<T: Word> Iterator for BackwardChunk<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: there never were more left than at first; and the value exists, as it is one of those that were left.
        Some(unsafe {
            std::hint::assert_unchecked(self.left < self.count);
            self.lowest.ahead(self.left)
        })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (left.unwrap_or(usize::MAX), left.ok())
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.left = self.left.saturating_sub(n as u64);
        self.next()
    }
}

impl<T: Word> DoubleEndedIterator for BackwardChunk<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let value = self.lowest;
        // Wraps only behind the last value.
        self.lowest = value.forward(1);
        Some(value)
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        let skipped = self.left.min(n as u64);
        self.left -= skipped;
        self.lowest = self.lowest.forward(u128::from(skipped));
        self.next_back()
    }
}

plain_chunks!(BackwardSource, BackwardChunk);
