//! OpenMP: `parallel for` with the usual schedules, through gcc's runtime and through LLVM's. Inner loops run serially,
//! as both do by default.

use std::ffi::c_int;

use anyhow::Result;

use super::shim::Shim;
use super::{Caller, Peer, Setup, Sharing};
use crate::kernels::{Kernel, SumKernel};

pub(super) const STATIC: c_int = 0;
pub(super) const DYNAMIC: c_int = 1;
pub(super) const GUIDED: c_int = 2;

/// `LLVM`: libomp, else libgomp. `HOW`: the schedule.
pub(crate) struct OpenMp<const LLVM: bool, const HOW: c_int> {
    shim: Shim,
}

pub(super) fn load(llvm: bool) -> Result<Shim> {
    if llvm {
        Shim::load(option_env!("SHIM_LIBOMP"), option_env!("SHIM_LIBOMP_MISSING"))
    } else {
        Shim::load(option_env!("SHIM_LIBGOMP"), option_env!("SHIM_LIBGOMP_MISSING"))
    }
}

pub(crate) struct OpenMpCaller<'p, const HOW: c_int> {
    shim: &'p Shim,
}

impl<const LLVM: bool, const HOW: c_int> Peer for OpenMp<LLVM, HOW> {
    type Caller<'p> = OpenMpCaller<'p, HOW>;

    fn build(setup: &Setup) -> Result<Self> {
        let shim = load(LLVM)?;
        shim.init(setup)?;
        Ok(Self { shim })
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut OpenMpCaller<'p, HOW>) -> R + Send,
    ) -> R {
        f(&mut OpenMpCaller { shim: &self.shim })
    }
}

impl<const HOW: c_int> Caller for OpenMpCaller<'_, HOW> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        self.shim.for_each(HOW, kernel);
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        self.shim.sum_of(HOW, kernel)
    }
}
