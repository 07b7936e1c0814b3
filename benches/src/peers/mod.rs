//! The ways to run a loop that are compared, each in its own file and in its own idiom.
//!
//! A [`Peer`] is what its user makes once (a pool); a [`Caller`] is what one thread holds to launch loops on it. The
//! lines are methods of the caller with a body in terms of the kernels, so that a peer whose idiom is a loop in the
//! source (an attribute) can write each line as such a loop instead.

#[cfg(feature = "bevy")]
mod bevy;
#[cfg(feature = "chili")]
mod chili;
mod floor;
#[cfg(feature = "fork-union")]
mod fork_union;
#[cfg(feature = "forte")]
mod forte;
mod locsteal;
#[cfg(feature = "openmp")]
mod openmp;
#[cfg(feature = "orx")]
mod orx;
#[cfg(feature = "paralight")]
mod paralight;
mod pinning;
mod rayon;
mod registry;
mod serial;
#[cfg(any(feature = "openmp", feature = "tbb"))]
mod shim;
#[cfg(feature = "tbb")]
mod tbb;
mod threads;
#[cfg(feature = "threadteam")]
mod threadteam;
#[cfg(feature = "tokio")]
mod tokio;

use std::mem::MaybeUninit;

use anyhow::Result;

use crate::kernels::{
    AddOne, Axpy, BLOCK, BlockSums, Checked, Churn, Fill, Kernel, Map, Nested, Rows,
    RowsAsIterations, Stencil, Sum, SumKernel, Triangular, TryKernel, Trying,
};

pub(crate) use registry::{Entry, entries};

/// What a peer is asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    /// Threads that work on a loop, the caller included.
    pub(crate) width: usize,
    /// Whether each worker is to be tied to a CPU of its own.
    pub(crate) pin: bool,
}

/// Whether one thread launches loops, or several at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    Alone,
    Several,
}

/// A way to run loops: a pool and how it is used.
pub(crate) trait Peer: Sync + Sized + 'static {
    /// A thread's handle to launch loops.
    type Caller<'p>: Caller;

    /// Makes the pool. An error says what is missing.
    fn build(setup: &Setup) -> Result<Self>;

    /// Runs `f` on the calling thread, or on a thread of the pool where that is the peer's idiom.
    fn enter<'p, R: Send>(
        &'p self,
        sharing: Sharing,
        f: impl FnOnce(&mut Self::Caller<'p>) -> R + Send,
    ) -> R;
}

/// A thread that launches loops.
///
/// Every peer gives the first two methods; those after them have a body that a user of a plain parallel-for would
/// write, and are replaced by peers that offer more. The last group are the lines themselves.
pub(crate) trait Caller {
    /// Runs every iteration of `kernel` once.
    fn for_each<K: Kernel>(&mut self, kernel: &K);

    /// The wrapping sum of what the iterations of `kernel` give.
    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64;

    /// Runs a loop of loops. Without nesting only the outer loop is parallel.
    fn nest<N: Nested>(&mut self, nest: &N) {
        self.for_each(&RowsAsIterations(nest));
    }

    /// Runs iterations until one fails.
    fn try_for_each<K: TryKernel>(&mut self, kernel: &K) -> Result<(), usize> {
        let trying = Trying::new(kernel);
        self.for_each(&trying);
        trying.outcome()
    }

    /// The values of all iterations in order.
    fn collect(&mut self, map: &Map<'_>) -> Vec<f64> {
        let mut values = Vec::with_capacity(map.len());
        let room = &mut values.spare_capacity_mut()[..map.len()];
        self.for_each(&Fill::new(room, |i| MaybeUninit::new(map.value(i))));
        // SAFETY: the loop has run every iteration once, and iteration `i` has written element `i`.
        unsafe { values.set_len(map.len()) };
        values
    }

    /// `out[i] = value(i)`, so that pages are first touched by whom later loops of this length give them to.
    fn fill<T: Copy + Send>(&mut self, out: &mut [T], value: impl Fn(usize) -> T + Sync) {
        self.for_each(&Fill::new(out, value));
    }

    fn add_one(&mut self, out: &mut [u64], grain: usize) {
        self.for_each(&AddOne::new(out, grain));
    }

    fn axpy(&mut self, a: f64, x: &[f64], y: &mut [f64]) {
        self.for_each(&Axpy::new(a, x, y));
    }

    fn stencil(&mut self, n: usize, from: &[f64], to: &mut [f64]) {
        self.for_each(&Stencil::new(n, from, to));
    }

    fn triangular(&mut self, x: &[f64], y: &[f64], out: &mut [f64]) {
        self.for_each(&Triangular::new(x, y, out));
    }

    fn churn(&mut self, units: &[u32], out: &mut [u64]) {
        self.for_each(&Churn::new(units, out));
    }

    fn sum(&mut self, x: &[u64]) -> u64 {
        self.sum_of(&Sum::new(x))
    }

    fn reproducible_sum(&mut self, x: &[f64]) -> f64 {
        let mut blocks = vec![0.0; x.len().div_ceil(BLOCK)];
        self.for_each(&BlockSums::new(x, &mut blocks));
        blocks.iter().sum()
    }

    fn nested(&mut self, rows: usize, out: &mut [u64]) {
        self.nest(&Rows::new(rows, out));
    }

    fn checked(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), usize> {
        self.try_for_each(&Checked::new(x, out))
    }

    fn mapped(&mut self, x: &[f64]) -> Vec<f64> {
        self.collect(&Map::new(x))
    }
}

/// A way to have a closure run by another thread and to wait for its answer.
pub(crate) trait Offload: Send + Sized + 'static {
    /// Makes the executor. An error says what is missing.
    fn build(setup: &Setup) -> Result<Self>;

    /// Hands over a closure that computes [`answer`]`(x)` and waits for the answer.
    fn round_trip(&mut self, x: u64) -> u64;
}

/// What an offloaded job computes: next to nothing.
#[inline]
pub(crate) fn answer(x: u64) -> u64 {
    std::hint::black_box(x).wrapping_mul(3)
}
