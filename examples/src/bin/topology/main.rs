//! Shows a machine as locsteal sees it: nodes, caches, CPUs, the seats that a pool would have, and whom each seat
//! would steal from.
//!
//! ```sh
//! cargo run -p locsteal-examples --bin topology
//! ```

mod json;
mod machine;
mod svg;
mod tree;

use std::error::Error;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use locsteal::{CpuSet, Layout, Locality, Placement, Pool, PoolPlan};

use machine::Machine;

/// Shows a machine as locsteal sees it: nodes, caches, CPUs, and the seats of a pool.
#[derive(Debug, Parser)]
#[command(name = "topology", version)]
struct Arguments {
    /// Show another machine: a folder that stands for its /sys, or a file written by --capture
    #[arg(long, value_name = "PATH")]
    root: Option<PathBuf>,

    /// Only these CPUs may be used, e.g. 0-3,8
    #[arg(long, value_name = "CPUS")]
    allowed: Option<CpuSet>,

    /// Seats of the pool [default: as many as the CPUs, and on this machine the CPU quota, allow]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// How workers are tied to CPUs [default: llc for a pool as wide as the CPUs, else free]
    #[arg(long)]
    placement: Option<PlacementName>,

    /// Where the seats of a narrower pool are
    #[arg(long, default_value = "compact")]
    layout: LayoutName,

    /// The CPU at which a narrower pool begins
    #[arg(long, value_name = "CPU")]
    near: Option<usize>,

    /// Which order of victims to show
    #[arg(long, default_value = "llc")]
    locality: LocalityName,

    /// Print JSON instead of a tree
    #[arg(long)]
    json: bool,

    /// Draw the machine into this file instead of printing it
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the machine's topology files into this file, for a report, instead of printing it
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PlacementName {
    Free,
    Llc,
    Cpu,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LayoutName {
    Compact,
    Spread,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LocalityName {
    Llc,
    Node,
    Flat,
}

/// What is shown.
struct View {
    plan: PoolPlan,
    locality: Locality,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("topology: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let machine = Machine::open(arguments.root.as_deref(), arguments.allowed.clone())?;
    if let Some(file) = &arguments.capture {
        write(file, &machine.snapshot().to_string())?;
    }
    if arguments.svg.is_none() && arguments.capture.is_some() {
        return Ok(());
    }
    let view = View { plan: plan(arguments, &machine)?, locality: arguments.locality.into() };
    if let Some(file) = &arguments.svg {
        return write(file, &svg::draw(&view));
    }
    let text = if arguments.json {
        format!("{:#}\n", json::describe(&view))
    } else {
        tree::describe(&view)
    };
    match io::stdout().write_all(text.as_bytes()) {
        // Whoever reads it has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

fn plan(arguments: &Arguments, machine: &Machine) -> Result<PoolPlan, Box<dyn Error>> {
    let mut pool = Pool::builder().layout(arguments.layout.into());
    if let Some(placement) = arguments.placement {
        pool = pool.placement(placement.into());
    }
    let mut near = arguments.near;
    if let Some(topology) = machine.topology() {
        // What this machine allows tells nothing of another one.
        pool = pool.threads(topology.cpus().len().clamp(1, 4096));
        near = near.or(topology.cpus().first());
        pool = pool.topology(topology);
    }
    if let Some(cpu) = near {
        pool = pool.near(cpu);
    }
    if let Some(threads) = arguments.threads {
        pool = pool.threads(threads);
    }
    Ok(pool.plan()?)
}

fn write(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    fs::write(path, text)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()).into())
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

impl From<PlacementName> for Placement {
    fn from(name: PlacementName) -> Self {
        match name {
            PlacementName::Free => Self::Free,
            PlacementName::Llc => Self::Llc,
            PlacementName::Cpu => Self::Cpu,
        }
    }
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Compact => Self::Compact,
            LayoutName::Spread => Self::Spread,
        }
    }
}

impl From<LocalityName> for Locality {
    fn from(name: LocalityName) -> Self {
        match name {
            LocalityName::Llc => Self::Llc,
            LocalityName::Node => Self::Node,
            LocalityName::Flat => Self::Flat,
        }
    }
}
