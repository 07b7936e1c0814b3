//! A slice that is handed out in disjoint parts, each to be changed by whoever holds it.

use std::marker::PhantomData;
use std::ops::Range;

/// A `&mut [T]` given up for parts of it.
#[derive(Debug)]
pub(super) struct Disjoint<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: through a shared `Disjoint` a thread can get parts of the slice, which moves `&mut T` between threads; that is
// sound for `T: Send`. No `&T` is shared.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

// SAFETY: it stands for a `&mut [T]`, which is `Send` where `T` is.
unsafe impl<T: Send> Send for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    #[inline]
    pub(super) fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The elements `part` of the slice.
    ///
    /// # Safety
    ///
    /// No element is in two parts that are asked for, over the whole life of `self`.
    ///
    /// # Panics
    ///
    /// If `part` is not within the slice.
    #[inline]
    pub(super) unsafe fn part(&self, part: Range<usize>) -> &'a mut [T] {
        assert!(part.start <= part.end && part.end <= self.len, "a part lies within its slice");
        // SAFETY: the part is within the slice that `start` and `len` were taken from, which stays borrowed for `'a` by whoever
        // made `self` and is not used through that borrow any more. No other reference to these elements is made, as the caller
        // promises, so this one is unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(part.start), part.len()) }
    }
}
