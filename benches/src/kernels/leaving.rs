//! Kernels that may leave their loop early, as `?` does.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{Kernel, Shared};

/// A loop over `0..len()` whose iterations may fail; the failure of the lowest index is wanted.
pub(crate) trait TryKernel: Sync {
    /// Number of iterations.
    fn len(&self) -> usize;

    /// As [`Kernel::grain`].
    fn grain(&self) -> usize;

    /// Runs iteration `i`; an `Err` leaves the loop.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::one`].
    unsafe fn one(&self, i: usize) -> Result<(), usize>;
}

/// `out[i] = sqrt(x[i])`, or leaves with `i` when `x[i]` is negative.
pub(crate) struct Checked<'a> {
    x: &'a [f64],
    out: Shared<'a, f64>,
}

impl<'a> Checked<'a> {
    pub(crate) fn new(x: &'a [f64], out: &'a mut [f64]) -> Self {
        assert_eq!(x.len(), out.len());
        Self { x, out: Shared::new(out) }
    }
}

impl TryKernel for Checked<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn grain(&self) -> usize {
        512
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) -> Result<(), usize> {
        // SAFETY: `x` is as long as `out`, the rest is handed through.
        unsafe {
            let x = *self.x.get_unchecked(i);
            if x < 0.0 {
                return Err(i);
            }
            *self.out.at(i) = x.sqrt();
        }
        Ok(())
    }
}

/// How a user makes a loop leave early on a pool that knows no early exit: a shared bound, looked at before each
/// iteration or small group of them, and lowered by whoever fails.
pub(crate) struct Trying<'a, T> {
    inner: &'a T,
    bound: AtomicUsize,
}

impl<'a, T: TryKernel> Trying<'a, T> {
    pub(crate) fn new(inner: &'a T) -> Self {
        Self { inner, bound: AtomicUsize::new(usize::MAX) }
    }

    /// The outcome, once the loop has ended.
    pub(crate) fn outcome(self) -> Result<(), usize> {
        match self.bound.into_inner() {
            usize::MAX => Ok(()),
            i => Err(i),
        }
    }
}

impl<T: TryKernel> Kernel for Trying<'_, T> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn grain(&self) -> usize {
        self.inner.grain()
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        if i < self.bound.load(Relaxed) {
            // SAFETY: handed through.
            if let Err(i) = unsafe { self.inner.one(i) } {
                self.bound.fetch_min(i, Relaxed);
            }
        }
    }

    #[inline(always)]
    unsafe fn chunk(&self, range: Range<usize>) {
        let mut start = range.start;
        while start < range.end.min(self.bound.load(Relaxed)) {
            let end = range.end.min(start + self.inner.grain());
            for i in start..end {
                // SAFETY: handed through.
                if let Err(i) = unsafe { self.inner.one(i) } {
                    self.bound.fetch_min(i, Relaxed);
                    return;
                }
            }
            start = end;
        }
    }
}
