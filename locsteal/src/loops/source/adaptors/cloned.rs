//! `copied` and `cloned`: values instead of references.

use std::iter;

use super::super::{
    DetachedSource, ExactSource, IndexedSource, Length, ParallelSource, RepeatableSource,
};

/// Copies of what the items of a source refer to. Made by [`ParallelSource::copied`].
#[derive(Clone, Copy, Debug)]
pub struct Copied<S> {
    source: S,
}

/// Clones of what the items of a source refer to, each made when its iteration begins. Made by [`ParallelSource::cloned`].
#[derive(Clone, Copy, Debug)]
pub struct Cloned<S> {
    source: S,
}

macro_rules! by_value {
    ($source:ident, $method:ident, $bound:ident) => {
        impl<S> $source<S> {
            #[inline]
            pub(crate) fn new(source: S) -> Self {
                Self { source }
            }
        }

        // SAFETY:
        // 1. By this promise of the source.
        // 2. Positions are those of the source, and each item becomes one item.
        // 3. By this promise of the source; copies are made on the chunk's thread, from references that the source gave to it.
        // 4. By this promise of the source; a copy is made for whoever takes it.
        unsafe impl<'a, T: $bound + 'a, S: ParallelSource<Item = &'a T>> ParallelSource
            for $source<S>
        {
            type Item = T;
            type Chunk = iter::$source<S::Chunk>;

            #[inline]
            fn length(&self) -> Length {
                self.source.length()
            }

            #[inline]
            unsafe fn chunk(&self, first: u128, last: u128) -> Self::Chunk {
                // SAFETY: 5. and 6. since the positions are those of the source; 7. since the source is a part of `self`.
                unsafe { self.source.chunk(first, last) }.$method()
            }
        }

        // SAFETY: a chunk is made of a chunk of the source.
        unsafe impl<'a, T: $bound + 'a, S: DetachedSource<Item = &'a T>> DetachedSource
            for $source<S>
        {
        }

        // SAFETY: a chunk is made of a chunk of the source.
        unsafe impl<'a, T: $bound + 'a, S: RepeatableSource<Item = &'a T>> RepeatableSource
            for $source<S>
        {
        }

        impl<'a, T: $bound + 'a, P, S: IndexedSource<P, Item = &'a T>> IndexedSource<P>
            for $source<S>
        {
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
    };
}

by_value!(Copied, copied, Copy);
by_value!(Cloned, cloned, Clone);
