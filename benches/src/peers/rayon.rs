//! rayon: parallel iterators over the index range, launched from outside the pool or by one of its workers.

use std::sync::mpsc;

use ::rayon::iter::{IntoParallelIterator, ParallelIterator};
use ::rayon::{ThreadPool, ThreadPoolBuilder};
use anyhow::Result;

use super::{Caller, Offload, Peer, Setup, Sharing, answer, pinning};
use crate::kernels::{Kernel, Map, Nested, SumKernel, TryKernel};

/// `INSIDE`: the program runs in the pool (`pool.install(..)` around everything), as rayon advises for many loops.
pub(crate) struct Rayon<const INSIDE: bool> {
    pool: ThreadPool,
}

pub(crate) struct RayonCaller<'p> {
    /// The pool to enter for each loop; none on a worker's own thread.
    outside: Option<&'p ThreadPool>,
}

fn pool(setup: &Setup) -> Result<ThreadPool> {
    let mut builder = ThreadPoolBuilder::new().num_threads(setup.width);
    if setup.pin {
        builder = builder.start_handler(pinning::pin_to);
    }
    Ok(builder.build()?)
}

impl<const INSIDE: bool> Peer for Rayon<INSIDE> {
    type Caller<'p> = RayonCaller<'p>;

    fn build(setup: &Setup) -> Result<Self> {
        Ok(Self { pool: pool(setup)? })
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut RayonCaller<'p>) -> R + Send,
    ) -> R {
        if INSIDE {
            self.pool.install(|| f(&mut RayonCaller { outside: None }))
        } else {
            f(&mut RayonCaller { outside: Some(&self.pool) })
        }
    }
}

impl RayonCaller<'_> {
    #[inline]
    fn within<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        match self.outside {
            Some(pool) => pool.install(f),
            None => f(),
        }
    }
}

impl Caller for RayonCaller<'_> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        self.within(|| {
            (0..kernel.len()).into_par_iter().for_each(|i| {
                // SAFETY: rayon gives each index of the range to one call of the closure.
                unsafe { kernel.one(i) };
            });
        });
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        self.within(|| {
            let parts = (0..kernel.len()).into_par_iter().map(|i| kernel.one(i));
            parts.reduce(|| 0, u64::wrapping_add)
        })
    }

    fn nest<N: Nested>(&mut self, nest: &N) {
        self.within(|| {
            (0..nest.rows()).into_par_iter().for_each(|r| {
                // SAFETY: rayon gives each row to one call of the closure, which ends after the row's loop.
                let row = unsafe { nest.row(r) };
                (0..row.len()).into_par_iter().for_each(|i| {
                    // SAFETY: and each index of the row to one call of the inner closure.
                    unsafe { row.one(i) };
                });
            });
        });
    }

    fn try_for_each<K: TryKernel>(&mut self, kernel: &K) -> Result<(), usize> {
        self.within(|| {
            (0..kernel.len()).into_par_iter().try_for_each(|i| {
                // SAFETY: rayon gives each index of the range to at most one call of the closure.
                unsafe { kernel.one(i) }
            })
        })
    }

    fn collect(&mut self, map: &Map<'_>) -> Vec<f64> {
        self.within(|| (0..map.len()).into_par_iter().map(|i| map.value(i)).collect())
    }
}

impl Offload for Rayon<false> {
    fn build(setup: &Setup) -> Result<Self> {
        Ok(Self { pool: pool(setup)? })
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        let (send, receive) = mpsc::channel();
        self.pool.spawn(move || {
            // The receiver waits below, so it is there.
            let _ = send.send(answer(x));
        });
        receive.recv().expect("the job sends before it ends")
    }
}
