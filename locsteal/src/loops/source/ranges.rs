//! Ranges of integers and of `char`.

use std::ops::{Range, RangeInclusive};

use super::{
    Countable, DetachedSource, ExactSource, IndexedSource, Integer, IntoParallelSource, Length,
    ParallelSource, RepeatableSource, Shifted, Whole,
};

/// The source that a [`Range`] becomes.
#[derive(Clone, Copy, Debug)]
pub struct RangeSource<T> {
    start: T,
    length: Length,
}

/// The source that a [`RangeInclusive`] becomes.
#[derive(Clone, Copy, Debug)]
pub struct RangeInclusiveSource<T> {
    start: T,
    length: Length,
}

impl<T: Countable> IntoParallelSource for Range<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    type Item = T;
    type Source = RangeSource<T>;

    #[inline]
    fn into_parallel_source(self) -> RangeSource<T> {
        let length = if self.start < self.end {
            Length::from(self.start.steps_to(self.end))
        } else {
            Length::EMPTY
        };
        RangeSource { start: self.start, length }
    }
}

// SAFETY:
// 1. Both fields are plain values that nothing changes.
// 2. The range that is returned starts at the value `first` steps after `start` and ends before the one `last + 1` steps after
//    it, which exists, since the range that `self` was made of had an end.
// 3. A chunk is a plain value that shares nothing.
// 4. Integers and characters own nothing.
unsafe impl<T: Countable> ParallelSource for RangeSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    type Item = T;
    type Chunk = Range<T>;

    #[inline]
    fn length(&self) -> Length {
        self.length
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> Range<T> {
        self.start.forward(first)..self.start.forward(last + 1)
    }
}

// SAFETY: a chunk is a plain value.
unsafe impl<T: Countable> DetachedSource for RangeSource<T> where
    Range<T>: DoubleEndedIterator<Item = T>
{
}

// SAFETY: a chunk is computed from plain values.
unsafe impl<T: Countable> RepeatableSource for RangeSource<T> where
    Range<T>: DoubleEndedIterator<Item = T>
{
}

impl<T: Countable> IntoParallelSource for RangeInclusive<T> {
    type Item = T;
    type Source = RangeInclusiveSource<T>;

    #[inline]
    fn into_parallel_source(self) -> RangeInclusiveSource<T> {
        // Also true of a range that has been iterated to its end, whose `start` and `end` do not tell.
        let length = if self.is_empty() {
            Length::EMPTY
        } else {
            Length::from_last(self.start().steps_to(*self.end()))
        };
        RangeInclusiveSource { start: *self.start(), length }
    }
}

// SAFETY:
// 1. Both fields are plain values that nothing changes.
// 2. `Countable::inclusive` makes the values from `first` steps to `last` steps after `start`, both of which exist, since the
//    value that is the length's last position after `start` was given as the range's end.
// 3. A chunk is a plain value that shares nothing.
// 4. Integers and characters own nothing.
unsafe impl<T: Countable> ParallelSource for RangeInclusiveSource<T> {
    type Item = T;
    type Chunk = T::Inclusive;

    #[inline]
    fn length(&self) -> Length {
        self.length
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> T::Inclusive {
        T::inclusive(self.start.forward(first), self.start.forward(last))
    }
}

// SAFETY: a chunk is a plain value.
unsafe impl<T: Countable> DetachedSource for RangeInclusiveSource<T> {}

// SAFETY: a chunk is computed from plain values.
unsafe impl<T: Countable> RepeatableSource for RangeInclusiveSource<T> {}

impl<T: Countable> RangeSource<T> {
    /// The item at a position.
    #[inline]
    pub(in crate::loops) fn value(&self, position: u128) -> T {
        self.start.forward(position)
    }
}

impl<T: Countable> RangeInclusiveSource<T> {
    /// The item at a position.
    #[inline]
    pub(in crate::loops) fn value(&self, position: u128) -> T {
        self.start.forward(position)
    }
}

macro_rules! indexed_by_value {
    ($source:ident $(, $bound:ty: $what:path)?) => {
        impl<T: Integer> IndexedSource<Whole> for $source<T>
        where
            $($bound: $what,)?
        {
            type Aligned<W: ExactSource> = Shifted<W>;

            #[inline]
            fn index(&self, position: u128) -> i128 {
                self.start.forward(position).saturating_i128()
            }

            #[inline]
            fn align<W: ExactSource>(&self, whole: W) -> Shifted<W> {
                Shifted::new(whole, self.start.saturating_i128(), self.length)
            }
        }
    };
}

indexed_by_value!(RangeSource, Range<T>: DoubleEndedIterator<Item = T>);
indexed_by_value!(RangeInclusiveSource);
