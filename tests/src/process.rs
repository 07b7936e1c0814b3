//! What the kernel says of this process's threads, and this test program run again as another process.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The kernel's numbers of this process's threads whose name begins with `prefix`. Threads that have run to their end
/// are not among them: the kernel lists such a thread for a moment longer, even when it has been joined.
pub fn threads_named(prefix: &str) -> Vec<u32> {
    let tasks = fs::read_dir("/proc/self/task").expect("the threads of this process can be listed");
    tasks
        .filter_map(|task| {
            let task = task.ok()?.path();
            let name = fs::read_to_string(task.join("comm")).ok()?;
            let id = task.file_name()?.to_str()?.parse().ok()?;
            (name.starts_with(prefix) && !has_ended(&task)).then_some(id)
        })
        .collect()
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

/// The affinity mask of a thread as the kernel's list, e.g. `0-3,8`.
pub fn affinity_of(thread: u32) -> String {
    let status = fs::read_to_string(format!("/proc/self/task/{thread}/status")).expect("a thread");
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("the kernel tells the mask").trim().to_owned()
}

/// The affinity mask of the calling thread.
pub fn own_affinity() -> String {
    let status = fs::read_to_string("/proc/thread-self/status").expect("this thread");
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("the kernel tells the mask").trim().to_owned()
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
