//! The affinity mask of the calling thread: where the kernel may run it.
//!
//! Masks are as large as the machine needs. The C library's type ends at 1,024 CPUs, and the kernel
//! refuses to write a mask into less memory than its own has, so a buffer that was too small is
//! tried again with twice the size.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::kernel::Kernel;
use crate::topology::CpuSet;

/// What the kernel is asked about masks, so that tests can answer in its place.
///
/// [`Kernel`] has no state and its calls are known when compiling: the detour costs nothing.
pub(crate) trait MaskCalls {
    /// Writes the calling thread's mask, bit `c % 64` of word `c / 64` for CPU `c`; gives the
    /// number of bytes written, the rest being untouched.
    fn get(&self, words: &mut [u64]) -> io::Result<usize>;

    /// Sets the calling thread's mask; CPUs beyond the words are out.
    fn set(&self, words: &[u64]) -> io::Result<()>;

    /// The CPU that the calling thread is running on.
    fn cpu(&self) -> Option<usize>;
}

/// Words of the first try: 1,024 CPUs.
const FIRST_WORDS: usize = 16;
const MAX_WORDS: usize = (CpuSet::MAX_ID + 1) / 64;

/// The calling thread's mask.
///
/// # Errors
///
/// The kernel's, and [`io::ErrorKind::Unsupported`] off Linux.
pub(crate) fn current() -> io::Result<CpuSet> {
    current_by(&Kernel)
}

/// Sets the calling thread's mask to exactly these CPUs. The kernel leaves out those that do not
/// exist, are offline, or are not in the process's cpuset.
///
/// # Errors
///
/// The kernel's, [`io::ErrorKind::InvalidInput`] for an empty set, of which the kernel is not even
/// asked, and [`io::ErrorKind::Unsupported`] off Linux.
pub(crate) fn set(cpus: &CpuSet) -> io::Result<()> {
    set_by(&Kernel, cpus)
}

/// The CPU that the calling thread is running on, without a system call; a moment later it can be
/// another one. `None` off Linux.
#[inline]
pub(crate) fn current_cpu() -> Option<usize> {
    Kernel.cpu()
}

/// As [`current`], by these calls.
pub(crate) fn current_by(calls: &impl MaskCalls) -> io::Result<CpuSet> {
    /// The size that was enough last time. A hint alone, so `Relaxed`.
    static WORDS: AtomicUsize = AtomicUsize::new(FIRST_WORDS);

    let mut words = vec![0; WORDS.load(Ordering::Relaxed)];
    loop {
        match calls.get(&mut words) {
            Ok(bytes) => {
                WORDS.store(words.len(), Ordering::Relaxed);
                words.truncate(bytes.div_ceil(size_of::<u64>()));
                return Ok(CpuSet::from_words(words));
            }
            // The kernel's word for a buffer that is too small.
            Err(error)
                if error.kind() == io::ErrorKind::InvalidInput && words.len() < MAX_WORDS =>
            {
                words = vec![0; (words.len() * 2).min(MAX_WORDS)];
            }
            Err(error) => return Err(error),
        }
    }
}

/// As [`set`], by these calls.
pub(crate) fn set_by(calls: &impl MaskCalls, cpus: &CpuSet) -> io::Result<()> {
    if cpus.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a thread cannot be confined to no CPU at all",
        ));
    }
    calls.set(cpus.words())
}
