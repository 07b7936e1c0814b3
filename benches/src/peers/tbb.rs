//! oneTBB: `parallel_for` and `parallel_reduce` over a blocked range with each of its partitioners, and `enqueue`.

use std::ffi::{c_int, c_void};
use std::sync::mpsc;

use anyhow::Result;

use super::shim::{Job, Shim};
use super::{Caller, Offload, Peer, Setup, Sharing, answer};
use crate::kernels::{Kernel, Nested, SumKernel};

pub(super) const AUTO: c_int = 0;
pub(super) const STATIC: c_int = 1;
pub(super) const AFFINITY: c_int = 2;

pub(super) fn load() -> Result<Shim> {
    Shim::load(option_env!("SHIM_TBB"), option_env!("SHIM_TBB_MISSING"))
}

/// `HOW`: the partitioner.
pub(crate) struct Tbb<const HOW: c_int> {
    shim: Shim,
}

pub(crate) struct TbbCaller<'p, const HOW: c_int> {
    shim: &'p Shim,
}

impl<const HOW: c_int> Peer for Tbb<HOW> {
    type Caller<'p> = TbbCaller<'p, HOW>;

    fn build(setup: &Setup) -> Result<Self> {
        let shim = load()?;
        shim.init(setup)?;
        Ok(Self { shim })
    }

    fn enter<'p, R: Send>(
        &'p self,
        _sharing: Sharing,
        f: impl FnOnce(&mut TbbCaller<'p, HOW>) -> R + Send,
    ) -> R {
        f(&mut TbbCaller { shim: &self.shim })
    }
}

/// The outer loop of a nest whose inner loops are parallel too.
struct Rows<'a, N, const HOW: c_int> {
    nest: &'a N,
    shim: &'a Shim,
}

impl<N: Nested, const HOW: c_int> Kernel for Rows<'_, N, HOW> {
    fn len(&self) -> usize {
        self.nest.rows()
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn one(&self, r: usize) {
        // SAFETY: one call a row, which ends after the row's loop.
        let row = unsafe { self.nest.row(r) };
        self.shim.for_each(HOW, &row);
    }
}

impl<const HOW: c_int> Caller for TbbCaller<'_, HOW> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        self.shim.for_each(HOW, kernel);
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        self.shim.sum_of(HOW, kernel)
    }

    fn nest<N: Nested>(&mut self, nest: &N) {
        self.shim.for_each(HOW, &Rows::<_, HOW> { nest, shim: self.shim });
    }
}

pub(crate) struct TbbOffload {
    enqueue: unsafe extern "C" fn(Job, *mut c_void),
}

struct Trip {
    x: u64,
    send: mpsc::Sender<u64>,
}

impl Offload for TbbOffload {
    fn build(setup: &Setup) -> Result<Self> {
        let shim = load()?;
        shim.init(setup)?;
        Ok(Self { enqueue: shim.offload()? })
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        unsafe extern "C" fn run(trip: *mut c_void) {
            // SAFETY: the context is the box leaked below, and a job runs once.
            let trip = unsafe { Box::from_raw(trip.cast::<Trip>()) };
            // The receiver waits below, so it is there.
            let _ = trip.send.send(answer(trip.x));
        }
        let (send, receive) = mpsc::channel();
        let trip = Box::into_raw(Box::new(Trip { x, send }));
        // SAFETY: the job owns its context.
        unsafe { (self.enqueue)(run, trip.cast()) };
        receive.recv().expect("the job sends before it ends")
    }
}
