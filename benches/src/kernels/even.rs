//! Kernels whose iterations all cost the same.

use std::ops::Range;

use super::{Kernel, Shared};

/// `out[i] += 1`: as little work as a loop can do.
pub(crate) struct AddOne<'a> {
    out: Shared<'a, u64>,
    grain: usize,
}

impl<'a> AddOne<'a> {
    /// `grain` is given by the line: launches are measured with at least two pieces to hand out, however small.
    pub(crate) fn new(out: &'a mut [u64], grain: usize) -> Self {
        Self { out: Shared::new(out), grain }
    }
}

impl Kernel for AddOne<'_> {
    fn len(&self) -> usize {
        self.out.len()
    }

    fn grain(&self) -> usize {
        self.grain
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        // SAFETY: handed through.
        let out = unsafe { self.out.at(i) };
        *out = out.wrapping_add(1);
    }

    #[inline(always)]
    unsafe fn chunk(&self, range: Range<usize>) {
        // SAFETY: handed through.
        for out in unsafe { self.out.window(range) } {
            *out = out.wrapping_add(1);
        }
    }
}

/// `y[i] += a * x[i]`.
pub(crate) struct Axpy<'a> {
    a: f64,
    x: &'a [f64],
    y: Shared<'a, f64>,
}

impl<'a> Axpy<'a> {
    pub(crate) fn new(a: f64, x: &'a [f64], y: &'a mut [f64]) -> Self {
        assert_eq!(x.len(), y.len());
        Self { a, x, y: Shared::new(y) }
    }
}

impl Kernel for Axpy<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn grain(&self) -> usize {
        4_096
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        // SAFETY: `x` is as long as `y`, the rest is handed through.
        unsafe { *self.y.at(i) += self.a * self.x.get_unchecked(i) };
    }

    #[inline(always)]
    unsafe fn chunk(&self, range: Range<usize>) {
        let x = &self.x[range.clone()];
        // SAFETY: handed through.
        let y = unsafe { self.y.window(range) };
        for (y, x) in y.iter_mut().zip(x) {
            *y += self.a * x;
        }
    }
}

/// The 7-point stencil on an `n`-cubed grid; an iteration is one row of inner cells.
pub(crate) struct Stencil<'a> {
    n: usize,
    from: &'a [f64],
    to: Shared<'a, f64>,
}

impl<'a> Stencil<'a> {
    pub(crate) fn new(n: usize, from: &'a [f64], to: &'a mut [f64]) -> Self {
        assert!(n >= 3 && from.len() == n * n * n && to.len() == from.len());
        Self { n, from, to: Shared::new(to) }
    }
}

impl Kernel for Stencil<'_> {
    fn len(&self) -> usize {
        (self.n - 2) * (self.n - 2)
    }

    fn grain(&self) -> usize {
        (2_048 / (self.n - 2)).max(1)
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        let n = self.n;
        let inner = n - 2;
        let start = (i / inner + 1) * n * n + (i % inner + 1) * n + 1;
        let row = |start: usize| &self.from[start..start + inner];
        let (west, here, east) = (row(start - 1), row(start), row(start + 1));
        let (south, north) = (row(start - n), row(start + n));
        let (down, up) = (row(start - n * n), row(start + n * n));
        // SAFETY: rows of different iterations do not meet, so exclusive use of `i` is exclusive use of its row.
        let to = unsafe { self.to.window(start..start + inner) };
        for (k, to) in to.iter_mut().enumerate() {
            let around = west[k] + east[k] + south[k] + north[k] + down[k] + up[k];
            *to = 0.4 * here[k] + 0.1 * around;
        }
    }
}

/// `out[i] = value(i)`: writes an array for the first time.
pub(crate) struct Fill<'a, T, F> {
    out: Shared<'a, T>,
    value: F,
}

impl<'a, T, F: Fn(usize) -> T> Fill<'a, T, F> {
    pub(crate) fn new(out: &'a mut [T], value: F) -> Self {
        Self { out: Shared::new(out), value }
    }
}

impl<T: Copy + Send, F: Fn(usize) -> T + Sync> Kernel for Fill<'_, T, F> {
    fn len(&self) -> usize {
        self.out.len()
    }

    fn grain(&self) -> usize {
        4_096
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        // SAFETY: handed through.
        unsafe { *self.out.at(i) = (self.value)(i) };
    }
}

/// `sqrt(x[i]) + 1`: what the lines that yield an array yield.
pub(crate) struct Map<'a> {
    x: &'a [f64],
}

impl<'a> Map<'a> {
    pub(crate) fn new(x: &'a [f64]) -> Self {
        Self { x }
    }

    pub(crate) fn len(&self) -> usize {
        self.x.len()
    }

    /// The value of iteration `i`.
    #[inline(always)]
    pub(crate) fn value(&self, i: usize) -> f64 {
        self.x[i].sqrt() + 1.0
    }
}
