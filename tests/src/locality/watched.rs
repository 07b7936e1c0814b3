//! A pool whose workers the kernel is asked about.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use locsteal::{Pool, PoolBuilder};

use super::kernel::{self, Numbers, Worker};
use crate::process::until_asleep;

/// A pool whose threads have names that no other pool's have.
pub(super) struct Watched {
    pool: Pool,
    name: String,
}

impl Watched {
    pub(super) fn new(builder: PoolBuilder) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("seat{}", MADE.fetch_add(1, Relaxed));
        // Where CPUs are emulated, spinning takes time from those who have something to do.
        let builder = builder.spin(Duration::ZERO).name(&*name);
        Self { pool: builder.build().expect("a pool"), name }
    }

    /// The workers by seat. A pool of one has none.
    pub(super) fn workers(&self) -> BTreeMap<usize, Worker> {
        let seats = self.pool.threads();
        if seats == 1 {
            return BTreeMap::new();
        }
        let mut workers = BTreeMap::new();
        // While other threads end, the kernel's list of a process's threads may leave one out.
        for _ in 0..100 {
            workers = kernel::workers(&self.name);
            if workers.len() == seats {
                break;
            }
            std::thread::yield_now();
        }
        assert!(workers.keys().copied().eq(0..seats), "{seats} seats, {workers:?}");
        workers
    }

    /// The workers' masks by seat.
    pub(super) fn masks(&self) -> BTreeMap<usize, Numbers> {
        self.workers().into_iter().map(|(seat, worker)| (seat, worker.mask)).collect()
    }
}

impl Watched {
    /// The same once all workers sleep: one that moves away from its caller's CPU has another mask for a moment.
    pub(super) fn masks_at_rest(&self) -> BTreeMap<usize, Numbers> {
        let threads: Vec<u32> = self.workers().values().map(|worker| worker.thread).collect();
        until_asleep(&threads);
        self.masks()
    }
}

impl From<Watched> for Pool {
    fn from(watched: Watched) -> Self {
        watched.pool
    }
}

impl Deref for Watched {
    type Target = Pool;

    fn deref(&self) -> &Pool {
        &self.pool
    }
}
