//! The data of each operation, how it is started, and what it must have done.

use std::hint::black_box;

use anyhow::{Result, ensure};

use crate::kernels::{BLOCK, churn};
use crate::memory::Array;
use crate::peers::Caller;

/// An operation and its data.
pub(super) trait Work: Send {
    /// Gives the data their first values, by loops of the peer so that it is the first to touch their pages.
    fn start<C: Caller>(&mut self, caller: &mut C);

    /// The operation that is timed.
    fn operate<C: Caller>(&mut self, caller: &mut C);

    /// Compares the data after `start` and one `operate` with a plain loop's.
    fn check(&self) -> Result<()>;
}

/// That `got` is the sequence that `expected` gives by index, to the bit.
fn same<T: PartialEq + std::fmt::Debug>(got: &[T], expected: impl Fn(usize) -> T) -> Result<()> {
    for (i, got) in got.iter().enumerate() {
        let expected = expected(i);
        ensure!(*got == expected, "element {i} is {got:?} instead of {expected:?}");
    }
    Ok(())
}

fn value(i: usize) -> f64 {
    1.0 + (i % 1_000) as f64 * 1e-3
}

pub(super) struct AddOne {
    out: Array<u64>,
}

impl AddOne {
    pub(super) fn new(len: usize) -> Self {
        Self { out: Array::zeroed(len) }
    }
}

impl Work for AddOne {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.out, |i| i as u64);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        let grain = self.out.len() / 2;
        caller.add_one(&mut self.out, grain);
    }

    fn check(&self) -> Result<()> {
        same(&self.out, |i| i as u64 + 1)
    }
}

pub(super) struct Axpy {
    x: Array<f64>,
    y: Array<f64>,
}

/// Small, so that millions of operations on the same array stay in range.
const A: f64 = 1e-9;

impl Axpy {
    pub(super) fn new(len: usize) -> Self {
        Self { x: Array::zeroed(len), y: Array::zeroed(len) }
    }
}

impl Work for Axpy {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.x, value);
        caller.fill(&mut self.y, |_| 1.0);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        caller.axpy(A, &self.x, &mut self.y);
    }

    fn check(&self) -> Result<()> {
        same(&self.y, |i| 1.0 + A * value(i))
    }
}

pub(super) struct Stencil {
    n: usize,
    from: Array<f64>,
    to: Array<f64>,
}

impl Stencil {
    pub(super) fn new(n: usize) -> Self {
        Self { n, from: Array::zeroed(n * n * n), to: Array::zeroed(n * n * n) }
    }
}

impl Work for Stencil {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.from, value);
        caller.fill(&mut self.to, |_| 0.0);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        caller.stencil(self.n, &self.from, &mut self.to);
    }

    fn check(&self) -> Result<()> {
        let n = self.n;
        let inner = |i: usize| (1..n - 1).contains(&i);
        same(&self.to, |i| {
            if !(inner(i % n) && inner(i / n % n) && inner(i / n / n)) {
                return 0.0;
            }
            let f = |j: usize| value(j);
            let around = f(i - 1) + f(i + 1) + f(i - n) + f(i + n) + f(i - n * n) + f(i + n * n);
            0.4 * f(i) + 0.1 * around
        })
    }
}

pub(super) struct Triangular {
    x: Array<f64>,
    y: Array<f64>,
    out: Array<f64>,
}

impl Triangular {
    pub(super) fn new(len: usize) -> Self {
        Self { x: Array::zeroed(len), y: Array::zeroed(len), out: Array::zeroed(len) }
    }
}

impl Work for Triangular {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.x, value);
        caller.fill(&mut self.y, |i| 1.0 / value(i));
        caller.fill(&mut self.out, |_| 0.0);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        caller.triangular(&self.x, &self.y, &mut self.out);
    }

    fn check(&self) -> Result<()> {
        same(&self.out, |i| (0..=i).map(|j| value(j) * (1.0 / value(j))).sum())
    }
}

/// Iterations of chosen cost.
pub(super) struct Churn {
    units: Vec<u32>,
    out: Array<u64>,
}

impl Churn {
    fn new(units: Vec<u32>) -> Self {
        Self { out: Array::zeroed(units.len()), units }
    }

    /// The first twentieth of the iterations holds about nine tenths of the work.
    pub(super) fn hot_front(len: usize) -> Self {
        Self::new((0..len).map(|i| if i < len / 20 { 1_600 } else { 10 }).collect())
    }

    /// Costs of a Pareto distribution with index 1.1, cut at 20,000 units, in an order that a fixed seed shuffles.
    pub(super) fn heavy_tail(len: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(7);
        let unit = |u: f64| (15.0 * (1.0 - u).powf(-1.0 / 1.1)).min(20_000.0) as u32;
        Self::new((0..len).map(|_| unit(random.f64())).collect())
    }
}

impl Work for Churn {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.out, |_| 0);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        caller.churn(&self.units, &mut self.out);
    }

    fn check(&self) -> Result<()> {
        same(&self.out, |i| churn(i as u64, self.units[i]))
    }
}

pub(super) struct Sum {
    x: Array<u64>,
    last: u64,
}

impl Sum {
    pub(super) fn new(len: usize) -> Self {
        Self { x: Array::zeroed(len), last: 0 }
    }
}

impl Work for Sum {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.x, |i| i as u64);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        self.last = black_box(caller.sum(&self.x));
    }

    fn check(&self) -> Result<()> {
        same(&[self.last], |_| (0..self.x.len() as u64).sum())
    }
}

pub(super) struct ReproducibleSum {
    x: Array<f64>,
    last: f64,
}

impl ReproducibleSum {
    pub(super) fn new(len: usize) -> Self {
        Self { x: Array::zeroed(len), last: 0.0 }
    }
}

impl Work for ReproducibleSum {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.x, |i| 1.0 / (i + 1) as f64);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        self.last = black_box(caller.reproducible_sum(&self.x));
    }

    fn check(&self) -> Result<()> {
        // Which sum it is that is reproduced is the peer's choice; all are close to that of blocks.
        let expected: f64 = self.x.chunks(BLOCK).map(|block| block.iter().sum::<f64>()).sum();
        let off = (self.last - expected).abs() / expected;
        ensure!(off < 1e-13, "the sum is {} instead of {expected}", self.last);
        Ok(())
    }
}

pub(super) struct Nested {
    rows: usize,
    out: Array<u64>,
}

impl Nested {
    pub(super) fn new(rows: usize, len: usize) -> Self {
        Self { rows, out: Array::zeroed(rows * len) }
    }
}

impl Work for Nested {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.out, |_| 1);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        caller.nested(self.rows, &mut self.out);
    }

    fn check(&self) -> Result<()> {
        let len = self.out.len() / self.rows;
        same(&self.out, |i| churn(1 ^ (i % len) as u64, 2))
    }
}

/// The longest prefix of [`Mixed`].
pub(super) const MIXED_LONGEST: usize = 100_000;

/// One place in a program that runs loops of very different lengths in turn.
pub(super) struct Mixed {
    axpy: Axpy,
    lengths: Vec<usize>,
}

impl Mixed {
    pub(super) fn new() -> Self {
        let mut random = fastrand::Rng::with_seed(11);
        let decades = (MIXED_LONGEST as f64 / 100.0).log10();
        let lengths = (0..32).map(|_| (100.0 * 10f64.powf(decades * random.f64())) as usize);
        Self { axpy: Axpy::new(MIXED_LONGEST), lengths: lengths.collect() }
    }
}

impl Work for Mixed {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        self.axpy.start(caller);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        for &len in &self.lengths {
            caller.axpy(A, &self.axpy.x[..len], &mut self.axpy.y[..len]);
        }
    }

    fn check(&self) -> Result<()> {
        same(&self.axpy.y, |i| {
            let times = self.lengths.iter().filter(|len| i < **len).count();
            (0..times).fold(1.0, |y, _| y + A * value(i))
        })
    }
}

/// A loop whose body can fail; where, if anywhere, is chosen.
pub(super) struct Checked {
    x: Array<f64>,
    out: Array<f64>,
    fails_at: Option<usize>,
    last: Result<(), usize>,
}

impl Checked {
    pub(super) fn new(len: usize, fails_at: Option<usize>) -> Self {
        Self { x: Array::zeroed(len), out: Array::zeroed(len), fails_at, last: Ok(()) }
    }

    fn expected(&self) -> Result<(), usize> {
        self.fails_at.map_or(Ok(()), Err)
    }
}

impl Work for Checked {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        let fails_at = self.fails_at;
        caller.fill(&mut self.x, |i| if Some(i) == fails_at { -1.0 } else { value(i) });
        caller.fill(&mut self.out, |_| 0.0);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        self.last = black_box(caller.checked(&self.x, &mut self.out));
    }

    fn check(&self) -> Result<()> {
        let expected = self.expected();
        ensure!(
            self.last == expected,
            "the loop left with {:?} instead of {expected:?}",
            self.last
        );
        if self.fails_at.is_none() {
            same(&self.out, |i| value(i).sqrt())?;
        }
        Ok(())
    }
}

pub(super) struct Map {
    x: Array<f64>,
    last: Vec<f64>,
}

impl Map {
    pub(super) fn new(len: usize) -> Self {
        Self { x: Array::zeroed(len), last: Vec::new() }
    }
}

impl Work for Map {
    fn start<C: Caller>(&mut self, caller: &mut C) {
        caller.fill(&mut self.x, value);
    }

    fn operate<C: Caller>(&mut self, caller: &mut C) {
        self.last = black_box(caller.mapped(&self.x));
    }

    fn check(&self) -> Result<()> {
        ensure!(
            self.last.len() == self.x.len(),
            "{} values instead of {}",
            self.last.len(),
            self.x.len()
        );
        same(&self.last, |i| value(i).sqrt() + 1.0)
    }
}
