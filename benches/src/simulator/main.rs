//! The library's scheduling core on machines that nobody here owns: the real step function, driven by virtual time.
//!
//! What is simulated and what is not, where the numbers come from, and what came out stands in `docs/simulator.md`.

#[cfg(feature = "plots")]
#[path = "../report/plots/canvas.rs"]
#[allow(dead_code, reason = "the plots of measurements need more of it")]
mod canvas;
mod costs;
mod data;
mod engine;
mod kernels;
mod lines;
mod machines;
mod reports;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use costs::Costs;
use kernels::Kernel;
use machines::Site;
use reports::Setting;
use trial::Arm;

#[derive(Parser)]
#[command(about = "Simulates the scheduling core of locsteal in virtual time")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    amount: Amount,
}

#[derive(Args)]
struct Amount {
    /// Fresh starts, each with luck of its own
    #[arg(long, global = true, default_value_t = 5)]
    seeds: u64,
    /// How often the loop is run after each start; the first quarter is not counted
    #[arg(long, global = true, default_value_t = 20)]
    runs: u64,
    /// Sets a cost, e.g. `--set line_remote=200`; `costs` lists them
    #[arg(long = "set", global = true, value_name = "COST=NUMBER")]
    costs: Vec<String>,
}

#[derive(Subcommand)]
enum Command {
    /// The shape of the published table: local-first stealing against the cyclic order
    Published,
    /// Local-first against cyclic on many machines and loops; fails if a ratio is above 1.01
    Sweep {
        /// A folder of machine snapshots, besides the regular machines
        #[arg(long)]
        snapshots: Option<PathBuf>,
    },
    /// One loop on one machine, with every rule turned off in turn
    Variants {
        /// Nodes x caches in a node x cores in a cache, or a snapshot's file
        #[arg(default_value = "2x1x32")]
        machine: String,
        /// axpy:1e6, stencil:126, triangular:4000, hot:1e5, tail:1e5, or file: and a path
        #[arg(default_value = "axpy:1e7")]
        kernel: String,
    },
    /// Who runs what when in one run, as a picture and as a trace
    Timeline {
        /// Nodes x caches in a node x cores in a cache, or a snapshot's file
        #[arg(default_value = "2x2x4")]
        machine: String,
        /// See `variants`
        #[arg(default_value = "triangular:4000")]
        kernel: String,
        /// Those that `variants` lists
        #[arg(long, default_value = "local first")]
        rules: String,
        /// Where to write the picture
        #[arg(long)]
        svg: Option<PathBuf>,
        /// Where to write the trace, for the trace viewers of browsers
        #[arg(long)]
        trace: Option<PathBuf>,
    },
    /// What launching and ending a loop cost on 2 to 1,024 seats
    Scale,
    /// What launching and ending cost on 8 to 1,024 seats: operations counted in the library's code, and simulated time
    Growth {
        /// Folder to write a picture into
        #[arg(long, value_name = "FOLDER")]
        publish: Option<PathBuf>,
    },
    /// How often real threads lose compare-exchanges to each other
    Contention,
    /// What the steps of the affinity guard take, measured by the real kernel
    Guard,
    /// A launch on two seats, access by access: who reaches for what, and which cache lines move
    Launch,
    /// What a late worker and a straggler cost
    Trouble,
    /// How much is looked around while one long iteration runs
    Attempts,
    /// The numbers that stand for the hardware
    Costs,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), String> {
    let Amount { seeds, runs, costs: changes } = cli.amount;
    let mut costs = Costs::default();
    for change in changes {
        let parsed =
            change.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?)));
        let (name, value) = parsed.ok_or(format!("`{change}` sets no cost: write name=number"))?;
        costs.set(name, value)?;
    }
    let setting = Setting { costs, seeds, runs };
    match cli.command {
        Command::Published => reports::published::print(&setting),
        Command::Sweep { snapshots } => {
            let mut sites = Site::many();
            if let Some(folder) = snapshots {
                sites.extend(Site::snapshots(&folder)?);
            }
            let above = reports::machines::print(&setting, &sites, 1.01);
            if !above.is_empty() {
                return Err(format!("above 1.01: {}", above.join("; ")));
            }
        }
        Command::Variants { machine, kernel } => {
            reports::variants::print(&setting, &Site::named(&machine)?, &Kernel::named(&kernel)?);
        }
        Command::Timeline { machine, kernel, rules, svg, trace } => {
            let (site, kernel) = (Site::named(&machine)?, Kernel::named(&kernel)?);
            let (arm, svg, trace) = (Arm::named(&rules)?, svg.as_deref(), trace.as_deref());
            reports::timeline::write(&setting, &site, &kernel, arm, svg, trace)?;
        }
        Command::Scale => reports::scale::print(&setting),
        Command::Growth { publish } => reports::growth::print(&setting, publish.as_deref())?,
        Command::Contention => reports::contention::print(),
        Command::Guard => reports::guard::print()?,
        Command::Launch => reports::launch::print(),
        Command::Trouble => reports::trouble::print(&setting),
        Command::Attempts => reports::attempts::print(&setting),
        Command::Costs => {
            let mut table = table::Table::new(["cost", "value", "unit", "meaning"]);
            for row in setting.costs.list() {
                table.row(row);
            }
            print!("{table}");
        }
    }
    Ok(())
}
