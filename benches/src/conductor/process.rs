//! A process that works only when it is asked to: stopped by signal at all other times, so that a pool that spins while
//! idle takes no CPU from the others, whatever its policy.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long a process may take to answer before it is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Variables that would change how a peer behaves; the processes start without them.
const TUNING: [&str; 10] = [
    "OMP_",
    "GOMP_",
    "KMP_",
    "LIBOMP_",
    "TBB_",
    "RAYON_",
    "ORX_",
    "LOCSTEAL_",
    "MIMALLOC_",
    "MALLOC_",
];

/// A child of this program, running this program's own binary.
pub(super) struct Process {
    child: Child,
    orders: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Process {
    /// Starts this binary with `arguments`. It runs until it is [stopped](Self::stop).
    pub(super) fn start(arguments: &[String], variables: &[(&str, &str)]) -> Result<Self> {
        let binary = std::env::current_exe().context("this program cannot find its own binary")?;
        let mut command = Command::new(&binary);
        for (name, _) in std::env::vars_os() {
            if TUNING.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let mut child = command
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", binary.display()))?;
        let orders = child.stdin.take().expect("it was piped");
        let replies = BufReader::new(child.stdout.take().expect("it was piped"));
        Ok(Self { child, orders, replies })
    }

    /// Sends an order without waiting for its reply.
    pub(super) fn order(&mut self, order: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.orders.write_all(&line).context("the process takes no orders any more")
    }

    /// The next reply.
    pub(super) fn reply<T: DeserializeOwned>(&mut self) -> Result<T> {
        if self.replies.buffer().is_empty() && !readable(self.replies.get_ref(), PATIENCE)? {
            bail!("no answer within {} s", PATIENCE.as_secs());
        }
        let mut line = String::new();
        if self.replies.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            bail!("the process ended without an answer ({status})");
        }
        serde_json::from_str(&line).with_context(|| format!("the process answered {line:?}"))
    }

    pub(super) fn stop(&mut self) {
        self.signal(libc::SIGSTOP);
    }

    pub(super) fn go_on(&mut self) {
        self.signal(libc::SIGCONT);
    }

    fn signal(&mut self, signal: libc::c_int) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // SAFETY: the child has not been waited for, so the id is still its own.
            unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Either it has ended already, or this ends it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn readable(pipe: &impl AsRawFd, patience: Duration) -> Result<bool> {
    let mut poll = libc::pollfd { fd: pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let patience = libc::c_int::try_from(patience.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: one descriptor that is open as long as `pipe`.
    match unsafe { libc::poll(&raw mut poll, 1, patience) } {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(std::io::Error::last_os_error()).context("waiting for a process failed"),
    }
}
