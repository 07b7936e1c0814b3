//! tokio: `spawn_blocking`, awaited by a thread outside the runtime.

use ::tokio::runtime::{Builder, Runtime};
use anyhow::Result;

use super::{Offload, Setup, answer};

pub(crate) struct Tokio {
    runtime: Runtime,
}

impl Offload for Tokio {
    fn build(setup: &Setup) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(setup.width).build()?;
        Ok(Self { runtime })
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        let job = self.runtime.spawn_blocking(move || answer(x));
        self.runtime.block_on(job).expect("the job does not panic")
    }
}
