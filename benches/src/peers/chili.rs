//! chili: halving with `join`, down to pieces of about a microsecond. Pieces are shared only at heartbeats (100 us), so
//! a short loop runs on its caller.

use std::num::NonZero;
use std::ops::Range;

use ::chili::{Config, Scope, ThreadPool};
use anyhow::Result;

use super::{Caller, Peer, Setup, Sharing};
use crate::kernels::{Kernel, Nested, SumKernel};

pub(crate) struct Chili {
    pool: ThreadPool,
}

pub(crate) struct ChiliCaller<'p> {
    scope: Scope<'p>,
}

impl Peer for Chili {
    type Caller<'p> = ChiliCaller<'p>;

    fn build(setup: &Setup) -> Result<Self> {
        let config = Config { thread_count: NonZero::new(setup.width), ..Config::default() };
        Ok(Self { pool: ThreadPool::with_config(config) })
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut ChiliCaller<'p>) -> R + Send,
    ) -> R {
        f(&mut ChiliCaller { scope: self.pool.scope() })
    }
}

/// # Safety
///
/// No index of `range` runs elsewhere.
unsafe fn run<K: Kernel>(scope: &mut Scope<'_>, kernel: &K, range: Range<usize>) {
    if range.len() <= kernel.grain() {
        // SAFETY: the halves below are disjoint, so the caller's promise holds for each piece.
        unsafe { kernel.chunk(range) };
    } else {
        let middle = range.start + range.len() / 2;
        scope.join(
            // SAFETY: the two halves are disjoint parts of `range`.
            |scope| unsafe { run(scope, kernel, range.start..middle) },
            // SAFETY: as above.
            |scope| unsafe { run(scope, kernel, middle..range.end) },
        );
    }
}

fn sum<K: SumKernel>(scope: &mut Scope<'_>, kernel: &K, range: Range<usize>) -> u64 {
    if range.len() <= kernel.grain() {
        return kernel.chunk(range);
    }
    let middle = range.start + range.len() / 2;
    let (a, b) = scope.join(
        |scope| sum(scope, kernel, range.start..middle),
        |scope| sum(scope, kernel, middle..range.end),
    );
    a.wrapping_add(b)
}

/// # Safety
///
/// No row of `rows` runs elsewhere.
unsafe fn run_rows<N: Nested>(scope: &mut Scope<'_>, nest: &N, rows: Range<usize>) {
    if rows.len() <= 1 {
        for r in rows {
            // SAFETY: each row is reached once, and its indices run once.
            unsafe {
                let row = nest.row(r);
                run(scope, &row, 0..row.len());
            }
        }
    } else {
        let middle = rows.start + rows.len() / 2;
        scope.join(
            // SAFETY: the two halves are disjoint parts of `rows`.
            |scope| unsafe { run_rows(scope, nest, rows.start..middle) },
            // SAFETY: as above.
            |scope| unsafe { run_rows(scope, nest, middle..rows.end) },
        );
    }
}

impl Caller for ChiliCaller<'_> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        // SAFETY: this is the only run of the loop.
        unsafe { run(&mut self.scope, kernel, 0..kernel.len()) };
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        sum(&mut self.scope, kernel, 0..kernel.len())
    }

    fn nest<N: Nested>(&mut self, nest: &N) {
        // SAFETY: this is the only run of the nest.
        unsafe { run_rows(&mut self.scope, nest, 0..nest.rows()) };
    }
}
