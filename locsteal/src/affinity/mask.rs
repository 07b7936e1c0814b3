//! The affinity mask of the calling thread: where the kernel may run it.
//!
//! Masks are as large as the machine needs. The C library's type ends at 1,024 CPUs, and the kernel
//! refuses to write a mask into less memory than its own has, so a buffer that was too small is
//! tried again with twice the size.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use super::kernel::ThreadNumber;
use super::kernel::{self, Kernel};
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

/// The mask of any thread of this process.
///
/// # Errors
///
/// As [`current`], and the kernel's if the thread has ended.
pub(crate) fn of_thread(thread: ThreadNumber) -> io::Result<CpuSet> {
    read_by(|words| kernel::get_of(thread, words))
}

/// The calling thread's number, for [`of_thread`]. `None` off Linux.
pub(crate) fn own_thread() -> Option<ThreadNumber> {
    kernel::own_thread()
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
    read_by(|words| calls.get(words))
}

/// Reads a mask by a call that is as [`MaskCalls::get`].
fn read_by(get: impl Fn(&mut [u64]) -> io::Result<usize>) -> io::Result<CpuSet> {
    /// The size that was enough last time. A hint alone, so `Relaxed`.
    static WORDS: AtomicUsize = AtomicUsize::new(FIRST_WORDS);

    let mut words = vec![0; WORDS.load(Ordering::Relaxed)];
    loop {
        match get(&mut words) {
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

/// A made-up kernel with one thread, which refuses what it is told to.
#[cfg(test)]
pub(crate) mod fake {
    use std::cell::{Cell, RefCell};

    use super::{CpuSet, MaskCalls, io};

    #[derive(Debug)]
    pub(crate) struct FakeKernel {
        pub(crate) mask: RefCell<CpuSet>,
        /// Its masks have so many CPUs; smaller buffers are refused.
        pub(crate) possible: usize,
        /// The error number with which each call of this kind fails.
        pub(crate) get_fails: Cell<Option<i32>>,
        pub(crate) set_fails: Cell<Option<i32>>,
        pub(crate) calls: Cell<usize>,
    }

    impl FakeKernel {
        pub(crate) fn new(possible: usize, mask: &str) -> Self {
            Self {
                mask: RefCell::new(mask.parse().unwrap()),
                possible,
                get_fails: Cell::new(None),
                set_fails: Cell::new(None),
                calls: Cell::new(0),
            }
        }

        fn count(&self, fails: &Cell<Option<i32>>) -> io::Result<()> {
            self.calls.set(self.calls.get() + 1);
            fails.get().map_or(Ok(()), |number| Err(io::Error::from_raw_os_error(number)))
        }
    }

    impl MaskCalls for FakeKernel {
        fn get(&self, words: &mut [u64]) -> io::Result<usize> {
            self.count(&self.get_fails)?;
            if words.len() * 64 < self.possible {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let mask = self.mask.borrow();
            let written = self.possible.div_ceil(64);
            words[..written].fill(0);
            words[..mask.words().len()].copy_from_slice(mask.words());
            // As the kernel, leave the rest alone: what is there must not count.
            words[written..].fill(!0);
            Ok(written * 8)
        }

        fn set(&self, words: &[u64]) -> io::Result<()> {
            self.count(&self.set_fails)?;
            let online: CpuSet = (0..self.possible).collect();
            let mask = CpuSet::from_words(words.to_vec()).intersection(&online);
            if mask.is_empty() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            *self.mask.borrow_mut() = mask;
            Ok(())
        }

        fn cpu(&self) -> Option<usize> {
            self.mask.borrow().first()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fake::FakeKernel;
    use super::*;

    fn set_of(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn the_buffer_grows_until_the_kernel_is_content() {
        for (possible, mask) in
            [(1, "0"), (64, "63"), (1024, "0-1023"), (2048, "5,1500"), (65_536, "0,65535")]
        {
            let kernel = FakeKernel::new(possible, mask);
            assert_eq!(current_by(&kernel).unwrap(), set_of(mask));
            // The size is remembered for the process.
            let calls = kernel.calls.get();
            current_by(&kernel).unwrap();
            // Other tests change it meanwhile; doubling comes to any size in a few steps.
            assert!(kernel.calls.get() <= calls + 16);
        }
    }

    #[test]
    fn masks_of_any_size_are_set() {
        let kernel = FakeKernel::new(2048, "0-2047");
        set_by(&kernel, &set_of("3,1500")).unwrap();
        assert_eq!(current_by(&kernel).unwrap(), set_of("3,1500"));
    }

    #[test]
    fn failures_are_passed_on_and_end() {
        // EPERM, EINVAL, ENOSYS: a filter, a size or CPU that is refused, a call that is not there.
        for number in [1, 22, 38] {
            let kernel = FakeKernel::new(8, "0-7");
            kernel.get_fails.set(Some(number));
            assert_eq!(current_by(&kernel).unwrap_err().raw_os_error(), Some(number));
            assert!(kernel.calls.get() <= 11, "each size is tried once");
            kernel.set_fails.set(Some(number));
            let error = set_by(&kernel, &set_of("1")).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(number));
        }
    }

    #[test]
    fn an_empty_mask_is_refused_without_a_call() {
        let kernel = FakeKernel::new(8, "0-7");
        let error = set_by(&kernel, &CpuSet::new()).unwrap_err();
        assert_eq!(error.to_string(), "a thread cannot be confined to no CPU at all");
        assert_eq!(kernel.calls.get(), 0);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn the_real_mask_is_narrowed_and_restored_bit_for_bit() {
        std::thread::spawn(|| {
            let before = current().unwrap();
            assert!(!before.is_empty());
            for cpu in &before {
                let one: CpuSet = [cpu].into_iter().collect();
                set(&one).unwrap();
                assert_eq!(current().unwrap(), one);
                assert_eq!(current_cpu(), Some(cpu));
                // CPUs that do not exist are left out, however large the set.
                let beyond: CpuSet = [cpu, CpuSet::MAX_ID].into_iter().collect();
                set(&beyond).unwrap();
                assert_eq!(current().unwrap(), one);
            }
            let nowhere: CpuSet = [CpuSet::MAX_ID].into_iter().collect();
            let error = set(&nowhere).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            let (thread, last) = (own_thread().unwrap(), current().unwrap());
            let seen_by_another = || of_thread(thread).unwrap();
            assert_eq!(std::thread::scope(|s| s.spawn(seen_by_another).join()).unwrap(), last);
            set(&before).unwrap();
            assert_eq!(current().unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    #[cfg(any(not(target_os = "linux"), miri))]
    fn elsewhere_masks_are_unsupported() {
        assert_eq!(current().unwrap_err().kind(), io::ErrorKind::Unsupported);
        assert_eq!(set(&set_of("0")).unwrap_err().kind(), io::ErrorKind::Unsupported);
        assert_eq!(current_cpu(), None);
    }
}
