//! The loop bodies, written once. Every peer runs the same machine code for a piece of a loop and differs only in how
//! it cuts the loop into pieces and hands them out.
//!
//! A kernel offers one iteration ([`Kernel::one`]), for peers whose users write a closure per index, and a contiguous
//! piece ([`Kernel::chunk`]), for peers whose users get ranges.

mod even;
mod leaving;
mod summing;
mod uneven;

use std::marker::PhantomData;
use std::ops::Range;

pub(crate) use even::{AddOne, Axpy, Fill, Map, Stencil};
pub(crate) use leaving::{Checked, TryKernel, Trying};
pub(crate) use summing::{BLOCK, BlockSums, Sum, SumKernel};
pub(crate) use uneven::{Churn, Nested, Rows, RowsAsIterations, Triangular, churn};

/// A loop over `0..len()` whose iterations may run in any order and at the same time.
pub(crate) trait Kernel: Sync {
    /// Number of iterations.
    fn len(&self) -> usize;

    /// Number of iterations that are about one microsecond of work, at least 1: what a user who knows the loop tells
    /// a pool that asks for the smallest piece worth handing out.
    fn grain(&self) -> usize;

    /// Runs iteration `i`.
    ///
    /// # Safety
    ///
    /// `i < len()`, and no other call for the same `i` runs at the same time.
    unsafe fn one(&self, i: usize);

    /// Runs the iterations of `range` in order.
    ///
    /// # Safety
    ///
    /// As for [`one`](Self::one), for every index of `range`.
    #[inline(always)]
    unsafe fn chunk(&self, range: Range<usize>) {
        for i in range {
            // SAFETY: handed through.
            unsafe { self.one(i) };
        }
    }
}

/// A mutable slice that several threads write to, each at its own indices.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the only access is through the unsafe methods below, whose contract forbids two threads at one index; `T` may
// be handed to another thread.
unsafe impl<T: Send> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The element at `i`.
    ///
    /// # Safety
    ///
    /// `i < len`, and no other reference to that element is alive.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "the caller promises that no two references meet")]
    pub(crate) unsafe fn at(&self, i: usize) -> &mut T {
        debug_assert!(i < self.len);
        // SAFETY: inside the slice, and exclusive by the caller's promise.
        unsafe { &mut *self.start.add(i) }
    }

    /// The elements of `range`.
    ///
    /// # Safety
    ///
    /// `range` lies in `0..len`, and no other reference to any of its elements is alive.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "the caller promises that no two references meet")]
    pub(crate) unsafe fn window(&self, range: Range<usize>) -> &mut [T] {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: inside the slice, and exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}
