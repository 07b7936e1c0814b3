//! Pinning a thread to an LLC domain for a while: the protocol.
//!
//! **States** of a thread: *free* or *pinned*; a thread-local flag says which. States of a domain: how
//! many threads are pinned to it, at most one fewer than the CPUs that they may use there, so that
//! pinned jobs never fill a domain.
//!
//! **Free to pinned**, each step undoing those before it if it fails:
//!
//! 1. With fewer than two domains there is nothing to choose: no system call is made.
//! 2. The flag is up: refused. A nested job stays where the outer one was confined to.
//! 3. Read the thread's own mask. It alone tells what the operator allows *now*.
//! 4. Intersect it with the domain, so that a pin only ever narrows. Nothing is left out: the thread
//!    is in the domain as it is, and no pin is needed. Fewer than two CPUs left: refused, since a job
//!    tied to one CPU waits for whatever else runs there.
//! 5. Take a slot of the domain, capped by this thread's own intersection.
//! 6. Set the mask. Raise the flag.
//!
//! **Pinned to free**, unwinding included: read the mask. If it still lies within the pin (it is the
//! pin, or the pin clamped by the kernel because a CPU went offline or left the cpuset), write the
//! saved mask back, bit for bit. If it has strayed, somebody else has moved the thread, and that
//! newer choice stays. Then the slot, then the flag. Both are given back whatever failed: a stranded
//! slot would cost every later job, a mask that could not be restored costs one thread.
//!
//! **The race that matters** is that with an operator who sets the thread's mask while it is being
//! restored: between reading and writing lies a moment in which the newer choice is overwritten.
//! The kernel offers no compare-exchange for masks. A choice that lies *within* the pin cannot be told
//! from the pin itself, and is taken for it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::path::Path;

use crossbeam_utils::CachePadded;

use super::guard_slots::{Slot, Slots};
use super::kernel::Kernel;
use super::mask::{self, MaskCalls, current_by, set_by};
use crate::grown::Grown;
use crate::sync::each_alone_on_its_lines;
use crate::topology::{CpuSet, Topology};

/// The domains that threads can be pinned to, with their counts of live pins.
#[derive(Debug)]
pub(crate) struct Confines {
    topology: Topology,
    slots: Box<[CachePadded<Slots>]>,
}

each_alone_on_its_lines!(Confines: slots);

/// Why a thread was not pinned to a domain. None of these is an error: the work runs where the thread may run anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unpinned {
    /// The machine has fewer than two LLC domains, or they are not known (as off Linux): there is nothing to choose.
    OneDomain,
    /// The CPU that the place was named by is in no known domain; a guess could move the work somewhere unrelated.
    UnknownCpu,
    /// A guard of this thread is alive, and its confinement stays.
    Nested,
    /// The thread may run on CPUs of this domain alone, as it is.
    AlreadyThere,
    /// The thread may use fewer than two CPUs of the domain.
    TooFewCpus,
    /// So many threads are pinned to the domain that another would fill it.
    Full,
    /// The kernel refused to read or to set the mask.
    Failed(io::ErrorKind),
}

impl fmt::Display for Unpinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneDomain => "the machine shows fewer than two last-level caches",
            Self::UnknownCpu => "the CPU that names the place is in no known last-level cache",
            Self::Nested => "the thread is pinned already, by an outer guard",
            Self::AlreadyThere => "the thread may run in that last-level cache alone, as it is",
            Self::TooFewCpus => "the thread may use fewer than two CPUs of that last-level cache",
            Self::Full => "all but one of the CPUs of that last-level cache have a pinned thread",
            Self::Failed(kind) => {
                return write!(f, "the affinity mask could not be read or set: {kind}");
            }
        })
    }
}

#[cfg(not(loom))]
thread_local! {
    /// Whether a guard of this thread is alive.
    static PINNED: Cell<bool> = const { Cell::new(false) };
    /// How this library has narrowed the thread's mask, outermost first.
    static NARROWED: RefCell<Vec<Narrowed>> = const { RefCell::new(Vec::new()) };
}

// The model checker's threads need its own thread-locals.
#[cfg(loom)]
loom::thread_local! {
    static PINNED: Cell<bool> = Cell::new(false);
    static NARROWED: RefCell<Vec<Narrowed>> = RefCell::new(Vec::new());
}

#[derive(Clone, Debug)]
struct Narrowed {
    before: CpuSet,
    after: CpuSet,
}

/// How a thread is confined: what a new thread must be told that works in its stead while it waits. The new one inherits
/// the mask itself.
#[derive(Debug)]
pub(crate) struct Confinement {
    pinned: bool,
    narrowed: Vec<Narrowed>,
}

impl Confinement {
    /// The calling thread's.
    pub(crate) fn here() -> Self {
        let narrowed = NARROWED.try_with(|narrowed| narrowed.borrow().clone()).unwrap_or_default();
        Self { pinned: PINNED.with(Cell::get), narrowed }
    }

    /// The calling thread was started by the one whose confinement this is, and lives no longer than it.
    pub(crate) fn take_over(self) {
        PINNED.with(|pinned| pinned.set(self.pinned));
        NARROWED.with(|narrowed| *narrowed.borrow_mut() = self.narrowed);
    }
}

impl Confines {
    pub(crate) fn new(topology: Topology) -> Self {
        let slots = topology.domains().iter().map(|_| CachePadded::new(Slots::new())).collect();
        Self { topology, slots }
    }

    /// Those of this machine: all of it, whatever the calling thread may use, since each thread's own mask is asked
    /// when it is pinned. Read the first time, which takes about a millisecond.
    pub(crate) fn of_machine() -> &'static Self {
        static MACHINE: Grown<Confines> = Grown::new();
        MACHINE.newest_or_add(|| {
            Self::new(if cfg!(all(any(target_os = "linux", target_os = "android"), not(miri))) {
                Topology::read_online(Path::new("/sys"))
            } else {
                Topology::default()
            })
        })
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Pins the calling thread to a domain until the pin is dropped.
    pub(crate) fn pin<C: MaskCalls>(
        &self,
        domain: usize,
        calls: C,
    ) -> Result<Pin<'_, C>, Unpinned> {
        if self.slots.len() < 2 {
            return Err(Unpinned::OneDomain);
        }
        if PINNED.with(Cell::get) {
            return Err(Unpinned::Nested);
        }
        // While the thread ends its list is gone, and there is no telling what was narrowed.
        if NARROWED.try_with(|_| ()).is_err() {
            return Err(Unpinned::Failed(io::ErrorKind::Other));
        }
        let failed = |error: io::Error| Unpinned::Failed(error.kind());
        let saved = current_by(&calls).map_err(failed)?;
        let narrow = saved.intersection(self.topology.domains()[domain].cpus());
        if narrow == saved {
            return Err(Unpinned::AlreadyThere);
        }
        if narrow.len() < 2 {
            return Err(Unpinned::TooFewCpus);
        }
        let slot = self.slots[domain].take(narrow.len() - 1).ok_or(Unpinned::Full)?;
        set_by(&calls, &narrow).map_err(failed)?;
        Ok(Pin { calls, slot, flag: Flag::raise(saved, narrow), bound: PhantomData })
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn taken(&self, domain: usize) -> usize {
        self.slots[domain].taken()
    }
}

/// A thread's being pinned. Dropping it restores the mask, then gives the slot back, then takes the flag down.
#[derive(Debug)]
pub(crate) struct Pin<'a, C: MaskCalls = Kernel> {
    calls: C,
    // The order of the next two is that of their release.
    #[expect(dead_code, reason = "held for its drop")]
    slot: Slot<'a>,
    flag: Flag,
    /// Bound to its thread.
    bound: PhantomData<*const ()>,
}

impl<C: MaskCalls> Drop for Pin<'_, C> {
    fn drop(&mut self) {
        // A failure leaves the mask as it is.
        if let Ok(now) = current_by(&self.calls) {
            self.flag.with(|pin| {
                if now.is_subset(&pin.after) {
                    let _ = set_by(&self.calls, &pin.before);
                }
            });
        }
    }
}

/// The thread's flag is up, and the masks before and after stand in its list.
#[derive(Debug)]
struct Flag;

impl Flag {
    fn raise(before: CpuSet, after: CpuSet) -> Self {
        PINNED.with(|pinned| pinned.set(true));
        NARROWED.with(|narrowed| narrowed.borrow_mut().push(Narrowed { before, after }));
        Self
    }

    /// Calls `f` with the masks of the pin, which is the last narrowing of its thread.
    fn with(&self, f: impl FnOnce(&Narrowed)) {
        let _ = NARROWED.try_with(|narrowed| narrowed.borrow().last().map(f));
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        // A guard that a thread-local destructor drops may come after the list is gone.
        let _ = NARROWED.try_with(|narrowed| narrowed.borrow_mut().pop());
        PINNED.with(|pinned| pinned.set(false));
    }
}

/// Confines the calling thread to `mask` for the rest of its life, as workers are; what it could use before stays known
/// to [`unpinned`].
///
/// # Errors
///
/// Those of [`mask::set`].
pub(crate) fn settle(mask: &CpuSet) -> io::Result<()> {
    settle_by(&Kernel, mask)
}

pub(super) fn settle_by(calls: &impl MaskCalls, mask: &CpuSet) -> io::Result<()> {
    let before = current_by(calls);
    set_by(calls, mask)?;
    // Where it is not known, there is nothing to widen to later.
    if let Ok(before) = before {
        let after = mask.clone();
        NARROWED.with(|narrowed| narrowed.borrow_mut().push(Narrowed { before, after }));
    }
    Ok(())
}

/// Runs `f` with the affinity mask that the calling thread had before this library narrowed it.
///
/// A thread inherits the mask of the thread that starts it. Inside of a job that is pinned to one last-level cache,
/// and on a worker of a pool, that is a narrow one, and the new thread would keep it for life;
/// [`std::thread::available_parallelism`] counts the CPUs of it, too. Start threads, pools and child processes that are
/// to use the whole machine from inside of this function.
///
/// Where nothing was narrowed, or where somebody else has changed the mask since, `f` runs as it is. Afterwards the
/// thread is confined as before, unless `f` changed its mask. Takes four system calls where it acts, else none or one.
///
/// # Examples
///
/// ```
/// let job = locsteal::spawn_near!(|| {
///     let server = locsteal::unpinned(|| std::thread::spawn(|| "may run anywhere"));
///     server.join().unwrap()
/// });
/// assert_eq!(job.join(), "may run anywhere");
/// ```
pub fn unpinned<R>(f: impl FnOnce() -> R) -> R {
    unpinned_by(&Kernel, f)
}

pub(super) fn unpinned_by<R>(calls: &impl MaskCalls, f: impl FnOnce() -> R) -> R {
    let _narrow_again = widen(calls);
    f()
}

/// Restores the mask that the thread had before the outermost narrowing that is still in force.
fn widen<C: MaskCalls>(calls: &C) -> Option<NarrowAgain<'_, C>> {
    if NARROWED.try_with(|narrowed| narrowed.borrow().is_empty()).unwrap_or(true) {
        return None;
    }
    let narrow = current_by(calls).ok()?;
    let wide = NARROWED.with(|narrowed| {
        let narrowed = narrowed.borrow();
        let mut outward = narrowed.iter().rev();
        let wide = outward.try_fold(&narrow, |wide, step| {
            if wide.is_subset(&step.after) { Ok(&step.before) } else { Err(wide) }
        });
        wide.unwrap_or_else(|wide| wide).clone()
    });
    if wide == narrow || set_by(calls, &wide).is_err() {
        return None;
    }
    // What the kernel has made of it.
    let wide = current_by(calls).unwrap_or(wide);
    Some(NarrowAgain { calls, wide, narrow })
}

struct NarrowAgain<'a, C: MaskCalls> {
    calls: &'a C,
    wide: CpuSet,
    narrow: CpuSet,
}

impl<C: MaskCalls> Drop for NarrowAgain<'_, C> {
    fn drop(&mut self) {
        if current_by(self.calls).is_ok_and(|now| now == self.wide) {
            let _ = set_by(self.calls, &self.narrow);
        }
    }
}

/// As [`Confines::pin`], by the kernel, for a CPU of the domain.
pub(crate) fn pin_near(cpu: Option<usize>) -> Result<Pin<'static>, Unpinned> {
    let confines = Confines::of_machine();
    if confines.slots.len() < 2 {
        return Err(Unpinned::OneDomain);
    }
    let domain = cpu.and_then(|cpu| confines.topology.domain_of(cpu));
    confines.pin(domain.ok_or(Unpinned::UnknownCpu)?, Kernel)
}

/// The CPU that the calling thread is running on.
pub(super) fn this_cpu() -> Option<usize> {
    mask::current_cpu()
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};

    /// A kernel that counts the threads whose masks are narrow, and says where there are too many.
    struct Counting {
        narrow: Arc<AtomicUsize>,
        mask: RefCell<CpuSet>,
    }

    impl MaskCalls for &Counting {
        fn get(&self, words: &mut [u64]) -> io::Result<usize> {
            let mask = self.mask.borrow();
            words[..mask.words().len()].copy_from_slice(mask.words());
            Ok(8)
        }

        fn set(&self, words: &[u64]) -> io::Result<()> {
            let mask = CpuSet::from_words(words.to_vec());
            if mask.len() == 2 {
                assert_eq!(self.narrow.fetch_add(1, Ordering::Relaxed), 0, "the cap is one");
            } else {
                self.narrow.fetch_sub(1, Ordering::Relaxed);
            }
            *self.mask.borrow_mut() = mask;
            Ok(())
        }

        fn cpu(&self) -> Option<usize> {
            None
        }
    }

    #[test]
    fn narrow_masks_never_exceed_the_cap_and_nothing_is_stranded() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(|| {
            let halves: [CpuSet; 2] = [(0..2).collect(), (2..4).collect()];
            let topology = Topology::builder().domain(&halves[0]).domain(&halves[1]);
            let confines = Arc::new(Confines::new(topology.build().unwrap()));
            let narrow = Arc::new(AtomicUsize::new(0));
            let job = |confines: Arc<Confines>, narrow: Arc<AtomicUsize>| {
                let thread = Counting { narrow, mask: RefCell::new((0..4).collect()) };
                for _ in 0..2 {
                    drop(confines.pin(0, &thread));
                    assert_eq!(thread.mask.borrow().len(), 4);
                }
            };
            let other = {
                let (confines, narrow) = (Arc::clone(&confines), Arc::clone(&narrow));
                loom::thread::spawn(move || job(confines, narrow))
            };
            job(Arc::clone(&confines), narrow);
            other.join().unwrap();
            assert_eq!(confines.slots[0].taken(), 0);
        });
    }
}
