//! `idle` and `crowd`: how pools wait, and far more seats than CPUs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use clap::Args;

use super::choice::{choose_lines, choose_peers, find_peer, sort_out};
use super::command_line::command_line;
use super::cpus;
use crate::conductor::{self, Crowded, IdleArm, Plan};
use crate::report;

#[derive(Debug, Args)]
pub(super) struct IdleArguments {
    /// Sets of fresh processes.
    #[arg(long, default_value_t = 3, value_name = "N")]
    rounds: usize,
    /// Batches of each process.
    #[arg(long, default_value_t = 4, value_name = "N")]
    repetitions: usize,
    /// Folder to write tables and a plot into.
    #[arg(long, value_name = "FOLDER")]
    publish: Option<PathBuf>,
}

/// How long locsteal's workers are told to spin; none: as they do by themselves.
const SPINS: [Option<&str>; 6] =
    [Some("0"), Some("20us"), Some("100us"), None, Some("2ms"), Some("10ms")];
/// The others, each in its best idiom for short loops, with its own policy.
const IDLERS: [&str; 5] = ["floor", "rayon", "fork_union", "libgomp-static", "tbb-static"];
const GAPS: [u64; 7] = [10, 50, 100, 200, 500, 1_000, 5_000];

impl IdleArguments {
    pub(super) fn run(&self) -> Result<()> {
        let plan = study(self.rounds, self.repetitions)?;
        let mut arms =
            vec![IdleArm { label: "serial".into(), entry: find_peer("serial")?, setting: None }];
        for spin in SPINS {
            arms.push(IdleArm {
                label: format!("locsteal, spin {}", spin.unwrap_or("as is")),
                entry: find_peer("locsteal-steal")?,
                setting: spin.map(|spin| ("LOCSTEAL_SPIN", spin.to_owned())),
            });
        }
        let others = IDLERS.map(find_peer).into_iter().collect::<Result<Vec<_>>>()?;
        let (others, missing) = sort_out(others, "floor")?;
        for missing in missing {
            println!("missing: {} ({})", missing.peer, missing.why);
        }
        arms.extend(others.into_iter().map(|entry| IdleArm {
            label: entry.name.to_owned(),
            entry,
            setting: None,
        }));
        let lines = choose_lines(&["axpy-1e5".to_owned()])?;
        let gaps = GAPS.map(Duration::from_micros);
        let found = conductor::idle(&plan, &lines[0], &arms, &gaps)?;
        report::show_idle(&command_line(), &gaps, &found, self.publish.as_deref())
    }
}

#[derive(Debug, Args)]
pub(super) struct CrowdArguments {
    /// Seats.
    #[arg(long, default_value_t = 64, value_name = "N")]
    seats: usize,
    /// The lines to time.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "axpy-1e5,axpy-1e6,triangular",
        value_name = "LINES"
    )]
    lines: Vec<String>,
    /// Only these peers: beginnings of names (`tbb`) or whole names (`=tbb`).
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "=locsteal,locsteal-static,locsteal-steal,locsteal-dynamic",
        value_name = "PEERS"
    )]
    peers: Vec<String>,
    /// Sets of fresh processes.
    #[arg(long, default_value_t = 3, value_name = "N")]
    rounds: usize,
    /// Batches of each process.
    #[arg(long, default_value_t = 8, value_name = "N")]
    repetitions: usize,
    /// Fail if locsteal's multiple is above this one.
    #[arg(long, value_name = "FACTOR")]
    most: Option<f64>,
    /// Folder to write the table into.
    #[arg(long, value_name = "FOLDER")]
    publish: Option<PathBuf>,
}

impl CrowdArguments {
    pub(super) fn run(&self) -> Result<()> {
        let plan = study(self.rounds, self.repetitions)?;
        let lines = choose_lines(&self.lines)?;
        let chosen = choose_peers(&self.peers)?;
        let peers: Vec<_> = chosen.into_iter().filter(|entry| entry.version().is_ok()).collect();
        let found = conductor::crowd(&plan, &lines, &peers, self.seats)?;
        report::show_crowd(
            &command_line(),
            (plan.width, self.seats),
            &found,
            self.publish.as_deref(),
        )?;
        let above = |found: &&Crowded| {
            found.peer.starts_with("locsteal")
                && self.most.is_some_and(|most| found.factor.low > most)
        };
        if let Some(slow) = found.iter().find(above) {
            bail!("{} on {} takes {:.2} times as long", slow.peer, slow.line, slow.factor.value);
        }
        Ok(())
    }
}

/// How much is measured where few arms are.
fn study(rounds: usize, repetitions: usize) -> Result<Plan> {
    ensure!(rounds > 0 && repetitions > 0, "--rounds and --repetitions must be at least 1");
    Ok(Plan {
        rounds,
        repetitions,
        warm_up: Duration::from_millis(4),
        budget: Duration::from_millis(8),
        width: cpus(),
        pin: false,
        seed: 1,
        base: "serial".to_owned(),
    })
}
