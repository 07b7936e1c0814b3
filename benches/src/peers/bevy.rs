//! `bevy_tasks`: a scope that spawns one task a piece, with up to four pieces a thread, none below about a microsecond.

use std::ops::Range;

use anyhow::Result;
use bevy_tasks::{TaskPool, TaskPoolBuilder, block_on};

use super::{Caller, Offload, Peer, Setup, Sharing, answer, pinning};
use crate::kernels::{Kernel, Nested, SumKernel};

pub(crate) struct Bevy {
    pool: TaskPool,
}

pub(crate) struct BevyCaller<'p> {
    pool: &'p TaskPool,
}

/// The scope's own thread works too, so the pool has one thread fewer than seats (but at least one).
fn pool(threads: usize, pin: bool) -> TaskPool {
    let mut builder = TaskPoolBuilder::new().num_threads(threads.max(1));
    if pin {
        builder = builder.on_thread_spawn(pinning::pin_next(1));
    }
    builder.build()
}

impl Peer for Bevy {
    type Caller<'p> = BevyCaller<'p>;

    fn build(setup: &Setup) -> Result<Self> {
        Ok(Self { pool: pool(setup.width - 1, setup.pin) })
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut BevyCaller<'p>) -> R + Send,
    ) -> R {
        f(&mut BevyCaller { pool: &self.pool })
    }
}

/// The pieces of a loop of `len` iterations.
fn pieces(pool: &TaskPool, len: usize, grain: usize) -> impl Iterator<Item = Range<usize>> {
    let count = len.div_ceil(grain).clamp(1, 4 * (pool.thread_num() + 1));
    (0..count).map(move |k| len * k / count..len * (k + 1) / count)
}

fn run<K: Kernel>(pool: &TaskPool, kernel: &K) {
    pool.scope(|scope| {
        for range in pieces(pool, kernel.len(), kernel.grain()) {
            scope.spawn(async move {
                // SAFETY: the pieces are disjoint, and a task runs once.
                unsafe { kernel.chunk(range) };
            });
        }
    });
}

impl Caller for BevyCaller<'_> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        run(self.pool, kernel);
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        let parts = self.pool.scope(|scope| {
            for range in pieces(self.pool, kernel.len(), kernel.grain()) {
                scope.spawn(async move { kernel.chunk(range) });
            }
        });
        parts.into_iter().fold(0, u64::wrapping_add)
    }

    fn nest<N: Nested>(&mut self, nest: &N) {
        let pool = self.pool;
        pool.scope(|scope| {
            for r in 0..nest.rows() {
                scope.spawn(async move {
                    // SAFETY: one task a row, and the row's indices run once.
                    let row = unsafe { nest.row(r) };
                    run(pool, &row);
                });
            }
        });
    }
}

impl Offload for Bevy {
    fn build(setup: &Setup) -> Result<Self> {
        Ok(Self { pool: pool(setup.width, setup.pin) })
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        block_on(self.pool.spawn(async move { answer(x) }))
    }
}
