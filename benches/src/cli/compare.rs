//! `compare`: lines with peers, measured and published.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use super::choice::{choose_lines, choose_peers, sort_out};
use super::command_line::command_line;
use super::{cpus, show};
use crate::conductor::{self, Plan};
use crate::report::{self, Peer, Record, Run};

#[derive(Debug, Args)]
pub(super) struct Compare {
    /// Less of everything: the whole table in under two minutes.
    #[arg(long)]
    quick: bool,
    /// Only these lines: beginnings of names (`axpy`), groups (`uneven`), whole names (`=launch-1e3`).
    #[arg(long, value_delimiter = ',', value_name = "LINES")]
    lines: Vec<String>,
    /// Only these peers: beginnings of names (`tbb`) or whole names (`=tbb`). The base always takes part.
    #[arg(long, value_delimiter = ',', value_name = "PEERS")]
    peers: Vec<String>,
    /// The peer whose time the others' are divided by.
    #[arg(long, default_value = "serial", value_name = "PEER")]
    base: String,
    /// Sets of fresh processes [default: 5, quick: 2].
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Batches of each process [default: 15, quick: 4].
    #[arg(long, value_name = "N")]
    repetitions: Option<usize>,
    /// Length of a batch in milliseconds, after half as much warm-up [default: 8, quick: 2].
    #[arg(long, value_name = "MS")]
    batch: Option<f64>,
    /// Threads of each pool, the caller included [default: the CPUs that this process may use].
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Tie workers to CPUs, in those peers that can.
    #[arg(long)]
    pin: bool,
    /// Seed of the orders.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// File to write the results to while they come in.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Folder to write page, plots and results into.
    #[arg(long, value_name = "FOLDER")]
    publish: Option<PathBuf>,
}

impl Compare {
    fn plan(&self) -> Result<Plan> {
        let (rounds, repetitions, batch) = if self.quick { (2, 4, 2.0) } else { (5, 15, 8.0) };
        let batch = self.batch.unwrap_or(batch);
        let plan = Plan {
            rounds: self.rounds.unwrap_or(rounds),
            repetitions: self.repetitions.unwrap_or(repetitions),
            warm_up: Duration::try_from_secs_f64(batch / 2e3)?,
            budget: Duration::try_from_secs_f64(batch / 1e3)?,
            width: self.width.unwrap_or_else(cpus),
            pin: self.pin,
            seed: self.seed,
            base: self.base.clone(),
        };
        ensure!(plan.rounds > 0, "--rounds must be at least 1");
        ensure!(plan.repetitions > 0, "--repetitions must be at least 1");
        ensure!(plan.width > 0, "--width must be at least 1");
        Ok(plan)
    }

    pub(super) fn run(&self) -> Result<()> {
        let plan = self.plan()?;
        let lines = choose_lines(&self.lines)?;
        let chosen = choose_peers(&self.peers)?;
        let (peers, missing) = sort_out(chosen, &self.base)?;
        let run = Run {
            command: command_line(),
            base: plan.base.clone(),
            width: plan.width,
            pinned: plan.pin,
            rounds: plan.rounds,
            repetitions: plan.repetitions,
            warm_up_us: plan.warm_up.as_micros() as u64,
            budget_us: plan.budget.as_micros() as u64,
            seed: plan.seed,
            ..Run::here()
        };
        let mut file = self.json.as_ref().map(File::create).transpose()?;
        let mut records = Vec::new();
        let mut keep = |record: Record| {
            if let Some(file) = &mut file {
                report::write(file, &record)?;
            }
            records.push(record);
            Ok(())
        };
        keep(Record::Run(run))?;
        for missing in missing {
            eprintln!("missing: {} ({})", missing.peer, missing.why);
            keep(Record::Missing(missing))?;
        }
        for entry in &peers {
            if plan.pin && !entry.pins {
                eprintln!("not tied to CPUs, as it has no way to do so: {}", entry.name);
            }
            keep(Record::Peer(Peer {
                name: entry.name.to_owned(),
                idiom: entry.idiom.to_owned(),
                version: entry.version()?,
            }))?;
        }
        conductor::run(&plan, &lines, &peers, keep)?;
        show(&records, self.publish.as_deref())
    }
}
