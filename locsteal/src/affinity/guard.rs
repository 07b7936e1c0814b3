//! The affinity guard: work that stays in one LLC domain, on anybody's threads.
//!
//! This is its public face; `guard_pin.rs` tells the protocol.

use super::guard_pin::{Confines, Pin, pin_near, this_cpu};
pub use super::guard_pin::{Unpinned, unpinned};
use crate::topology::CpuSet;

/// A place on the machine: the last-level-cache domain of a CPU.
///
/// Take one where the data is, and hand it to whoever works on the data, on a thread of any pool or executor: while a
/// [guard](Self::guard) of it is alive, the thread stays among the CPUs that share that cache. A guard only ever
/// narrows where a thread may run, and gives way to whoever else sets the thread's affinity mask.
///
/// # Examples
///
/// ```
/// use locsteal::Near;
///
/// let data = vec![1, 2, 3];
/// let sum = std::thread::spawn(Near::here().wrap(move || data.iter().sum::<i32>()));
/// assert_eq!(sum.join().unwrap(), 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Near {
    cpu: Option<usize>,
}

impl Near {
    /// Where the calling thread is running now. Takes nanoseconds; off Linux the place is unknown.
    #[inline]
    pub fn here() -> Self {
        Self { cpu: this_cpu() }
    }

    /// The place of a CPU, by the kernel's number. One that the machine does not have is as an unknown place.
    #[inline]
    pub const fn of(cpu: usize) -> Self {
        Self { cpu: Some(cpu) }
    }

    /// The CPU that the place was taken from, if it is known.
    pub const fn cpu(self) -> Option<usize> {
        self.cpu
    }

    /// The CPUs that share the last-level cache; `None` where that is unknown.
    pub fn cpus(self) -> Option<&'static CpuSet> {
        let topology = Confines::of_machine().topology();
        let domain = topology.domain_of(self.cpu?)?;
        Some(topology.domains()[domain].cpus())
    }

    /// Keeps the calling thread near this place until the guard is dropped.
    ///
    /// The thread is confined to those CPUs of the domain that it may use already. It is left as it is where that
    /// would be no use or would do harm; [`NearGuard::unpinned`] says why. On a machine of one domain, and off
    /// Linux, a guard does nothing and makes no system call; where it acts, it makes two, and two more when dropped.
    #[must_use = "the thread stays near for as long as the guard lives"]
    pub fn guard(self) -> NearGuard {
        NearGuard { pin: pin_near(self.cpu) }
    }

    /// The same work, to be run on whatever thread: near this place, under a [guard](Self::guard) of its own.
    ///
    /// The guard ends when the work does, also by a panic.
    pub fn wrap<F, T>(self, work: F) -> impl FnOnce() -> T + use<F, T>
    where
        F: FnOnce() -> T,
    {
        move || {
            let _guard = self.guard();
            work()
        }
    }
}

/// Keeps its thread near a place; made by [`Near::guard`].
///
/// On drop the thread gets its affinity mask back bit for bit, unless somebody else has moved it out of the domain
/// meanwhile: that newer choice stays.
#[derive(Debug)]
pub struct NearGuard {
    pin: Result<Pin<'static>, Unpinned>,
}

impl NearGuard {
    /// Whether the thread is confined to the domain by this guard.
    pub fn is_pinned(&self) -> bool {
        self.pin.is_ok()
    }

    /// Why the guard has left the thread as it is; `None` if it has confined it.
    pub fn unpinned(&self) -> Option<Unpinned> {
        self.pin.as_ref().err().copied()
    }
}
