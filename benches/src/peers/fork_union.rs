//! `fork_union`: one contiguous slice per thread (`for_slices`), or single indices taken by whoever is free
//! (`for_n_dynamic`). Its workers spin for as long as the pool lives, and a pool serves one caller.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::fork_union::ThreadPool;
use anyhow::{Result, anyhow};
use crossbeam_utils::CachePadded;

use super::{Caller, Peer, Setup, Sharing};
use crate::kernels::{Kernel, SumKernel};

pub(crate) struct ForkUnion<const DYNAMIC: bool> {
    pool: Mutex<ThreadPool>,
}

/// The one caller that has the pool for itself, or one of several who take turns.
pub(crate) enum ForkUnionCaller<'p, const DYNAMIC: bool> {
    Alone(MutexGuard<'p, ThreadPool>),
    Several(&'p Mutex<ThreadPool>),
}

impl<const DYNAMIC: bool> Peer for ForkUnion<DYNAMIC> {
    type Caller<'p> = ForkUnionCaller<'p, DYNAMIC>;

    fn build(setup: &Setup) -> Result<Self> {
        let pool = ThreadPool::try_spawn(setup.width)
            .map_err(|e| anyhow!("fork_union made no pool of {} threads: {e}", setup.width))?;
        Ok(Self { pool: Mutex::new(pool) })
    }

    fn enter<'p, R: Send>(
        &'p self,
        sharing: Sharing,
        f: impl FnOnce(&mut ForkUnionCaller<'p, DYNAMIC>) -> R + Send,
    ) -> R {
        f(&mut match sharing {
            Sharing::Alone => ForkUnionCaller::Alone(lock(&self.pool)),
            Sharing::Several => ForkUnionCaller::Several(&self.pool),
        })
    }
}

fn lock(pool: &Mutex<ThreadPool>) -> MutexGuard<'_, ThreadPool> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<const DYNAMIC: bool> ForkUnionCaller<'_, DYNAMIC> {
    #[inline]
    fn with<R>(&mut self, f: impl FnOnce(&mut ThreadPool) -> R) -> R {
        match self {
            Self::Alone(pool) => f(pool),
            Self::Several(pool) => f(&mut lock(pool)),
        }
    }
}

impl<const DYNAMIC: bool> Caller for ForkUnionCaller<'_, DYNAMIC> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        self.with(|pool| {
            if DYNAMIC {
                // The loop runs when the returned operation is dropped.
                drop(pool.for_n_dynamic(kernel.len(), |prong| {
                    // SAFETY: fork_union gives each index to one call.
                    unsafe { kernel.one(prong.task_index) };
                }));
            } else {
                drop(pool.for_slices(kernel.len(), |prong, count| {
                    // SAFETY: fork_union's slices are disjoint and together the whole loop.
                    unsafe { kernel.chunk(prong.task_index..prong.task_index + count) };
                }));
            }
        });
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        self.with(|pool| {
            let parts: Vec<_> =
                (0..pool.threads()).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
            // Each thread adds to a part of its own; the pool's join orders all of it before the reading below.
            let add = |thread: usize, sum: u64| {
                let part = &parts[thread];
                part.store(part.load(Relaxed).wrapping_add(sum), Relaxed);
            };
            if DYNAMIC {
                drop(pool.for_n_dynamic(kernel.len(), |prong| {
                    add(prong.thread_index, kernel.one(prong.task_index));
                }));
            } else {
                drop(pool.for_slices(kernel.len(), |prong, count| {
                    let range = prong.task_index..prong.task_index + count;
                    add(prong.thread_index, kernel.chunk(range));
                }));
            }
            parts.iter().fold(0, |sum: u64, part| sum.wrapping_add(part.load(Relaxed)))
        })
    }
}
