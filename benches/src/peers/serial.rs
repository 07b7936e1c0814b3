//! The plain loop on the calling thread: what parallel loops must beat.

use anyhow::Result;

use super::{Caller, Offload, Peer, Setup, Sharing, answer};
use crate::kernels::{Kernel, Map, SumKernel, TryKernel};

pub(crate) struct Serial;

impl Peer for Serial {
    type Caller<'p> = Self;

    fn build(_setup: &Setup) -> Result<Self> {
        Ok(Self)
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut Self::Caller<'p>) -> R + Send,
    ) -> R {
        f(&mut Self)
    }
}

impl Caller for Serial {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        // SAFETY: all indices once, on this thread alone.
        unsafe { kernel.chunk(0..kernel.len()) };
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        kernel.chunk(0..kernel.len())
    }

    fn try_for_each<K: TryKernel>(&mut self, kernel: &K) -> Result<(), usize> {
        for i in 0..kernel.len() {
            // SAFETY: each index once, on this thread alone.
            unsafe { kernel.one(i)? };
        }
        Ok(())
    }

    fn collect(&mut self, map: &Map<'_>) -> Vec<f64> {
        (0..map.len()).map(|i| map.value(i)).collect()
    }
}

impl Offload for Serial {
    fn build(_setup: &Setup) -> Result<Self> {
        Ok(Self)
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        answer(x)
    }
}
