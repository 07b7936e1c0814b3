//! Elements that are given away: `Vec` and arrays by value.
//!
//! The source keeps the memory and gives the elements away. A chunk owns the elements of its positions: it moves out those
//! that its loop takes, and drops the others when it is dropped, be it early. Elements of positions that no chunk was made
//! for, since the loop was left, are dropped with the source, which keeps a set of the positions given away for that.

use std::cell::UnsafeCell;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use std::ops::Range;

use super::{IntoParallelSource, Length, ParallelSource, PositionSet};
use crate::panics::drop_all;

/// Memory with elements that may have been moved out of it.
///
/// # Safety
///
/// Both functions give the same answer each time, as long as `self` is not moved. At `elements` there are `len` values of
/// `T` in a row that were valid when the storage was made. Dropping the storage does not drop them.
pub unsafe trait Storage<T> {
    #[doc(hidden)]
    fn elements(&self) -> *const T;
    #[doc(hidden)]
    fn len(&self) -> usize;
}

// SAFETY: a vector's elements stand in a row on the heap, and `MaybeUninit` drops nothing.
unsafe impl<T> Storage<T> for Vec<MaybeUninit<T>> {
    #[inline]
    fn elements(&self) -> *const T {
        self.as_ptr().cast()
    }

    #[inline]
    fn len(&self) -> usize {
        self.len()
    }
}

// SAFETY: an array's elements stand in a row, and `MaybeUninit` drops nothing. The cell allows the elements to be dropped in
// place, which takes more than what a shared reference to the array would give.
unsafe impl<T, const N: usize> Storage<T> for UnsafeCell<MaybeUninit<[T; N]>> {
    #[inline]
    fn elements(&self) -> *const T {
        self.get().cast_const().cast()
    }

    #[inline]
    fn len(&self) -> usize {
        N
    }
}

/// The elements of a `Vec`, by value.
pub type OwnedVec<T> = Owned<T, Vec<MaybeUninit<T>>>;

/// The elements of an array, by value.
pub type OwnedArray<T, const N: usize> = Owned<T, UnsafeCell<MaybeUninit<[T; N]>>>;

/// Elements that are given away to the chunks.
pub struct Owned<T, M: Storage<T>> {
    memory: M,
    /// The positions that chunks were made for; absent where dropping an element does nothing.
    given: Option<PositionSet>,
    element: PhantomData<T>,
}

// SAFETY: through a shared `Owned` a thread can only take elements away, each of them once; so elements move between
// threads, which `T: Send` allows, and none is shared.
unsafe impl<T: Send, M: Storage<T>> Sync for Owned<T, M> {}

impl<T, M: Storage<T>> Owned<T, M> {
    /// Takes over the elements in `memory`.
    fn new(memory: M) -> Self {
        let given = needs_drop::<T>().then(|| PositionSet::new(memory.len()));
        Self { memory, given, element: PhantomData }
    }
}

// SAFETY:
// 1. By the contract of `Storage`.
// 2. The chunk moves out the elements at its positions in order, and knows no others.
// 3. By promise 6 no two chunks have an element in common, and the set of positions is made for being
//    added to from several threads. The source is `Sync` only if `T` is `Send`.
// 4. The chunk drops what it does not yield. It was added to the set, so that the source leaves its elements alone; the
//    elements of other positions are dropped with the source.
unsafe impl<T, M: Storage<T>> ParallelSource for Owned<T, M> {
    type Item = T;
    type Chunk = OwnedChunk<T>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.memory.len())
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> OwnedChunk<T> {
        let (first, last) = (first as usize, last as usize);
        assert!(first <= last && last < self.memory.len(), "a chunk lies within its source");
        if let Some(given) = &self.given {
            given.insert(first, last);
        }
        OwnedChunk { elements: self.memory.elements(), left: first..last + 1 }
    }
}

impl<T, M: Storage<T>> Drop for Owned<T, M> {
    fn drop(&mut self) {
        if let Some(given) = &mut self.given {
            // SAFETY: the elements were valid when the storage was made. No chunk was made for these positions, so they are
            // still there, and the set names each position once.
            unsafe { drop_elements(self.memory.elements(), given.positions(false)) };
        }
    }
}

/// Drops the elements at `positions`, as [`drop_all`] does.
///
/// # Safety
///
/// At each position there is a valid element that nobody uses afterwards, and no position comes twice.
pub(crate) unsafe fn drop_elements<T>(elements: *const T, positions: impl Iterator<Item = usize>) {
    // SAFETY: as the caller promises; the iterator is past the position before the element is dropped.
    drop_all(positions.map(|position| unsafe { elements.add(position).read() }));
}

/// The elements at some positions, by value.
pub struct OwnedChunk<T> {
    elements: *const T,
    left: Range<usize>,
}

impl<T> Iterator for OwnedChunk<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let at = self.left.next()?;
        // SAFETY: the chunk owns the elements of the positions that are left, the storage outlives it by promise 7, and the
        // position has just been taken from what is left.
        Some(unsafe { self.elements.add(at).read() })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<T> DoubleEndedIterator for OwnedChunk<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        let at = self.left.next_back()?;
        // SAFETY: as in `next`.
        Some(unsafe { self.elements.add(at).read() })
    }
}

impl<T> ExactSizeIterator for OwnedChunk<T> {}
impl<T> FusedIterator for OwnedChunk<T> {}

impl<T> Drop for OwnedChunk<T> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() && !self.left.is_empty() {
            drop_all(self);
        }
    }
}

impl<T, M: Storage<T>> fmt::Debug for Owned<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("len", &self.memory.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for OwnedChunk<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedChunk").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<T> IntoParallelSource for Vec<T> {
    type Item = T;
    type Source = OwnedVec<T>;

    fn into_parallel_source(self) -> OwnedVec<T> {
        let mut vec = ManuallyDrop::new(self);
        // SAFETY: the three parts are those of a vector that is forgotten, and `MaybeUninit<T>` has the layout of `T`.
        Owned::new(unsafe {
            Vec::from_raw_parts(vec.as_mut_ptr().cast(), vec.len(), vec.capacity())
        })
    }
}

impl<T> IntoParallelSource for Box<[T]> {
    type Item = T;
    type Source = OwnedVec<T>;

    fn into_parallel_source(self) -> OwnedVec<T> {
        self.into_vec().into_parallel_source()
    }
}

impl<T, const N: usize> IntoParallelSource for [T; N] {
    type Item = T;
    type Source = OwnedArray<T, N>;

    fn into_parallel_source(self) -> OwnedArray<T, N> {
        Owned::new(UnsafeCell::new(MaybeUninit::new(self)))
    }
}
