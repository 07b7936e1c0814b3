//! Slices whose elements the iterations may change: elements and chunks.

use std::slice;

use super::disjoint::Disjoint;
use super::slices::pieces;
use super::{DetachedSource, IntoParallelSource, Length, ParallelSource};

/// The elements of a slice, by mutable reference.
#[derive(Debug)]
pub struct SliceMutSource<'a, T>(Disjoint<'a, T>);

/// Pieces of a slice, each as long as was asked for but for the last one.
#[derive(Debug)]
pub struct ChunksMutSource<'a, T> {
    slice: Disjoint<'a, T>,
    size: usize,
}

/// Pieces of a slice, each as long as was asked for.
#[derive(Debug)]
pub struct ChunksExactMutSource<'a, T> {
    slice: Disjoint<'a, T>,
    size: usize,
}

/// Pieces of a slice as sources whose items may be changed: [`slice::chunks_mut`] and its relatives, for parallel loops.
///
/// ```
/// use locsteal::source::ParallelSliceMut;
///
/// let mut cells = [1, 2, 3, 4, 5, 6];
/// locsteal::source(cells.par_chunks_mut(4)).for_each(|part| part.reverse());
/// assert_eq!(cells, [4, 3, 2, 1, 6, 5]);
/// ```
pub trait ParallelSliceMut<T> {
    /// Pieces of `size` elements, the last one shorter if the slice does not divide evenly.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMutSource<'_, T>;

    /// Pieces of `size` elements, leaving out the last `len % size` elements.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksExactMutSource<'_, T>;
}

impl<T> ParallelSliceMut<T> for [T] {
    #[inline]
    #[track_caller]
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMutSource<'_, T> {
        assert!(size != 0, "chunk size must be non-zero");
        ChunksMutSource { slice: Disjoint::new(self), size }
    }

    #[inline]
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksExactMutSource<'_, T> {
        assert!(size != 0, "chunk size must be non-zero");
        ChunksExactMutSource { slice: Disjoint::new(self), size }
    }
}

// All three: SAFETY:
// 1. The slice's length is a plain value that nothing changes.
// 2. See each `chunk`: it takes the part of the slice that holds the items of `first..=last`, and the standard library's
//    iterator over the same kind of pieces of that part.
// 3. Parts of disjoint ranges of positions are disjoint; the source is `Sync` only if `T` is `Send`.
// 4. Items are references and own nothing.

// SAFETY: above; an item is an element.
unsafe impl<'a, T> ParallelSource for SliceMutSource<'a, T> {
    type Item = &'a mut T;
    type Chunk = slice::IterMut<'a, T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.0.len())
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> slice::IterMut<'a, T> {
        // SAFETY: by promise 6 no position is asked for twice, and a position is an element.
        unsafe { self.0.part(first as usize..last as usize + 1) }.iter_mut()
    }
}

// SAFETY: above; item `k` begins at element `k * size`, and the part ends where the next item would begin or with the slice.
unsafe impl<'a, T> ParallelSource for ChunksMutSource<'a, T> {
    type Item = &'a mut [T];
    type Chunk = slice::ChunksMut<'a, T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.slice.len().div_ceil(self.size))
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> slice::ChunksMut<'a, T> {
        let part = pieces(self.slice.len(), self.size, first, last);
        // SAFETY: by promise 6 no position is asked for twice, and an element belongs to one position.
        unsafe { self.slice.part(part) }.chunks_mut(self.size)
    }
}

// SAFETY: above; item `k` is the `size` elements from `k * size` on.
unsafe impl<'a, T> ParallelSource for ChunksExactMutSource<'a, T> {
    type Item = &'a mut [T];
    type Chunk = slice::ChunksExactMut<'a, T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.slice.len() / self.size)
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> slice::ChunksExactMut<'a, T> {
        let part = pieces(self.slice.len(), self.size, first, last);
        // SAFETY: by promise 6 no position is asked for twice, and an element belongs to one position at most.
        unsafe { self.slice.part(part) }.chunks_exact_mut(self.size)
    }
}

// SAFETY: a chunk refers to the slice.
unsafe impl<T> DetachedSource for SliceMutSource<'_, T> {}

// SAFETY: a chunk refers to the slice.
unsafe impl<T> DetachedSource for ChunksMutSource<'_, T> {}

// SAFETY: a chunk refers to the slice.
unsafe impl<T> DetachedSource for ChunksExactMutSource<'_, T> {}

macro_rules! by_mutable_reference {
    ($(impl[$($generics:tt)*] for $t:ty;)*) => {$(
        impl<'a, $($generics)*> IntoParallelSource for &'a mut $t {
            type Item = &'a mut T;
            type Source = SliceMutSource<'a, T>;

            #[inline]
            fn into_parallel_source(self) -> SliceMutSource<'a, T> {
                SliceMutSource(Disjoint::new(self))
            }
        }
    )*};
}

by_mutable_reference! {
    impl[T] for [T];
    impl[T, const N: usize] for [T; N];
    impl[T] for Vec<T>;
    impl[T] for Box<[T]>;
}
