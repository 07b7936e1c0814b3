//! CPU time and context switches, as the system counts them.

use std::time::Duration;

/// What a process has used so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    /// How often the system took a CPU from a thread that could have gone on.
    pub(super) preemptions: i64,
    /// How often a thread gave its CPU up because it waited for something.
    pub(super) sleeps: i64,
}

fn usage(whose: libc::c_int) -> Usage {
    // SAFETY: `rusage` is plain numbers, for which zero is a value, and the call only writes it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whose, &raw mut usage);
        usage
    };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
    };
    Usage {
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        preemptions: usage.ru_nivcsw,
        sleeps: usage.ru_nvcsw,
    }
}

/// Of this process, all its threads together.
pub(super) fn own() -> Usage {
    usage(libc::RUSAGE_SELF)
}

/// CPU time of this process so far.
pub(crate) fn cpu_time_of_this_process() -> Duration {
    own().cpu
}

/// CPU time of all its children that have ended and been waited for.
pub(crate) fn cpu_time_of_ended_children() -> Duration {
    usage(libc::RUSAGE_CHILDREN).cpu
}

/// CPU time of all threads of this process but the calling one.
pub(super) fn of_other_threads() -> Duration {
    let read = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call only writes the time that it is given.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let own = read(libc::CLOCK_THREAD_CPUTIME_ID);
    read(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(own)
}
