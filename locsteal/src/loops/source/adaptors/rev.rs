//! `rev`: a source from its end to its beginning.

use std::iter;

use super::super::{
    DetachedSource, ExactSource, IndexedSource, Length, ParallelSource, RepeatableSource,
};

/// A source in reverse order. Made by [`ParallelSource::rev`].
#[derive(Clone, Copy, Debug)]
pub struct Rev<S> {
    source: S,
}

impl<S: ParallelSource> Rev<S> {
    #[inline]
    pub(crate) fn new(source: S) -> Self {
        Self { source }
    }

    /// What is reversed.
    #[inline]
    pub(in crate::loops) fn source(&self) -> &S {
        &self.source
    }

    /// The position of the source that is as far from its end as `position` is from the beginning.
    #[inline]
    pub(in crate::loops) fn mirrored(&self, position: u128) -> u128 {
        self.source.length().last().unwrap_or(0) - position
    }
}

// SAFETY:
// 1. By this promise of the source.
// 2. Position `p` is position `n - 1 - p` of the source. So `first..=last` are the positions from that of `last` to that of
//    `first`, and reversing their chunk puts them into the right order.
// 3. and 4. By the same promises of the source; mirroring maps disjoint ranges to disjoint ranges.
unsafe impl<S: ParallelSource<Chunk: DoubleEndedIterator>> ParallelSource for Rev<S> {
    type Item = S::Item;
    type Chunk = iter::Rev<S::Chunk>;

    #[inline]
    fn length(&self) -> Length {
        self.source.length()
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> Self::Chunk {
        // SAFETY: 5. and 6. by the points above; 7. since the source is a part of `self`.
        unsafe { self.source.chunk(self.mirrored(last), self.mirrored(first)) }.rev()
    }
}

// SAFETY: a chunk is made of a chunk of the source.
unsafe impl<S: DetachedSource<Chunk: DoubleEndedIterator>> DetachedSource for Rev<S> {}

// SAFETY: a chunk is made of a chunk of the source.
unsafe impl<S: RepeatableSource<Chunk: DoubleEndedIterator>> RepeatableSource for Rev<S> {}

impl<P, S: IndexedSource<P, Chunk: DoubleEndedIterator>> IndexedSource<P> for Rev<S> {
    type Aligned<W: ExactSource> = Rev<S::Aligned<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.source.index(self.mirrored(position))
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W> {
        Rev { source: self.source.align(whole) }
    }
}
