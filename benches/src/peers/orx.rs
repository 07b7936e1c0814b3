//! orx-parallel: parallel iterators over the index range on its own kind of pool, with its adaptive chunk sizes. A loop
//! inside a loop would wait for workers that all wait, so inner loops run serially.

use ::orx_parallel::{BasicPool, IntoParIter, Par, ParResult, Runner};
use anyhow::{Result, ensure};

use super::{Caller, Peer, Setup, Sharing};
use crate::kernels::{Kernel, Map, SumKernel, TryKernel};

pub(crate) struct Orx {
    pool: BasicPool,
}

pub(crate) struct OrxCaller<'p> {
    pool: &'p BasicPool,
}

impl Peer for Orx {
    type Caller<'p> = OrxCaller<'p>;

    fn build(setup: &Setup) -> Result<Self> {
        let pool = BasicPool::new(setup.width);
        let made = orx_parallel::ThreadPool::max_num_threads(&pool).get();
        ensure!(
            made == setup.width,
            "makes no pool wider than the CPUs ({made} threads instead of {})",
            setup.width
        );
        Ok(Self { pool })
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut OrxCaller<'p>) -> R + Send,
    ) -> R {
        f(&mut OrxCaller { pool: &self.pool })
    }
}

impl Caller for OrxCaller<'_> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        let runner = Runner::adaptive_with_pool(self.pool);
        (0..kernel.len()).into_par().runner(runner).for_each(|i| {
            // SAFETY: orx-parallel gives each index of the range to one call of the closure.
            unsafe { kernel.one(i) };
        });
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        let runner = Runner::adaptive_with_pool(self.pool);
        let parts = (0..kernel.len()).into_par().runner(runner).map(|i| kernel.one(i));
        parts.reduce(u64::wrapping_add).unwrap_or(0)
    }

    fn try_for_each<K: TryKernel>(&mut self, kernel: &K) -> Result<(), usize> {
        let runner = Runner::adaptive_with_pool(self.pool);
        let parts = (0..kernel.len()).into_par().runner(runner).map(|i| {
            // SAFETY: orx-parallel gives each index of the range to at most one call of the closure.
            unsafe { kernel.one(i) }
        });
        parts.into_fallible().for_each(|()| ())
    }

    fn collect(&mut self, map: &Map<'_>) -> Vec<f64> {
        let runner = Runner::adaptive_with_pool(self.pool);
        (0..map.len()).into_par().runner(runner).map(|i| map.value(i)).collect()
    }
}
