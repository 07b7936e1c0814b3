//! Iterators of the standard library, taken as they are.
//!
//! What is inside most of them cannot be taken out. But those over shared data can be cloned, and those of them that can skip
//! ahead in one step are thereby split by position.

use std::iter;
use std::ops::{Range, RangeInclusive};
use std::{array, collections::vec_deque, slice, str, vec};

use super::{
    DetachedSource, IntoParallelSource, Length, OwnedVec, ParallelSource, RepeatableSource,
    SliceMutSource, SliceSource,
};

mod sealed {
    pub trait Sealed {}
}

/// An iterator of the standard library that is cheap to clone and that moves ahead by any number of items in one step, with
/// no side effect.
pub trait Seek: Iterator + Clone + sealed::Sealed {}

/// The items of an iterator that can move ahead in one step.
#[derive(Clone, Debug)]
pub struct SeekSource<I> {
    items: I,
    length: Length,
}

impl<I: Seek> SeekSource<I> {
    fn new(items: I) -> Self {
        let length = match items.size_hint() {
            (count, Some(limit)) if count == limit => Length::from(count),
            // More items than `usize` counts: an inclusive range of all values of a type of its size, or what is left of it. The
            // count of these is one short at most, since it was made by counting from `usize::MAX` items.
            (count, _) if items.clone().nth(count).is_some() => Length::from_last(count as u128),
            (count, _) => Length::from(count),
        };
        Self { items, length }
    }
}

// SAFETY:
// 1. The length is a plain value that nothing changes.
// 2. A clone that has been moved ahead by `first` items yields the items from `first` on, and `take` ends it. That there are
//    enough follows from `length`, which the iterators that are `Seek` tell exactly.
// 3. A chunk is a clone. All types that are `Seek` hold shared references or plain values, and are `Sync` only if what they refer to
//    is.
// 4. Items are references or plain values.
unsafe impl<I: Seek> ParallelSource for SeekSource<I> {
    type Item = I::Item;
    type Chunk = iter::Take<I>;

    #[inline]
    fn length(&self) -> Length {
        self.length
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> iter::Take<I> {
        let mut items = self.items.clone();
        if first > 0 {
            items.nth(first as usize - 1);
        }
        let count = usize::try_from(last - first).ok().and_then(|span| span.checked_add(1));
        items.take(count.expect("a chunk of an iterator has at most `usize::MAX` items"))
    }
}

// SAFETY: a chunk is a clone of an iterator, which refers to what that iterator was made of.
unsafe impl<I: Seek> DetachedSource for SeekSource<I> {}

// SAFETY: a chunk is a clone of an iterator that nothing else refers to.
unsafe impl<I: Seek> RepeatableSource for SeekSource<I> {}

macro_rules! seek {
    ($(impl[$($generics:tt)*] for $t:ty;)*) => {$(
        impl<$($generics)*> sealed::Sealed for $t {}
        impl<$($generics)*> Seek for $t {}
    )*};
}

macro_rules! seek_and_split {
    ($(impl[$($generics:tt)*] for $t:ty;)*) => {$(
        seek! { impl[$($generics)*] for $t; }

        impl<$($generics)*> IntoParallelSource for $t {
            type Item = <$t as Iterator>::Item;
            type Source = SeekSource<$t>;

            fn into_parallel_source(self) -> SeekSource<$t> {
                SeekSource::new(self)
            }
        }
    )*};
}

macro_rules! seek_ranges {
    ($($t:ty),*) => {$(
        seek! {
            impl[] for Range<$t>;
            impl[] for RangeInclusive<$t>;
        }
    )*};
}

// Those whose length is at most one more than `usize` can count. They are sources by themselves; here they join for the sake
// of what is made of them.
seek_ranges!(u8, i8, u16, i16, u32, i32, usize, isize);
#[cfg(target_pointer_width = "64")]
seek_ranges!(u64, i64);

seek! {
    impl['a, T] for slice::Iter<'a, T>;
}

seek_and_split! {
    impl['a, T] for slice::Chunks<'a, T>;
    impl['a, T] for slice::ChunksExact<'a, T>;
    impl['a, T] for slice::RChunks<'a, T>;
    impl['a, T] for slice::RChunksExact<'a, T>;
    impl['a, T] for slice::Windows<'a, T>;
    impl['a, T] for vec_deque::Iter<'a, T>;
    impl['a] for str::Bytes<'a>;
    impl[I: Seek] for iter::Enumerate<I>;
    impl[I: Seek] for iter::Skip<I>;
    impl[I: Seek] for iter::Take<I>;
    impl[I: Seek] for iter::StepBy<I>;
    impl[I: Seek + DoubleEndedIterator] for iter::Rev<I>;
    impl['a, T: Copy + 'a, I: Seek<Item = &'a T>] for iter::Copied<I>;
}

impl<'a, T> IntoParallelSource for slice::Iter<'a, T> {
    type Item = &'a T;
    type Source = SliceSource<'a, T>;

    #[inline]
    fn into_parallel_source(self) -> SliceSource<'a, T> {
        self.as_slice().into_parallel_source()
    }
}

impl<'a, T> IntoParallelSource for slice::IterMut<'a, T> {
    type Item = &'a mut T;
    type Source = SliceMutSource<'a, T>;

    #[inline]
    fn into_parallel_source(self) -> SliceMutSource<'a, T> {
        self.into_slice().into_parallel_source()
    }
}

impl<T> IntoParallelSource for vec::IntoIter<T> {
    type Item = T;
    type Source = OwnedVec<T>;

    fn into_parallel_source(self) -> OwnedVec<T> {
        // Takes over the memory if nothing has been taken from the iterator yet.
        self.collect::<Vec<T>>().into_parallel_source()
    }
}

impl<T, const N: usize> IntoParallelSource for array::IntoIter<T, N> {
    type Item = T;
    type Source = OwnedVec<T>;

    fn into_parallel_source(self) -> OwnedVec<T> {
        self.collect::<Vec<T>>().into_parallel_source()
    }
}
