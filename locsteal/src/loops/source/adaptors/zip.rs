//! `zip`: two sources side by side.

use std::iter;

use super::super::{
    DetachedSource, ExactSource, First, IndexedSource, Length, ParallelSource, RepeatableSource,
    Second, Take,
};

/// Pairs of the items that two sources have at the same position, as long as both have one. Made by
/// [`ParallelSource::zip`].
#[derive(Clone, Copy, Debug)]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A, B> Zip<A, B> {
    #[inline]
    pub(crate) fn new(a: A, b: B) -> Self {
        Self { a, b }
    }

    /// The two sources.
    #[inline]
    pub(in crate::loops) fn sources(&self) -> (&A, &B) {
        (&self.a, &self.b)
    }
}

// SAFETY:
// 1. By this promise of both sources.
// 2. Positions are those of both sources, which have at least as many, so both chunks yield the same number of items.
// 3. and 4. By the same promises of both sources. Items of the longer one that have no partner are in no chunk.
unsafe impl<A: ParallelSource, B: ParallelSource> ParallelSource for Zip<A, B> {
    type Item = (A::Item, B::Item);
    type Chunk = iter::Zip<A::Chunk, B::Chunk>;

    #[inline]
    fn length(&self) -> Length {
        self.a.length().min(self.b.length())
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> Self::Chunk {
        // SAFETY: 5. and 6. since the positions are those of both sources; 7. since they are parts of `self`.
        unsafe { iter::zip(self.a.chunk(first, last), self.b.chunk(first, last)) }
    }
}

// SAFETY: a chunk is made of a chunk of each source.
unsafe impl<A: DetachedSource, B: DetachedSource> DetachedSource for Zip<A, B> {}

// SAFETY: a chunk is made of a chunk of each source.
unsafe impl<A: RepeatableSource, B: RepeatableSource> RepeatableSource for Zip<A, B> {}

impl<P, A: IndexedSource<P>, B: ParallelSource> IndexedSource<First<P>> for Zip<A, B> {
    type Aligned<W: ExactSource> = Take<A::Aligned<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.a.index(position)
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W> {
        Take::new(self.a.align(whole), self.length())
    }
}

impl<P, A: ParallelSource, B: IndexedSource<P>> IndexedSource<Second<P>> for Zip<A, B> {
    type Aligned<W: ExactSource> = Take<B::Aligned<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.b.index(position)
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W> {
        Take::new(self.b.align(whole), self.length())
    }
}
