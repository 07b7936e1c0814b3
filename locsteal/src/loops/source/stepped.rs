//! Ranges of integers in steps.

use std::ops::Range;

use super::words::{Word, plain_chunks};
use super::{
    ExactSource, IndexedSource, Length, ParallelSource, RangeSource, Shifted, StepBy, Whole,
};

/// The first value of a range of integers and then every so manieth. Made by [`RangeSource::step_by`].
///
/// It is [`StepBy`] for ranges, with chunks that know how far they reach: from that the compiler sees that the index stays inside
/// of what the chunk owns, and so a loop needs no bounds checks.
#[derive(Clone, Copy, Debug)]
pub struct SteppedSource<T> {
    range: RangeSource<T>,
    /// Not 0.
    step: usize,
    length: Length,
}

impl<T: Word> RangeSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    /// The first value and then every `step`-th.
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn step_by(self, step: usize) -> SteppedSource<T> {
        let length = StepBy::new(self, step).length();
        SteppedSource { range: self, step, length }
    }
}

impl<T: Word> SteppedSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    /// The item at a position.
    #[inline]
    pub(in crate::loops) fn value(&self, position: u128) -> T {
        self.range.value(position * self.step as u128)
    }

    /// How many values of the range lie between the items of two positions, and how many with these.
    #[inline]
    pub(in crate::loops) fn span(&self, first: u128, last: u128) -> u64 {
        (last - first) as u64 * self.step as u64 + 1
    }
}

// SAFETY:
// 1. All fields are plain values that nothing changes.
// 2. Position `p` is position `p * step` of the range, which exists for the positions that `length` allows. Of `first..=last` there
//    are `last - first + 1`, and the last of them is `(last - first) * step` after the first; both numbers fit a `u64`, as a range
//    has at most 2⁶⁴ - 1 values of at most 64 bits.
// 3. A chunk is a plain value that shares nothing.
// 4. Integers own nothing.
unsafe impl<T: Word> ParallelSource for SteppedSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    type Item = T;
    type Chunk = SteppedChunk<T>;

    #[inline]
    fn length(&self) -> Length {
        self.length
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> SteppedChunk<T> {
        SteppedChunk {
            lowest: self.value(first),
            offset: 0,
            left: (last - first) as u64 + 1,
            step: self.step as u64,
            span: self.span(first, last),
        }
    }
}

impl<T: Word> IndexedSource<Whole> for SteppedSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    type Aligned<W: ExactSource> = StepBy<Shifted<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.value(position).saturating_i128()
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> StepBy<Shifted<W>> {
        StepBy::new(self.range.align(whole), self.step)
    }
}

/// Every so manieth value of a range.
#[derive(Clone, Debug)]
pub struct SteppedChunk<T> {
    lowest: T,
    /// How far after `lowest` the next value is; those that follow it are each `step` further, `left` of them in all, which exist: a
    /// chunk is made of a part of a range, and only gets shorter.
    offset: u64,
    left: u64,
    step: u64,
    /// What the offsets of all values that are left are less than.
    span: u64,
}

impl<T: Word> SteppedChunk<T> {
    /// # Safety
    ///
    /// The offset is that of a value that was left.
    #[inline]
    unsafe fn value(&self, offset: u64) -> T {
        // SAFETY: as the caller promises.
        unsafe {
            std::hint::assert_unchecked(offset < self.span);
            self.lowest.ahead(offset)
        }
    }
}

impl<T: Word> Iterator for SteppedChunk<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let offset = self.offset;
        // Wraps only behind the last value.
        self.offset = offset.wrapping_add(self.step);
        // SAFETY: the value was left.
        Some(unsafe { self.value(offset) })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left);
        (left.unwrap_or(usize::MAX), left.ok())
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        let skipped = self.left.min(n as u64);
        self.left -= skipped;
        self.offset = self.offset.wrapping_add(skipped.wrapping_mul(self.step));
        self.next()
    }
}

impl<T: Word> DoubleEndedIterator for SteppedChunk<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: the value was left, as the last one; so the sum does not wrap.
        Some(unsafe { self.value(self.offset + self.left * self.step) })
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.left = self.left.saturating_sub(n as u64);
        self.next_back()
    }
}

plain_chunks!(SteppedSource, SteppedChunk);
