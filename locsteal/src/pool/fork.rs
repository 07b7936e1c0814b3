//! Noticing that a process is the child of a fork: a pool's threads stay with the parent, and so do the threads that
//! held a lock when it was made.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::grown::Grown;

/// How many forks lie between the first process and this one, as far as they were noticed.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A process among those that came of forks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn this() -> Self {
        notice_forks();
        Self(FORKS.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn is_this(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }

    /// To be called by a worker of a pool of this process when it has run code of others, which may have forked. In the
    /// child the thread would be the pool's only one: nobody is there whose loop it could leave, and the jobs that wait are
    /// the parent's to run. So it ends there, by a panic, and with it the process, if it has no other thread.
    #[inline]
    pub(crate) fn ends_in_child(self) {
        if !self.is_this() {
            end_in_child();
        }
    }
}

#[cold]
fn end_in_child() -> ! {
    panic!(
        "this process is the child of a fork that was made by a worker of a pool, inside of a parallel loop or of a job: \
         whatever else the pool has to do is the parent's, so this thread ends here. End the child where it was made, as \
         by `exec` or `_exit`"
    )
}

/// What each process has of its own, be it a fork of another: a lock that threads take here is free in a child.
///
/// A child's is made when it is first asked for; those of the processes before it stay, and are not looked at.
#[derive(Debug)]
pub(crate) struct PerProcess<T>(Grown<(Process, T)>);

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(Grown::new())
    }

    /// This process's.
    pub(crate) fn here(&self) -> &T {
        let this = Process::this();
        &self.0.find_or_add(|(process, _)| *process == this, || (this, T::default())).1
    }
}

impl<T: Default> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(unix, not(miri)))]
fn notice_forks() {
    use std::sync::atomic::AtomicBool;

    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    static NOTICED: AtomicBool = AtomicBool::new(false);
    // Acquire: pairs with the release below, so that who goes on by this has its forks noticed.
    if NOTICED.load(Ordering::Acquire) {
        return;
    }
    // Not by a `Once`, which the child of a fork could find being run by a thread that is not there. Threads that come here
    // at once each leave a handler, and a fork is counted as several: it need only be another number.
    // SAFETY: the handler may run at any time in the child of a fork; it only increments an atomic. A library
    // that is unloaded removes its handlers. Failure (out of memory) leaves forks unnoticed.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    }
    NOTICED.store(true, Ordering::Release);
}

#[cfg(not(all(unix, not(miri))))]
fn notice_forks() {}

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod tests {
    use std::sync::{Mutex, PoisonError, mpsc};
    use std::thread;

    use super::*;

    /// Runs `inner` in the child of a fork, which ends when it hangs, and gives back whether it was true.
    fn in_child(inner: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child takes no lock of another thread but those it is about, and ends without returning.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: ends the child in a minute.
                unsafe { libc::alarm(60) };
                let failed = i32::from(!inner());
                // SAFETY: ends the child without running the parent's exit handlers.
                unsafe { libc::_exit(failed) }
            }
            child => {
                let mut status = -1;
                // SAFETY: waits for the child that was just made.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                status == 0
            }
        }
    }

    #[test]
    fn what_another_thread_holds_or_makes_is_free_in_the_child_of_a_fork() {
        static LOCK: PerProcess<Mutex<u32>> = PerProcess::new();
        static VALUE: Grown<u32> = Grown::new();
        let lock = || LOCK.here().lock().unwrap_or_else(PoisonError::into_inner);
        let (held, holds) = mpsc::channel();
        let (go_on, forked) = mpsc::channel::<()>();
        let other = thread::spawn(move || {
            let mut number = lock();
            *number = 1;
            VALUE.newest_or_add(|| {
                held.send(()).unwrap();
                forked.recv().unwrap();
                1
            });
        });
        holds.recv().unwrap();
        assert!(in_child(|| *lock() == 0 && *VALUE.newest_or_add(|| 2) == 2));
        go_on.send(()).unwrap();
        other.join().unwrap();
        assert_eq!((*lock(), VALUE.newest()), (1, Some(&1)));
    }
}
