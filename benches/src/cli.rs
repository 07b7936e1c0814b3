//! The command line.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use clap::{Args, Parser, Subcommand};

use crate::arm;
use crate::conductor::{self, Crowded, IdleArm, Plan};
use crate::lines::{Line, lines};
use crate::peers::{Entry, Setup, entries};
use crate::report::{self, Missing, Peer, Record, Run, Summary};
use crate::transfer;

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
struct Compare {
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

#[derive(Debug, Args)]
struct LaunchCost {
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

#[derive(Debug, Args)]
struct IdleArguments {
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

#[derive(Debug, Args)]
struct CrowdArguments {
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
            list();
            Ok(())
        }
        Command::Report { results, publish } => show(&report::read(&results)?, publish.as_deref()),
        Command::Arm(arguments) => arguments.run(),
        Command::Neighbour { threads } => conductor::serve_as_neighbour(threads),
    }
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

    fn run(&self) -> Result<()> {
        let plan = self.plan()?;
        let lines = choose(lines(), &self.lines, "line", |line| (line.name, line.group.file()))?;
        let chosen = choose(entries(), &self.peers, "peer", |entry| (entry.name, ""))?;
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

impl LaunchCost {
    fn run(&self) -> Result<()> {
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
        let lines = choose(lines(), &self.lines, "line", |line| (line.name, line.group.file()))?;
        let chosen = choose(entries(), &self.peers, "peer", |entry| (entry.name, ""))?;
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

/// How long locsteal's workers are told to spin; none: as they do by themselves.
const SPINS: [Option<&str>; 6] =
    [Some("0"), Some("20us"), Some("100us"), None, Some("2ms"), Some("10ms")];
/// The others, each in its best idiom for short loops, with its own policy.
const IDLERS: [&str; 5] = ["floor", "rayon", "fork_union", "libgomp-static", "tbb-static"];
const GAPS: [u64; 7] = [10, 50, 100, 200, 500, 1_000, 5_000];

impl IdleArguments {
    fn run(&self) -> Result<()> {
        let plan = study(self.rounds, self.repetitions)?;
        let find = |name: &str| {
            let entry = entries().into_iter().find(|entry| entry.name == name);
            entry.ok_or_else(|| anyhow!("there is no peer {name:?}"))
        };
        let mut arms =
            vec![IdleArm { label: "serial".into(), entry: find("serial")?, setting: None }];
        for spin in SPINS {
            arms.push(IdleArm {
                label: format!("locsteal, spin {}", spin.unwrap_or("as is")),
                entry: find("locsteal-steal")?,
                setting: spin.map(|spin| ("LOCSTEAL_SPIN", spin.to_owned())),
            });
        }
        let others = IDLERS.map(find).into_iter().collect::<Result<Vec<_>>>()?;
        let (others, missing) = sort_out(others, "floor")?;
        for missing in missing {
            println!("missing: {} ({})", missing.peer, missing.why);
        }
        arms.extend(others.into_iter().map(|entry| IdleArm {
            label: entry.name.to_owned(),
            entry,
            setting: None,
        }));
        let lines = choose(lines(), &["axpy-1e5".to_owned()], "line", |line| (line.name, ""))?;
        let gaps = GAPS.map(Duration::from_micros);
        let found = conductor::idle(&plan, &lines[0], &arms, &gaps)?;
        report::show_idle(&command_line(), &gaps, &found, self.publish.as_deref())
    }
}

impl CrowdArguments {
    fn run(&self) -> Result<()> {
        let plan = study(self.rounds, self.repetitions)?;
        let lines = choose(lines(), &self.lines, "line", |line| (line.name, line.group.file()))?;
        let chosen = choose(entries(), &self.peers, "peer", |entry| (entry.name, ""))?;
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

/// Those of `all` that `wanted` names; all, if it names none.
fn choose<T>(
    all: Vec<T>,
    wanted: &[String],
    what: &str,
    names: impl Fn(&T) -> (&'static str, &'static str),
) -> Result<Vec<T>> {
    let admits = |item: &T, wanted: &String| {
        let (name, group) = names(item);
        if let Some(exact) = wanted.strip_prefix('=') {
            return name == exact;
        }
        name == wanted
            || group == wanted
            || name.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('-'))
    };
    if let Some(unknown) = wanted.iter().find(|w| !all.iter().any(|item| admits(item, w))) {
        let known: Vec<_> = all.iter().map(|item| names(item).0).collect();
        bail!("there is no {what} {unknown:?}; there are {}", known.join(", "));
    }
    let chosen = |item: &T| wanted.is_empty() || wanted.iter().any(|w| admits(item, w));
    Ok(all.into_iter().filter(chosen).collect())
}

/// The peers that are there, the base among them, and those that are missing.
fn sort_out(chosen: Vec<Entry>, base: &str) -> Result<(Vec<Entry>, Vec<Missing>)> {
    let mut peers = chosen;
    if !peers.iter().any(|entry| entry.name == base) {
        let entry = entries().into_iter().find(|entry| entry.name == base);
        peers.push(entry.ok_or_else(|| anyhow!("there is no peer {base:?} to be the base"))?);
    }
    let mut missing = Vec::new();
    peers.retain(|entry| match entry.version() {
        Ok(_) => true,
        Err(error) => {
            missing.push(Missing { peer: entry.name.to_owned(), why: format!("{error:#}") });
            false
        }
    });
    if let Some(lacking) = missing.iter().find(|m| m.peer == base) {
        bail!("the base {base} is missing: {}", lacking.why);
    }
    Ok((peers, missing))
}

/// What runs this program, as it was built: with loops on lines of the instruction cache, or anywhere.
const RUN: &str = match option_env!("LOCSTEAL_LOOPS_ALIGNED") {
    Some(_) => "cargo measure",
    None => "cargo run --release -p locsteal-benches --",
};

/// The command that was given, as one would type it at the top of the repository, on any machine.
fn command_line() -> String {
    command_of(std::env::args().skip(1))
}

fn command_of(arguments: impl Iterator<Item = String>) -> String {
    let arguments: Vec<_> = arguments.map(|argument| without_machine(&argument)).collect();
    format!("{RUN} {}", arguments.join(" "))
}

/// Of an absolute path, alone or after an option's `=`, what lies within the repository; of others the last part.
fn without_machine(argument: &str) -> String {
    let (option, value) = match argument.split_once('=') {
        Some((option, value)) => (format!("{option}="), value),
        None => (String::new(), argument),
    };
    let path = Path::new(value);
    if !path.is_absolute() {
        return argument.to_owned();
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let within = repository.and_then(|repository| path.strip_prefix(repository).ok());
    let shown = within.or(path.file_name().map(Path::new)).unwrap_or(Path::new("."));
    format!("{option}{}", shown.display())
}

fn list() {
    println!("Lines");
    for line in lines() {
        println!("  {:22} {}", line.name, line.what);
    }
    println!("\nPeers");
    for entry in entries() {
        let runs = match (runs_loops(&entry), runs_offload(&entry)) {
            (true, true) => "loops, offload",
            (true, false) => "loops",
            (false, true) => "offload",
            (false, false) => "",
        };
        let version = entry.version().unwrap_or_else(|error| format!("missing: {error:#}"));
        println!("  {:20} {:14} {}; {version}", entry.name, runs, entry.idiom);
    }
}

fn runs_loops(entry: &Entry) -> bool {
    lines().iter().any(|line| !line.is_offload() && entry.prepare(line).is_some())
}

fn runs_offload(entry: &Entry) -> bool {
    lines().iter().any(|line| line.is_offload() && entry.prepare(line).is_some())
}

impl ArmArguments {
    fn run(&self) -> Result<()> {
        let find = || entries().into_iter().find(|entry| entry.name == self.peer);
        let entry = find().ok_or_else(|| anyhow!("there is no peer {:?}", self.peer))?;
        let line: Option<Line> = lines().into_iter().find(|line| line.name == self.line);
        let line = line.ok_or_else(|| anyhow!("there is no line {:?}", self.line))?;
        ensure!(self.width > 0, "a pool has at least one thread");
        arm::serve(&entry, &line, &Setup { width: self.width, pin: self.pin })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn names(wanted: &[&str]) -> Result<Vec<&'static str>> {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        let chosen = choose(lines(), &wanted, "line", |line| (line.name, line.group.file()))?;
        Ok(chosen.into_iter().map(|line| line.name).collect())
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_published_command_names_no_place_of_a_machine() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().display();
        let inside = format!("{repository}/docs/measurements");
        let command = |words: &[&str]| command_of(words.iter().map(ToString::to_string));
        let plain = format!("{RUN} compare --publish docs/measurements");
        assert_eq!(command(&["compare", "--publish", "docs/measurements"]), plain);
        assert_eq!(command(&["compare", "--publish", &inside]), plain);
        let json = format!("--json={repository}-elsewhere/results.jsonl");
        assert!(command(&["compare", &json]).ends_with(" compare --json=results.jsonl"));
        assert!(command(&["compare", "--lines", "=axpy-1e3"]).ends_with("--lines =axpy-1e3"));
    }

    #[test]
    fn lines_are_chosen_by_name_beginning_or_group() {
        assert_eq!(names(&[]).unwrap().len(), lines().len());
        assert_eq!(names(&["axpy-1e3"]).unwrap(), ["axpy-1e3"]);
        assert_eq!(names(&["=launch-1e3"]).unwrap(), ["launch-1e3"]);
        assert_eq!(names(&["launch-1e3"]).unwrap().len(), 3);
        assert_eq!(names(&["uneven"]).unwrap(), ["triangular", "hot-front", "heavy-tail"]);
        assert_eq!(names(&["sum", "nested"]).unwrap(), ["sum-1e6", "sum-reproducible", "nested"]);
        let error = names(&["axpi"]).unwrap_err().to_string();
        assert!(error.contains("axpi") && error.contains("axpy-1e3"), "{error}");
    }

    #[test]
    fn an_absent_peer_is_named_and_the_base_always_takes_part() {
        let rayon = || entries().into_iter().filter(|e| e.name == "rayon").collect::<Vec<_>>();
        let (peers, missing) = sort_out(rayon(), "serial").unwrap();
        assert_eq!(peers.iter().map(|e| e.name).collect::<Vec<_>>(), ["rayon", "serial"]);
        assert!(missing.is_empty());
        assert!(sort_out(rayon(), "sereal").is_err());
        let (peers, missing) = sort_out(entries(), "serial").unwrap();
        assert_eq!(peers.len() + missing.len(), entries().len());
    }
}
