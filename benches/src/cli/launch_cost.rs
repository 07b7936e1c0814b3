//! `launch-cost`: single operations, one by one.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use super::choice::{choose_lines, choose_peers, sort_out};
use super::cpus;
use crate::conductor::{self, Plan};
use crate::{report, transfer};

#[derive(Debug, Args)]
pub(super) struct LaunchCost {
    /// The lines to time.
    #[arg(long, value_delimiter = ',', default_value = "launch", value_name = "LINES")]
    lines: Vec<String>,
    /// Only these peers: beginnings of names (`tbb`) or whole names (`=tbb`).
    #[arg(long, value_delimiter = ',', value_name = "PEERS")]
    peers: Vec<String>,
    /// Operations that are timed.
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    count: usize,
    /// Threads of each pool, the caller included [default: the CPUs that this process may use].
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Tie workers to CPUs, in those peers that can.
    #[arg(long)]
    pin: bool,
}

impl LaunchCost {
    pub(super) fn run(&self) -> Result<()> {
        let plan = Plan {
            rounds: 1,
            repetitions: 1,
            warm_up: Duration::from_millis(5),
            budget: Duration::ZERO,
            width: self.width.unwrap_or_else(cpus),
            pin: self.pin,
            seed: 0,
            base: "serial".to_owned(),
        };
        ensure!(plan.width > 0, "--width must be at least 1");
        let lines = choose_lines(&self.lines)?;
        let chosen = choose_peers(&self.peers)?;
        let (peers, missing) = sort_out(chosen, &plan.base)?;
        for line in lines.iter().filter(|line| !line.neighbour.is_measured()) {
            report::print_spreads(line, &conductor::spreads(&plan, line, &peers, self.count)?);
        }
        for missing in &missing {
            println!("missing: {} ({})", missing.peer, missing.why);
        }
        let line = transfer::line_ns();
        println!("A cache line takes {line:.0} ns from one CPU to another.");
        #[cfg(target_arch = "x86_64")]
        println!(
            "A nanosecond is {:.2} cycles of the processor's clock at its nominal rate.",
            transfer::ticks_per_ns()
        );
        Ok(())
    }
}
