//! forte: halving with `join`, down to pieces of about a microsecond, by a thread that is registered as a worker while
//! it runs the program. Pieces are shared only at heartbeats (100 us), so a short loop runs on its caller.

use std::ops::Range;
use std::sync::mpsc;

use ::forte::{ThreadPool, Worker};
use anyhow::Result;

use super::{Caller, Offload, Peer, Setup, Sharing, answer};
use crate::kernels::{Kernel, Nested, SumKernel};

/// forte's pools must be static.
static POOL: ThreadPool = ThreadPool::new();

pub(crate) struct Forte;

impl Peer for Forte {
    type Caller<'p> = Self;

    fn build(setup: &Setup) -> Result<Self> {
        // The caller is one of the workers.
        POOL.resize_to(setup.width - 1);
        Ok(Self)
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut Self::Caller<'p>) -> R + Send,
    ) -> R {
        POOL.with_worker(|_| f(&mut Self))
    }
}

/// # Safety
///
/// No index of `range` runs elsewhere.
unsafe fn run<K: Kernel>(worker: &Worker, kernel: &K, range: Range<usize>) {
    if range.len() <= kernel.grain() {
        // SAFETY: the halves below are disjoint, so the caller's promise holds for each piece.
        unsafe { kernel.chunk(range) };
    } else {
        let middle = range.start + range.len() / 2;
        // The second closure is the one that `join` runs first.
        worker.join(
            // SAFETY: the two halves are disjoint parts of `range`.
            |worker| unsafe { run(worker, kernel, middle..range.end) },
            // SAFETY: as above.
            |worker| unsafe { run(worker, kernel, range.start..middle) },
        );
    }
}

fn sum<K: SumKernel>(worker: &Worker, kernel: &K, range: Range<usize>) -> u64 {
    if range.len() <= kernel.grain() {
        return kernel.chunk(range);
    }
    let middle = range.start + range.len() / 2;
    let (b, a) = worker.join(
        |worker| sum(worker, kernel, middle..range.end),
        |worker| sum(worker, kernel, range.start..middle),
    );
    a.wrapping_add(b)
}

/// # Safety
///
/// No row of `rows` runs elsewhere.
unsafe fn run_rows<N: Nested>(worker: &Worker, nest: &N, rows: Range<usize>) {
    if rows.len() <= 1 {
        for r in rows {
            // SAFETY: each row is reached once, and its indices run once.
            unsafe {
                let row = nest.row(r);
                run(worker, &row, 0..row.len());
            }
        }
    } else {
        let middle = rows.start + rows.len() / 2;
        worker.join(
            // SAFETY: the two halves are disjoint parts of `rows`.
            |worker| unsafe { run_rows(worker, nest, middle..rows.end) },
            // SAFETY: as above.
            |worker| unsafe { run_rows(worker, nest, rows.start..middle) },
        );
    }
}

impl Caller for Forte {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        // SAFETY: this is the only run of the loop.
        POOL.with_worker(|worker| unsafe { run(worker, kernel, 0..kernel.len()) });
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        POOL.with_worker(|worker| sum(worker, kernel, 0..kernel.len()))
    }

    fn nest<N: Nested>(&mut self, nest: &N) {
        // SAFETY: this is the only run of the nest.
        POOL.with_worker(|worker| unsafe { run_rows(worker, nest, 0..nest.rows()) });
    }
}

impl Offload for Forte {
    fn build(setup: &Setup) -> Result<Self> {
        POOL.resize_to(setup.width);
        Ok(Self)
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        let (send, receive) = mpsc::channel();
        POOL.spawn(move |_| {
            // The receiver waits below, so it is there.
            let _ = send.send(answer(x));
        });
        receive.recv().expect("the job sends before it ends")
    }
}
