//! Ties a peer's threads to CPUs, the same way for all that have a hook for it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Ties the calling thread to the `k`-th CPU (counted around) that the process may use. Where the system has no such
/// call, or refuses it, nothing happens.
#[cfg(target_os = "linux")]
pub(super) fn pin_to(k: usize) {
    // SAFETY: `cpu_set_t` is plain bits, for which zero is a value; both calls get its own size and this thread.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        // The process's main thread still has the mask that the process was given.
        let main = libc::getpid();
        if libc::sched_getaffinity(main, size_of::<libc::cpu_set_t>(), &raw mut allowed) != 0 {
            return;
        }
        let cpus: Vec<usize> =
            (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &allowed)).collect();
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpus[k % cpus.len()], &mut one);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn pin_to(_k: usize) {}

/// A hook for pools that call it once on each new thread, without a number.
pub(super) fn pin_next(first: usize) -> impl Fn() + Send + Sync + 'static {
    let next = AtomicUsize::new(first);
    move || pin_to(next.fetch_add(1, Relaxed))
}
