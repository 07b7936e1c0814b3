//! paralight: an indexed source run by a pool that needs exclusive use, with fixed ranges or with stealing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ::paralight::prelude::*;
use anyhow::{Result, anyhow};

use super::{Caller, Peer, Setup, Sharing};
use crate::kernels::{Kernel, Map, SumKernel, TryKernel};

pub(crate) struct Paralight<const STEALING: bool> {
    pool: Mutex<ThreadPool>,
}

/// The one caller that has the pool for itself, or one of several who take turns.
pub(crate) enum ParalightCaller<'p> {
    Alone(MutexGuard<'p, ThreadPool>),
    Several(&'p Mutex<ThreadPool>),
}

impl<const STEALING: bool> Peer for Paralight<STEALING> {
    type Caller<'p> = ParalightCaller<'p>;

    fn build(setup: &Setup) -> Result<Self> {
        let num_threads = ThreadCount::try_from(setup.width)
            .map_err(|_| anyhow!("paralight makes no pool of {} threads", setup.width))?;
        let range_strategy =
            if STEALING { RangeStrategy::WorkStealing } else { RangeStrategy::Fixed };
        let cpu_pinning =
            if setup.pin { CpuPinningPolicy::IfSupported } else { CpuPinningPolicy::No };
        let pool = ThreadPoolBuilder { num_threads, range_strategy, cpu_pinning }.build();
        Ok(Self { pool: Mutex::new(pool) })
    }

    fn enter<'p, R: Send>(
        &'p self,
        sharing: Sharing,
        f: impl FnOnce(&mut ParalightCaller<'p>) -> R + Send,
    ) -> R {
        f(&mut match sharing {
            Sharing::Alone => ParalightCaller::Alone(lock(&self.pool)),
            Sharing::Several => ParalightCaller::Several(&self.pool),
        })
    }
}

fn lock(pool: &Mutex<ThreadPool>) -> MutexGuard<'_, ThreadPool> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ParalightCaller<'_> {
    #[inline]
    fn with<R>(&mut self, f: impl FnOnce(&mut ThreadPool) -> R) -> R {
        match self {
            Self::Alone(pool) => f(pool),
            Self::Several(pool) => f(&mut lock(pool)),
        }
    }
}

impl Caller for ParalightCaller<'_> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        self.with(|pool| {
            (0..kernel.len()).into_par_iter().with_thread_pool(pool).for_each(|i| {
                // SAFETY: paralight gives each index of the range to one call of the closure.
                unsafe { kernel.one(i) };
            });
        });
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        self.with(|pool| {
            let parts = (0..kernel.len()).into_par_iter().with_thread_pool(pool);
            parts.map(|i| kernel.one(i)).reduce(|| 0, u64::wrapping_add)
        })
    }

    fn try_for_each<K: TryKernel>(&mut self, kernel: &K) -> Result<(), usize> {
        self.with(|pool| {
            (0..kernel.len()).into_par_iter().with_thread_pool(pool).try_for_each(|i| {
                // SAFETY: paralight gives each index of the range to at most one call of the closure.
                unsafe { kernel.one(i) }
            })
        })
    }

    fn collect(&mut self, map: &Map<'_>) -> Vec<f64> {
        self.with(|pool| {
            (0..map.len()).into_par_iter().map(|i| map.value(i)).with_thread_pool(pool).collect()
        })
    }
}
