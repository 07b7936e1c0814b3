//! `skip` and `take`: the end and the beginning of a source.

use super::super::{
    DetachedSource, ExactSource, IndexedSource, Length, ParallelSource, RepeatableSource,
};

/// A source without its first items. Made by [`ParallelSource::skip`].
#[derive(Clone, Copy, Debug)]
pub struct Skip<S> {
    source: S,
    count: u128,
}

/// The first items of a source. Made by [`ParallelSource::take`].
#[derive(Clone, Copy, Debug)]
pub struct Take<S> {
    source: S,
    limit: Length,
}

impl<S> Skip<S> {
    #[inline]
    pub(crate) fn new(source: S, count: usize) -> Self {
        Self { source, count: count as u128 }
    }

    /// What items are skipped of.
    #[inline]
    pub(in crate::loops) fn source(&self) -> &S {
        &self.source
    }

    /// The position that a position has there.
    #[inline]
    pub(in crate::loops) fn shifted(&self, position: u128) -> u128 {
        position + self.count
    }
}

impl<S> Take<S> {
    #[inline]
    pub(crate) fn new(source: S, limit: Length) -> Self {
        Self { source, limit }
    }

    /// What items are taken of.
    #[inline]
    pub(in crate::loops) fn source(&self) -> &S {
        &self.source
    }
}

// SAFETY:
// 1. By this promise of the source.
// 2. Position `p` is position `p + count` of the source, for all of `first..=last`. The sum is a position of the source, as
//    `length` says.
// 3. and 4. By the same promises of the source; adding a number maps disjoint ranges to disjoint ranges. Skipped items are in no
//    chunk.
unsafe impl<S: ParallelSource> ParallelSource for Skip<S> {
    type Item = S::Item;
    type Chunk = S::Chunk;

    #[inline]
    fn length(&self) -> Length {
        match self.source.length().last() {
            Some(last) if last >= self.count => Length::from_last(last - self.count),
            _ => Length::EMPTY,
        }
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> S::Chunk {
        // SAFETY: 5. by point 2 above; 6. by point 3; 7. since the source is a part of `self`.
        unsafe { self.source.chunk(first + self.count, last + self.count) }
    }
}

// SAFETY: a chunk is a chunk of the source.
unsafe impl<S: DetachedSource> DetachedSource for Skip<S> {}

// SAFETY: a chunk is a chunk of the source.
unsafe impl<S: RepeatableSource> RepeatableSource for Skip<S> {}

impl<P, S: IndexedSource<P>> IndexedSource<P> for Skip<S> {
    type Aligned<W: ExactSource> = Skip<S::Aligned<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.source.index(position + self.count)
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W> {
        Skip { source: self.source.align(whole), count: self.count }
    }
}

// SAFETY:
// 1. By this promise of the source.
// 2. Positions are those of the source, of which there are at least as many.
// 3. and 4. By the same promises of the source. Items past the limit are in no chunk.
unsafe impl<S: ParallelSource> ParallelSource for Take<S> {
    type Item = S::Item;
    type Chunk = S::Chunk;

    #[inline]
    fn length(&self) -> Length {
        self.source.length().min(self.limit)
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> S::Chunk {
        // SAFETY: 5. and 6. since the positions are those of the source; 7. since the source is a part of `self`.
        unsafe { self.source.chunk(first, last) }
    }
}

// SAFETY: a chunk is a chunk of the source.
unsafe impl<S: DetachedSource> DetachedSource for Take<S> {}

// SAFETY: a chunk is a chunk of the source.
unsafe impl<S: RepeatableSource> RepeatableSource for Take<S> {}

impl<P, S: IndexedSource<P>> IndexedSource<P> for Take<S> {
    type Aligned<W: ExactSource> = Take<S::Aligned<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.source.index(position)
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W> {
        Take { source: self.source.align(whole), limit: self.limit }
    }
}
