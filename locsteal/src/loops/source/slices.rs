//! Slices that are only read: elements, chunks and windows.

use std::slice;

use super::{DetachedSource, IntoParallelSource, Length, ParallelSource, RepeatableSource};

/// The elements of a slice, by reference.
#[derive(Debug)]
pub struct SliceSource<'a, T>(pub(super) &'a [T]);

/// Pieces of a slice, each as long as was asked for but for the last one.
#[derive(Debug)]
pub struct ChunksSource<'a, T> {
    slice: &'a [T],
    size: usize,
}

/// Pieces of a slice, each as long as was asked for.
#[derive(Debug)]
pub struct ChunksExactSource<'a, T> {
    slice: &'a [T],
    size: usize,
}

/// The overlapping pieces of a slice that are as long as was asked for, one beginning at each element.
#[derive(Debug)]
pub struct WindowsSource<'a, T> {
    slice: &'a [T],
    size: usize,
}

/// Pieces of a slice as sources: [`slice::chunks`] and its relatives, for parallel loops.
///
/// ```
/// use locsteal::source::ParallelSlice;
///
/// let cells = [1, 2, 3, 4, 5, 6];
/// let sums = locsteal::source(cells.par_chunks(4)).collect_vec(|part| part.iter().sum::<i32>());
/// assert_eq!(sums, [10, 11]);
/// ```
pub trait ParallelSlice<T> {
    /// Pieces of `size` elements, the last one shorter if the slice does not divide evenly.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    fn par_chunks(&self, size: usize) -> ChunksSource<'_, T>;

    /// Pieces of `size` elements, leaving out the last `len % size` elements.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    fn par_chunks_exact(&self, size: usize) -> ChunksExactSource<'_, T>;

    /// The pieces of `size` elements that begin at each element, as far as there are that many.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    fn par_windows(&self, size: usize) -> WindowsSource<'_, T>;
}

impl<T> ParallelSlice<T> for [T] {
    #[inline]
    #[track_caller]
    fn par_chunks(&self, size: usize) -> ChunksSource<'_, T> {
        assert!(size != 0, "chunk size must be non-zero");
        ChunksSource { slice: self, size }
    }

    #[inline]
    #[track_caller]
    fn par_chunks_exact(&self, size: usize) -> ChunksExactSource<'_, T> {
        assert!(size != 0, "chunk size must be non-zero");
        ChunksExactSource { slice: self, size }
    }

    #[inline]
    #[track_caller]
    fn par_windows(&self, size: usize) -> WindowsSource<'_, T> {
        assert!(size != 0, "window size must be non-zero");
        WindowsSource { slice: self, size }
    }
}

macro_rules! shared {
    ($($source:ident),*) => {$(
        impl<T> Clone for $source<'_, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $source<'_, T> {}

        // SAFETY: a chunk refers to the slice.
        unsafe impl<T> DetachedSource for $source<'_, T> {}

        // SAFETY: a chunk holds shared references to a slice that no source changes.
        unsafe impl<T> RepeatableSource for $source<'_, T> {}
    )*};
}

shared!(SliceSource, ChunksSource, ChunksExactSource, WindowsSource);

// All four: SAFETY:
// 1. The slice is borrowed and its length does not change.
// 2. See each `chunk`: it takes the part of the slice that holds the items of `first..=last`, and the standard library's
//    iterator over the same kind of pieces of that part. Slicing is checked, so a wrong part would panic.
// 3. A chunk is a shared reference into the slice; the source is `Sync` only if `T` is.
// 4. Items are references and own nothing.

// SAFETY: above; an item is an element.
unsafe impl<'a, T> ParallelSource for SliceSource<'a, T> {
    type Item = &'a T;
    type Chunk = slice::Iter<'a, T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.0.len())
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> slice::Iter<'a, T> {
        self.0[first as usize..=last as usize].iter()
    }
}

// SAFETY: above; item `k` begins at element `k * size`, and the part ends where the next item would begin or with the slice.
unsafe impl<'a, T> ParallelSource for ChunksSource<'a, T> {
    type Item = &'a [T];
    type Chunk = slice::Chunks<'a, T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.slice.len().div_ceil(self.size))
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> slice::Chunks<'a, T> {
        self.slice[pieces(self.slice.len(), self.size, first, last)].chunks(self.size)
    }
}

// SAFETY: above; item `k` is the `size` elements from `k * size` on.
unsafe impl<'a, T> ParallelSource for ChunksExactSource<'a, T> {
    type Item = &'a [T];
    type Chunk = slice::ChunksExact<'a, T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.slice.len() / self.size)
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> slice::ChunksExact<'a, T> {
        self.slice[pieces(self.slice.len(), self.size, first, last)].chunks_exact(self.size)
    }
}

// SAFETY: above; item `k` is the `size` elements from `k` on, so that the last item ends `size - 1` elements after it begins.
unsafe impl<'a, T> ParallelSource for WindowsSource<'a, T> {
    type Item = &'a [T];
    type Chunk = slice::Windows<'a, T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from((self.slice.len() + 1).saturating_sub(self.size))
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> slice::Windows<'a, T> {
        self.slice[first as usize..last as usize + self.size].windows(self.size)
    }
}

/// The elements of the pieces `first..=last` of a slice of `len` elements that is cut into pieces of `size`.
#[inline]
pub(super) fn pieces(len: usize, size: usize, first: u128, last: u128) -> std::ops::Range<usize> {
    // The last piece begins within the slice, but may be meant to end past the largest number.
    let end = (last as usize * size).saturating_add(size).min(len);
    first as usize * size..end
}

macro_rules! by_reference {
    ($(impl[$($generics:tt)*] for $t:ty;)*) => {$(
        impl<'a, $($generics)*> IntoParallelSource for &'a $t {
            type Item = &'a T;
            type Source = SliceSource<'a, T>;

            #[inline]
            fn into_parallel_source(self) -> SliceSource<'a, T> {
                SliceSource(self)
            }
        }
    )*};
}

by_reference! {
    impl[T] for [T];
    impl[T, const N: usize] for [T; N];
    impl[T] for Vec<T>;
    impl[T] for Box<[T]>;
}
