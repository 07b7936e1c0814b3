//! What the kernel says of this process's threads, and this test program run again as another process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::locality::kernel::{cpu_list, list};

/// The kernel's numbers of this process's threads whose name begins with `prefix`. Threads that have run to their end
/// are not among them: the kernel lists such a thread for a moment longer, even when it has been joined.
pub fn threads_named(prefix: &str) -> Vec<u32> {
    tasks()
        .into_iter()
        .filter_map(|task| {
            let name = fs::read_to_string(task.join("comm")).ok()?;
            let id = task.file_name()?.to_str()?.parse().ok()?;
            (name.starts_with(prefix) && !has_ended(&task)).then_some(id)
        })
        .collect()
}

/// The folders of this process's threads in `/proc/self/task`, without any that ended while they were listed.
///
/// The kernel goes through the threads in the order of their birth. When one that it has gone past ends meanwhile, it
/// may pass over another; then the one that has ended is in the listing and gone from the folder, and the threads are
/// listed once more. Tests of the same program end threads all the time.
pub fn tasks() -> Vec<PathBuf> {
    loop {
        let tasks = fs::read_dir("/proc/self/task").expect("this process's threads can be listed");
        let tasks: Vec<PathBuf> = tasks.map(|task| task.expect("a thread").path()).collect();
        if tasks.iter().all(|task| task.exists()) {
            return tasks;
        }
    }
}

/// Whether the thread of a folder in `/proc/self/task` is gone, or has no code of this process left to run.
pub fn has_ended(task: &Path) -> bool {
    /// `PF_EXITING` of the kernel's `sched.h`: set before the kernel tells a joining thread.
    const EXITING: u64 = 4;
    let Ok(stat) = fs::read_to_string(task.join("stat")) else { return true };
    // The name, in parentheses, may hold anything; the flags are the seventh field after it.
    let flags = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(6));
    let flags: u64 = flags.and_then(|word| word.parse().ok()).expect("a number");
    flags & EXITING != 0
}

/// How long a thread has run so far, in nanoseconds, and whether it sleeps now.
pub fn run_time(thread: u32) -> (u64, bool) {
    let task = format!("/proc/self/task/{thread}");
    let schedstat =
        fs::read_to_string(format!("{task}/schedstat")).expect("a thread of this process");
    let ran = schedstat.split(' ').next().and_then(|word| word.parse().ok()).expect("a number");
    let stat = fs::read_to_string(format!("{task}/stat")).expect("a thread of this process");
    // The name, in parentheses, may hold anything; the state follows it.
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    (ran, state == Some('S'))
}

/// Returns when these threads all sleep, and none of them will be woken by another.
///
/// One that sleeps may only wait for a lock that another one holds. So they are looked at twice: where each sleeps both
/// times, and has not run in between, there was a moment when all of them slept.
pub fn until_asleep(threads: &[u32]) {
    let look = || -> Vec<_> { threads.iter().map(|&thread| run_time(thread)).collect() };
    loop {
        let seen = look();
        if seen.iter().all(|(_, sleeps)| *sleeps) && look() == seen {
            return;
        }
        std::thread::yield_now();
    }
}

/// The affinity mask of a thread as the kernel's list, e.g. `0-3,8`, without CPUs that are not online: where there could be
/// more of them, masks that nobody has set yet hold them, and no others.
pub fn affinity_of(thread: u32) -> String {
    affinity_in(&format!("/proc/self/task/{thread}/status"))
}

/// The affinity mask of the calling thread, likewise.
pub fn own_affinity() -> String {
    affinity_in("/proc/thread-self/status")
}

fn affinity_in(status: &str) -> String {
    let status = fs::read_to_string(status).expect("a thread");
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let mask = cpu_list(line.expect("the kernel tells the mask"));
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("some CPU is online");
    list(&(&mask & &cpu_list(&online)))
}

/// How much of its address space this process has taken, in bytes.
pub fn address_space() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    size.expect("the kernel tells the size") * 1024
}

/// Runs the test `name` of this test program again, alone, in a process of its own with more environment variables.
/// The test can tell by the variables that it is the inner one.
pub fn run_again(name: &str, variables: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("the test program has a path");
    Command::new(program)
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .envs(variables.iter().copied())
        .output()
        .expect("the test program can be run again")
}
