//! Noticing that a process is the child of a fork: a pool's threads stay with the parent.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

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

#[cfg(all(unix, not(miri)))]
fn notice_forks() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler may run at any time in the child of a fork; it only increments an atomic. A library
        // that is unloaded removes its handlers. Failure (out of memory) leaves forks unnoticed.
        unsafe {
            libc::pthread_atfork(None, None, Some(in_child));
        }
    });
}

#[cfg(not(all(unix, not(miri))))]
fn notice_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {});
}
