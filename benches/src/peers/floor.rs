//! The floor: a hand-written hand-over between spinning threads, with nothing that a library must have (no sleeping, no
//! balancing, no nesting, no panics). It shows what the machine allows.
//!
//! The caller writes function, data and epoch into one cache line; each worker watches that line, runs its share, and
//! writes the epoch into a line of its own, which the caller watches.

use std::ops::Range;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, available_parallelism};

use anyhow::{Result, ensure};
use crossbeam_utils::CachePadded;

use super::{Caller, Offload, Peer, Setup, Sharing, answer, pinning};
use crate::kernels::{Kernel, SumKernel};

/// What a worker runs: the data that was handed down, its seat, and the number of seats.
type Share = unsafe fn(*const (), usize, usize);

/// The line that goes down. Epoch 0 is "nothing yet", [`END`] tells the workers to leave.
#[repr(align(64))]
struct Board {
    epoch: AtomicU64,
    share: AtomicPtr<()>,
    data: AtomicPtr<()>,
}

const END: u64 = u64::MAX;

struct Shared {
    board: CachePadded<Board>,
    done: Vec<CachePadded<AtomicU64>>,
}

pub(crate) struct Floor {
    shared: Arc<Shared>,
    /// The epoch of the last launch; whoever holds it may launch.
    turn: Mutex<u64>,
    workers: Vec<JoinHandle<()>>,
}

/// The one caller, who keeps the turn, or one of several, who take it for each loop.
pub(crate) struct FloorCaller<'p> {
    floor: &'p Floor,
    turn: Option<MutexGuard<'p, u64>>,
}

fn work(shared: &Shared, seat: usize) {
    let mut seen = 0;
    loop {
        // Pairs with the release in `launch`: the share and its data are visible with the epoch.
        let epoch = shared.board.epoch.load(Acquire);
        if epoch == seen {
            std::hint::spin_loop();
            continue;
        }
        if epoch == END {
            return;
        }
        seen = epoch;
        let share = shared.board.share.load(Relaxed);
        // SAFETY: `launch` stored a `Share` there, before the epoch that was read above.
        let share = unsafe { std::mem::transmute::<*mut (), Share>(share) };
        // SAFETY: the launching caller keeps the data alive until every worker has written the epoch below, and each
        // seat runs once an epoch.
        unsafe { share(shared.board.data.load(Relaxed), seat, shared.done.len() + 1) };
        // Pairs with the acquire in `launch`: what the share did is visible to the caller.
        shared.done[seat - 1].store(epoch, Release);
    }
}

impl Floor {
    fn new(setup: &Setup) -> Result<Self> {
        let cpus = available_parallelism().map_or(1, usize::from);
        ensure!(setup.width <= cpus, "spins without pause, so it makes no more threads than CPUs");
        let shared = Arc::new(Shared {
            board: CachePadded::new(Board {
                epoch: AtomicU64::new(0),
                share: AtomicPtr::default(),
                data: AtomicPtr::default(),
            }),
            done: (1..setup.width).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
        });
        let workers = (1..setup.width).map(|seat| {
            let (shared, pin) = (Arc::clone(&shared), setup.pin);
            thread::spawn(move || {
                if pin {
                    pinning::pin_to(seat);
                }
                work(&shared, seat);
            })
        });
        let workers = workers.collect();
        Ok(Self { shared, turn: Mutex::new(0), workers })
    }

    fn turn(&self) -> MutexGuard<'_, u64> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has every seat run `share(data, seat, seats)` once, this thread as seat 0.
    ///
    /// # Safety
    ///
    /// `share` may be called with `data` and each seat, at the same time.
    #[inline]
    unsafe fn launch(&self, last: &mut u64, share: Share, data: *const ()) {
        *last += 1;
        let board = &self.shared.board;
        board.share.store(share as *mut (), Relaxed);
        board.data.store(data.cast_mut(), Relaxed);
        // Pairs with the acquire in `work`.
        board.epoch.store(*last, Release);
        // SAFETY: the caller's promise.
        unsafe { share(data, 0, self.shared.done.len() + 1) };
        for done in &self.shared.done {
            // Pairs with the release in `work`.
            while done.load(Acquire) != *last {
                std::hint::spin_loop();
            }
        }
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        self.shared.board.epoch.store(END, Relaxed);
        for worker in self.workers.drain(..) {
            // A worker that panicked has nothing left to end.
            let _ = worker.join();
        }
    }
}

impl Peer for Floor {
    type Caller<'p> = FloorCaller<'p>;

    fn build(setup: &Setup) -> Result<Self> {
        Self::new(setup)
    }

    fn enter<'p, R: Send>(
        &'p self,
        sharing: Sharing,
        f: impl FnOnce(&mut FloorCaller<'p>) -> R + Send,
    ) -> R {
        let turn = (sharing == Sharing::Alone).then(|| self.turn());
        f(&mut FloorCaller { floor: self, turn })
    }
}

#[inline]
fn part(len: usize, seat: usize, seats: usize) -> Range<usize> {
    len * seat / seats..len * (seat + 1) / seats
}

impl FloorCaller<'_> {
    /// # Safety
    ///
    /// As for [`Floor::launch`].
    #[inline]
    unsafe fn launch(&mut self, share: Share, data: *const ()) {
        match &mut self.turn {
            // SAFETY: handed through.
            Some(last) => unsafe { self.floor.launch(last, share, data) },
            // SAFETY: handed through.
            None => unsafe { self.floor.launch(&mut self.floor.turn(), share, data) },
        }
    }
}

impl Caller for FloorCaller<'_> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        unsafe fn share<K: Kernel>(data: *const (), seat: usize, seats: usize) {
            // SAFETY: `data` is the kernel below, which outlives the launch; the parts of the seats are disjoint.
            unsafe {
                let kernel = &*data.cast::<K>();
                kernel.chunk(part(kernel.len(), seat, seats));
            }
        }
        // SAFETY: a kernel is `Sync`, and each seat runs a part of its own.
        unsafe { self.launch(share::<K>, (&raw const *kernel).cast()) };
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        struct Work<'a, K> {
            kernel: &'a K,
            total: AtomicU64,
        }
        unsafe fn share<K: SumKernel>(data: *const (), seat: usize, seats: usize) {
            // SAFETY: `data` is the work below, which outlives the launch.
            let work = unsafe { &*data.cast::<Work<'_, K>>() };
            let sum = work.kernel.chunk(part(work.kernel.len(), seat, seats));
            work.total.fetch_add(sum, Relaxed);
        }
        let work = Work { kernel, total: AtomicU64::new(0) };
        // SAFETY: a sum kernel is `Sync`.
        unsafe { self.launch(share::<K>, (&raw const work).cast()) };
        work.total.into_inner()
    }
}

/// One closure handed to one spinning thread.
pub(crate) struct FloorOffload(Floor);

impl Offload for FloorOffload {
    fn build(setup: &Setup) -> Result<Self> {
        ensure!(setup.width > 1, "there is no second thread to hand a job to");
        Ok(Self(Floor::new(&Setup { width: 2, ..*setup })?))
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        unsafe fn share(data: *const (), seat: usize, _seats: usize) {
            // SAFETY: `data` is the job below, which outlives the launch.
            let job = unsafe { &*data.cast::<AtomicU64>() };
            if seat == 1 {
                job.store(answer(job.load(Relaxed)), Relaxed);
            }
        }
        let job = AtomicU64::new(x);
        let last = self.0.turn.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut epoch = *last;
        // SAFETY: the job is atomic.
        unsafe { self.0.launch(&mut epoch, share, (&raw const job).cast()) };
        *self.0.turn.get_mut().unwrap_or_else(PoisonError::into_inner) = epoch;
        job.into_inner()
    }
}
