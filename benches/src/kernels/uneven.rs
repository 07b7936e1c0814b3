//! Kernels whose iterations differ in cost, and loops inside loops.

use super::{Kernel, Shared};

/// `units` dependent steps of an xorshift generator, about 1.5 ns each: work that no compiler shortens.
#[inline(always)]
pub(crate) fn churn(seed: u64, units: u32) -> u64 {
    let mut x = seed | 1;
    for _ in 0..units {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

/// `out[i] = churn(i, units[i])`: iterations as uneven as `units` says.
pub(crate) struct Churn<'a> {
    units: &'a [u32],
    out: Shared<'a, u64>,
}

impl<'a> Churn<'a> {
    pub(crate) fn new(units: &'a [u32], out: &'a mut [u64]) -> Self {
        assert_eq!(units.len(), out.len());
        Self { units, out: Shared::new(out) }
    }
}

impl Kernel for Churn<'_> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn grain(&self) -> usize {
        // A single heavy iteration is worth handing out, and nobody knows where those are.
        1
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        // SAFETY: `units` is as long as `out`, the rest is handed through.
        unsafe { *self.out.at(i) = churn(i as u64, *self.units.get_unchecked(i)) };
    }
}

/// `out[i]` is the dot product of the first `i + 1` elements: iterations grow from front to back.
pub(crate) struct Triangular<'a> {
    x: &'a [f64],
    y: &'a [f64],
    out: Shared<'a, f64>,
}

impl<'a> Triangular<'a> {
    pub(crate) fn new(x: &'a [f64], y: &'a [f64], out: &'a mut [f64]) -> Self {
        assert!(x.len() == out.len() && y.len() == out.len());
        Self { x, y, out: Shared::new(out) }
    }
}

impl Kernel for Triangular<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn grain(&self) -> usize {
        1
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        let pairs = self.x[..=i].iter().zip(&self.y[..=i]);
        // SAFETY: handed through.
        unsafe { *self.out.at(i) = pairs.map(|(x, y)| x * y).sum() };
    }
}

/// A loop whose iterations are loops.
pub(crate) trait Nested: Sync {
    /// The inner loop.
    type Row<'a>: Kernel
    where
        Self: 'a;

    /// Number of outer iterations.
    fn rows(&self) -> usize;

    /// The inner loop of outer iteration `r`.
    ///
    /// # Safety
    ///
    /// `r < rows()`, and no other inner loop of the same `r` is alive.
    unsafe fn row(&self, r: usize) -> Self::Row<'_>;
}

/// `rows` equal parts of an array, each a loop of small, equal iterations (about 2.5 ns).
pub(crate) struct Rows<'a> {
    rows: usize,
    out: Shared<'a, u64>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(rows: usize, out: &'a mut [u64]) -> Self {
        assert!(rows > 0 && out.len().is_multiple_of(rows));
        Self { rows, out: Shared::new(out) }
    }
}

impl Nested for Rows<'_> {
    type Row<'a>
        = Row<'a>
    where
        Self: 'a;

    fn rows(&self) -> usize {
        self.rows
    }

    #[inline(always)]
    unsafe fn row(&self, r: usize) -> Row<'_> {
        let len = self.out.len() / self.rows;
        // SAFETY: parts of different rows do not meet, so exclusive use of `r` is exclusive use of its part.
        Row { out: Shared::new(unsafe { self.out.window(r * len..(r + 1) * len) }) }
    }
}

/// One inner loop of [`Rows`].
pub(crate) struct Row<'a> {
    out: Shared<'a, u64>,
}

impl Kernel for Row<'_> {
    fn len(&self) -> usize {
        self.out.len()
    }

    fn grain(&self) -> usize {
        400
    }

    #[inline(always)]
    unsafe fn one(&self, i: usize) {
        // SAFETY: handed through.
        let out = unsafe { self.out.at(i) };
        *out = churn(*out ^ i as u64, 2);
    }
}

/// The outer loop of a nest whose inner loops run serially: what is left to peers that cannot nest.
pub(crate) struct RowsAsIterations<'a, N>(pub(crate) &'a N);

impl<N: Nested> Kernel for RowsAsIterations<'_, N> {
    fn len(&self) -> usize {
        self.0.rows()
    }

    fn grain(&self) -> usize {
        1
    }

    #[inline(always)]
    unsafe fn one(&self, r: usize) {
        // SAFETY: one call per outer iteration, so its inner loop is alive once and each inner index runs once.
        unsafe {
            let row = self.0.row(r);
            row.chunk(0..row.len());
        }
    }
}
