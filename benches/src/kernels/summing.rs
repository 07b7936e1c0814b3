//! Kernels that reduce an array to one value.

use std::ops::Range;

use super::{Kernel, Shared};

/// A loop over `0..len()` whose iterations each give a number, and the sum of all is wanted.
pub(crate) trait SumKernel: Sync {
    /// Number of iterations.
    fn len(&self) -> usize;

    /// As [`Kernel::grain`].
    fn grain(&self) -> usize;

    /// What iteration `i` gives.
    fn one(&self, i: usize) -> u64;

    /// The (wrapping) sum over the iterations of `range`.
    fn chunk(&self, range: Range<usize>) -> u64;
}

/// The wrapping sum of an array of integers.
pub(crate) struct Sum<'a> {
    x: &'a [u64],
}

impl<'a> Sum<'a> {
    pub(crate) fn new(x: &'a [u64]) -> Self {
        Self { x }
    }
}

impl SumKernel for Sum<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn grain(&self) -> usize {
        4_096
    }

    #[inline(always)]
    fn one(&self, i: usize) -> u64 {
        self.x[i]
    }

    #[inline(always)]
    fn chunk(&self, range: Range<usize>) -> u64 {
        self.x[range].iter().fold(0, |sum, x| sum.wrapping_add(*x))
    }
}

/// Elements that are added up as one block in the sum that is bitwise the same for every number of threads.
pub(crate) const BLOCK: usize = 4_096;

/// `out[b]` is the sum of the `b`-th block of `x`; whoever adds up `out` in order has a reproducible sum.
pub(crate) struct BlockSums<'a> {
    x: &'a [f64],
    out: Shared<'a, f64>,
}

impl<'a> BlockSums<'a> {
    pub(crate) fn new(x: &'a [f64], out: &'a mut [f64]) -> Self {
        assert_eq!(out.len(), x.len().div_ceil(BLOCK));
        Self { x, out: Shared::new(out) }
    }
}

impl Kernel for BlockSums<'_> {
    fn len(&self) -> usize {
        self.out.len()
    }

    fn grain(&self) -> usize {
        1
    }

    #[inline(always)]
    unsafe fn one(&self, b: usize) {
        let block = &self.x[b * BLOCK..((b + 1) * BLOCK).min(self.x.len())];
        // SAFETY: handed through.
        unsafe { *self.out.at(b) = block.iter().sum() };
    }
}
