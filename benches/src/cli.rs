//! The command line.

mod choice;
mod command_line;
mod compare;
mod launch_cost;
mod list;
mod studies;

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use anyhow::{Result, anyhow, ensure};
use clap::{Args, Parser, Subcommand};

use crate::lines::lines;
use crate::peers::Setup;
use crate::report::{self, Record, Summary};
use crate::{arm, conductor};
use choice::find_peer;
use compare::Compare;
use launch_cost::LaunchCost;
use studies::{CrowdArguments, IdleArguments};

/// locsteal beside its peers.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure lines with peers, and print (and publish) what came out.
    Compare(Compare),
    /// Time single operations one by one, and print how they scatter, what CPU time they take and how often threads sleep.
    LaunchCost(LaunchCost),
    /// The first loop after a pause, the CPU time that is burnt during the pause, and what a neighbour feels, for several
    /// limits of spinning and beside other libraries.
    Idle(IdleArguments),
    /// Far more seats than CPUs: each schedule's time there, as a multiple of that on one seat a CPU.
    Crowd(CrowdArguments),
    /// List the lines and the peers, and what is missing.
    List,
    /// Print (and publish) a results file again, without measuring.
    Report {
        /// A file that `compare` wrote.
        results: PathBuf,
        /// Folder to write page, plots and results into.
        #[arg(long, value_name = "FOLDER")]
        publish: Option<PathBuf>,
    },
    /// One peer on one line, as a process of `compare`.
    #[command(hide = true)]
    Arm(ArmArguments),
    /// A process that only computes, beside those of `compare`.
    #[command(hide = true)]
    Neighbour {
        #[arg(long)]
        threads: usize,
    },
}

#[derive(Debug, Args)]
struct ArmArguments {
    #[arg(long)]
    peer: String,
    #[arg(long)]
    line: String,
    #[arg(long)]
    width: usize,
    #[arg(long)]
    pin: bool,
}

/// Does what the command line says.
pub(crate) fn run() -> Result<()> {
    match Cli::parse().command {
        Command::Compare(compare) => compare.run(),
        Command::LaunchCost(cost) => cost.run(),
        Command::Idle(idle) => idle.run(),
        Command::Crowd(crowd) => crowd.run(),
        Command::List => {
            list::list();
            Ok(())
        }
        Command::Report { results, publish } => show(&report::read(&results)?, publish.as_deref()),
        Command::Arm(arguments) => arguments.run(),
        Command::Neighbour { threads } => conductor::serve_as_neighbour(threads),
    }
}

impl ArmArguments {
    fn run(&self) -> Result<()> {
        let entry = find_peer(&self.peer)?;
        let line = lines().into_iter().find(|line| line.name == self.line);
        let line = line.ok_or_else(|| anyhow!("there is no line {:?}", self.line))?;
        ensure!(self.width > 0, "a pool has at least one thread");
        arm::serve(&entry, &line, &Setup { width: self.width, pin: self.pin })
    }
}

fn cpus() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn show(records: &[Record], folder: Option<&Path>) -> Result<()> {
    let summary = Summary::of(records)
        .ok_or_else(|| anyhow!("the file holds no run: was it written by `compare --json`?"))?;
    report::print(&summary);
    if let Some(folder) = folder {
        report::publish(&summary, records, folder)?;
        println!("written to {}", folder.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
