//! The system calls for affinity masks.
#![allow(unsafe_code, reason = "system calls")]

use std::io;

use super::mask::MaskCalls;

/// The kernel itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kernel;

pub(super) use calls::{get_of, own_thread};

/// The kernel's number of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadNumber(i32);

#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
mod calls {
    use super::{Kernel, MaskCalls, ThreadNumber, io};

    /// The calling thread.
    const SELF: ThreadNumber = ThreadNumber(0);

    /// As [`MaskCalls::get`], for any thread.
    pub(crate) fn get_of(thread: ThreadNumber, words: &mut [u64]) -> io::Result<usize> {
        // SAFETY: the kernel writes at most the given number of bytes, which is the size of
        // `words`, exclusively borrowed and valid for any bit pattern.
        let bytes = unsafe {
            libc::syscall(
                libc::SYS_sched_getaffinity,
                thread.0,
                size_of_val(words),
                words.as_mut_ptr(),
            )
        };
        let bytes = usize::try_from(bytes).map_err(|_| io::Error::last_os_error())?;
        for word in &mut *words {
            *word = native(*word);
        }
        Ok(bytes)
    }

    /// The number of the calling thread.
    pub(crate) fn own_thread() -> Option<ThreadNumber> {
        // SAFETY: takes nothing and touches no memory of ours.
        let number = unsafe { libc::syscall(libc::SYS_gettid) };
        i32::try_from(number).ok().map(ThreadNumber)
    }

    impl MaskCalls for Kernel {
        fn get(&self, words: &mut [u64]) -> io::Result<usize> {
            get_of(SELF, words)
        }

        fn set(&self, words: &[u64]) -> io::Result<()> {
            let words: Vec<u64> = words.iter().map(|&word| native(word)).collect();
            // SAFETY: the kernel reads at most the given number of bytes, which is the size of
            // `words`, and keeps no reference. Thread id 0 is the calling thread.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_sched_setaffinity,
                    0,
                    size_of_val(words.as_slice()),
                    words.as_ptr(),
                )
            };
            if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        }

        fn cpu(&self) -> Option<usize> {
            // SAFETY: takes nothing and touches no memory of ours.
            let cpu = unsafe { libc::sched_getcpu() };
            usize::try_from(cpu).ok()
        }
    }

    /// From the kernel's order of bytes to ours and back: a mask is an array of `unsigned long`,
    /// whose halves stand the other way round only on big-endian machines of 32 bits.
    const fn native(word: u64) -> u64 {
        if cfg!(all(target_endian = "big", target_pointer_width = "32")) {
            word.rotate_left(32)
        } else {
            word
        }
    }
}

#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
mod calls {
    use super::{Kernel, MaskCalls, ThreadNumber, io};

    pub(crate) fn get_of(_thread: ThreadNumber, _words: &mut [u64]) -> io::Result<usize> {
        Err(unsupported())
    }

    pub(crate) fn own_thread() -> Option<ThreadNumber> {
        None
    }

    impl MaskCalls for Kernel {
        fn get(&self, _words: &mut [u64]) -> io::Result<usize> {
            Err(unsupported())
        }

        fn set(&self, _words: &[u64]) -> io::Result<()> {
            Err(unsupported())
        }

        fn cpu(&self) -> Option<usize> {
            None
        }
    }

    fn unsupported() -> io::Error {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "affinity masks are read and set on Linux alone: threads run unpinned here",
        )
    }
}
