//! The process of one peer on one line. It prepares the operation, checks it, and then measures when it is told to; the
//! conductor keeps it stopped at all other times.

mod batch;
mod gaps;
mod protocol;
mod spread;
mod usage;

use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};

use crate::lines::{Line, Pace, Timed};
use crate::peers::{Entry, Setup};

pub(crate) use protocol::{Gapped, Order, Reply, Sample, Spread};
pub(crate) use spread::SHARES;
pub(crate) use usage::{cpu_time_of_ended_children, cpu_time_of_this_process};

/// Serves orders from standard input until it ends. What cannot be measured is said in a reply, not in the exit code.
pub(crate) fn serve(entry: &Entry, line: &Line, setup: &Setup) -> Result<()> {
    end_with_parent();
    let mut timed = match prepare(entry, line, setup) {
        Ok(timed) => timed,
        Err(error) => return send(&Reply::Failed(format!("{error:#}"))),
    };
    send(&Reply::Ready)?;
    for order in io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&order?)? {
            Order::Measure { warm_up, budget } => {
                Reply::Sample(batch::measure(&mut *timed, line.pace, warm_up, budget))
            }
            Order::Spread { warm_up, count } => {
                Reply::Spread(spread::measure(&mut *timed, line.pace, warm_up, count))
            }
            Order::Gaps { gap, count } => Reply::Gapped(gaps::measure(&mut *timed, gap, count)),
            Order::Live { time, gap } => {
                let start = Instant::now();
                let left = || time.saturating_sub(start.elapsed());
                while !left().is_zero() {
                    timed.sample(1, Pace::Hot);
                    thread::sleep(gap.unwrap_or(time).min(left()));
                }
                Reply::Lived
            }
        };
        send(&reply)?;
    }
    Ok(())
}

fn prepare(entry: &Entry, line: &Line, setup: &Setup) -> Result<Box<dyn Timed>> {
    let prepare = entry
        .prepare(line)
        .ok_or_else(|| anyhow!("{} has nothing to run {} with", entry.name, line.name))?;
    let mut timed = prepare(setup, line)?;
    timed.check()?;
    Ok(timed)
}

/// One message a line.
pub(crate) fn send(reply: &Reply) -> Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, reply)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Has the system end this process when the conductor dies, even while it is stopped.
#[cfg(target_os = "linux")]
pub(crate) fn end_with_parent() {
    // SAFETY: a plain request about this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Elsewhere the end of standard input must do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end_with_parent() {}
