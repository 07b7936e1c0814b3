//! A process that has nothing to do with the peers and only computes: it disturbs a loop, or is disturbed by a pool.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::process::Process;
use crate::arm::end_with_parent;
use crate::kernels::churn;

/// Steps of one unit of its work, about 1.5 us.
const UNIT: u32 = 1_000;

/// Computes on `threads` threads, and for each order (a time) answers how long one unit took a thread on average, in
/// nanoseconds.
pub(crate) fn serve(threads: usize) -> Result<()> {
    end_with_parent();
    for order in io::stdin().lock().lines() {
        let time: Duration = serde_json::from_str(&order?)?;
        println!("{}", work(threads, time));
        io::stdout().flush()?;
    }
    Ok(())
}

fn work(threads: usize, time: Duration) -> f64 {
    let stop = AtomicBool::new(false);
    let units = AtomicU64::new(0);
    let start = Instant::now();
    let wall = thread::scope(|scope| {
        for seed in 0..threads as u64 {
            let (stop, units) = (&stop, &units);
            scope.spawn(move || {
                let (mut x, mut done) = (seed, 0);
                while !stop.load(Relaxed) {
                    x = churn(x, UNIT);
                    done += 1;
                }
                std::hint::black_box(x);
                units.fetch_add(done, Relaxed);
            });
        }
        thread::sleep(time);
        stop.store(true, Relaxed);
        start.elapsed()
    });
    wall.as_nanos() as f64 * threads as f64 / units.into_inner().max(1) as f64
}

/// The conductor's handle.
pub(super) struct Neighbour(Process);

impl Neighbour {
    pub(super) fn start(threads: usize) -> Result<Self> {
        let arguments = ["neighbour", "--threads", &threads.to_string()].map(String::from);
        let mut process = Process::start(&arguments, &[])?;
        process.stop();
        Ok(Self(process))
    }

    /// Lets it work for `time`, while `meanwhile` runs. Gives what a unit of its work took, in nanoseconds.
    pub(super) fn during<R>(
        &mut self,
        time: Duration,
        meanwhile: impl FnOnce() -> Result<R>,
    ) -> Result<(f64, R)> {
        self.0.go_on();
        self.0.order(&time)?;
        let result = meanwhile();
        let unit = self.0.reply();
        self.0.stop();
        Ok((unit?, result?))
    }
}
