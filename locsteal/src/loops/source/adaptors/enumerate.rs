//! `enumerate`: a source with the positions of its items.

use super::super::{
    DetachedSource, ExactSource, First, IndexedSource, Length, ParallelSource, RepeatableSource,
    Second, Shifted, Whole,
};

/// The items of a source, each behind its position. Made by [`ParallelSource::enumerate`].
#[derive(Clone, Copy, Debug)]
pub struct Enumerate<S> {
    source: S,
}

impl<S> Enumerate<S> {
    #[inline]
    pub(crate) fn new(source: S) -> Self {
        Self { source }
    }

    /// What is enumerated.
    #[inline]
    pub(in crate::loops) fn source(&self) -> &S {
        &self.source
    }
}

// SAFETY:
// 1. By this promise of the source.
// 2. Positions are those of the source, and each item has one partner.
// 3. and 4. By the same promises of the source; a position owns nothing.
unsafe impl<S: ParallelSource> ParallelSource for Enumerate<S> {
    type Item = (usize, S::Item);
    type Chunk = EnumerateChunk<S::Chunk>;

    #[inline]
    fn length(&self) -> Length {
        self.source.length()
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> Self::Chunk {
        EnumerateChunk {
            // SAFETY: 5. and 6. since the positions are those of the source; 7. since the source is a part of `self`.
            items: unsafe { self.source.chunk(first, last) },
            // Where a source has more items than `usize` has values, the positions begin anew, as they do in a serial loop
            // without overflow checks.
            next: first as usize,
            end: (last as usize).wrapping_add(1),
        }
    }
}

/// The items of a chunk, each behind its position in the whole source.
#[derive(Clone, Debug)]
pub struct EnumerateChunk<C> {
    items: C,
    next: usize,
    end: usize,
}

impl<C: Iterator> Iterator for EnumerateChunk<C> {
    type Item = (usize, C::Item);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.items.next()?;
        let position = self.next;
        self.next = position.wrapping_add(1);
        Some((position, item))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let item = self.items.nth(n)?;
        let position = self.next.wrapping_add(n);
        self.next = position.wrapping_add(1);
        Some((position, item))
    }

    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        let mut position = self.next;
        self.items.fold(init, |state, item| {
            let state = f(state, (position, item));
            position = position.wrapping_add(1);
            state
        })
    }
}

impl<C: DoubleEndedIterator> DoubleEndedIterator for EnumerateChunk<C> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let item = self.items.next_back()?;
        self.end = self.end.wrapping_sub(1);
        Some((self.end, item))
    }
}

impl<C: ExactSizeIterator> ExactSizeIterator for EnumerateChunk<C> {}

// SAFETY: a chunk is made of a chunk of the source and of plain values.
unsafe impl<S: DetachedSource> DetachedSource for Enumerate<S> {}

// SAFETY: a chunk is made of a chunk of the source and of plain values.
unsafe impl<S: RepeatableSource> RepeatableSource for Enumerate<S> {}

impl<S: ParallelSource> IndexedSource<First<Whole>> for Enumerate<S> {
    type Aligned<W: ExactSource> = Shifted<W>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        i128::try_from(position).unwrap_or(i128::MAX)
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Shifted<W> {
        Shifted::new(whole, 0, self.length())
    }
}

impl<P, S: IndexedSource<P>> IndexedSource<Second<P>> for Enumerate<S> {
    type Aligned<W: ExactSource> = S::Aligned<W>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.source.index(position)
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W> {
        self.source.align(whole)
    }
}
