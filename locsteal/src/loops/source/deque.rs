//! `VecDeque`, by reference and by value.

use std::collections::{VecDeque, vec_deque};

use super::{
    DetachedSource, IntoParallelSource, Length, OwnedVec, ParallelSource, RepeatableSource,
    SliceMutSource,
};

/// The elements of a [`VecDeque`], by reference.
#[derive(Debug)]
pub struct DequeSource<'a, T>(&'a VecDeque<T>);

impl<T> Clone for DequeSource<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DequeSource<'_, T> {}

// SAFETY:
// 1. The deque is borrowed and its length does not change.
// 2. `range` gives these elements in order.
// 3. A chunk is a shared reference into the deque; the source is `Sync` only if `T` is.
// 4. Items are references and own nothing.
unsafe impl<'a, T> ParallelSource for DequeSource<'a, T> {
    type Item = &'a T;
    type Chunk = vec_deque::Iter<'a, T>;

    fn length(&self) -> Length {
        Length::from(self.0.len())
    }

    unsafe fn chunk(&self, first: u128, last: u128) -> vec_deque::Iter<'a, T> {
        self.0.range(first as usize..=last as usize)
    }
}

// SAFETY: a chunk refers to the deque.
unsafe impl<T> DetachedSource for DequeSource<'_, T> {}

// SAFETY: a chunk holds shared references to a deque that no source changes.
unsafe impl<T> RepeatableSource for DequeSource<'_, T> {}

impl<'a, T> IntoParallelSource for &'a VecDeque<T> {
    type Item = &'a T;
    type Source = DequeSource<'a, T>;

    fn into_parallel_source(self) -> DequeSource<'a, T> {
        DequeSource(self)
    }
}

/// Moves the elements of the deque into one piece first, which takes time if they are in two.
impl<'a, T> IntoParallelSource for &'a mut VecDeque<T> {
    type Item = &'a mut T;
    type Source = SliceMutSource<'a, T>;

    fn into_parallel_source(self) -> SliceMutSource<'a, T> {
        self.make_contiguous().into_parallel_source()
    }
}

/// Moves the elements of the deque to the front of its memory first, which takes time if they are not there.
impl<T> IntoParallelSource for VecDeque<T> {
    type Item = T;
    type Source = OwnedVec<T>;

    fn into_parallel_source(self) -> OwnedVec<T> {
        Vec::from(self).into_parallel_source()
    }
}
