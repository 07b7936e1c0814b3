//! The rounds of a database that commits: reads, updates, and then a commit in which the index is brought up to date
//! by a job while the caller hashes the batch.
//!
//! The job works on what its submitter has just touched: the batch, and the parts of the index that were read. So it
//! matters where it runs. Three ways are compared: a helper thread that the system puts where it likes, the same thread
//! under the affinity guard, and `spawn_near!`. A process is lucky or unlucky with its placement for all its life, so
//! each way runs in several fresh processes.
//!
//! The shape of the workload (sizes, ratio of reads to updates, one job per commit) is that of the benchmark in
//! `commonwarexyz/monorepo` #4510.

mod workload;

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Parser, ValueEnum};
use locsteal_examples::median;
use workload::{Sizes, Way, Workload};

/// Reads, updates and commits in rounds, and tells how long rounds take and where the commits' jobs ran.
#[derive(Parser)]
#[command(name = "commit")]
struct Options {
    /// How many keys the index holds.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    keys: u32,

    /// How many keys are read in a round, and how many are updated.
    #[arg(long, value_name = "N", default_value_t = 32_768)]
    batch: u32,

    /// How many rounds each process runs.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// How many fresh processes run each way.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    processes: u32,

    /// Runs one process of this way only, and prints its figures in one line.
    #[arg(long, value_name = "WAY")]
    only: Option<Way>,
}

/// What one process has to tell.
struct Figures {
    p50: Duration,
    p99: Duration,
    /// How many jobs ran in the domain of their submitter from their beginning to their end, and how many did not.
    near: u32,
    far: u32,
    /// A hash of all that was done, the same for each way.
    digest: String,
}

impl Figures {
    /// As [`parse`](Self::parse) reads it.
    fn line(&self) -> String {
        let Self { p50, p99, near, far, digest } = self;
        format!("{} {} {near} {far} {digest}", p50.as_nanos(), p99.as_nanos())
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let time = |word: Option<&str>| Some(Duration::from_nanos(word?.parse().ok()?));
        Some(Self {
            p50: time(words.next())?,
            p99: time(words.next())?,
            near: words.next()?.parse().ok()?,
            far: words.next()?.parse().ok()?,
            digest: words.next()?.to_owned(),
        })
    }
}

fn run_here(options: &Options, way: Way) -> Figures {
    let sizes = Sizes { keys: options.keys, batch: options.batch };
    let mut workload = Workload::new(sizes);
    // The first rounds touch new memory and start threads.
    let warm_up = (options.rounds / 10).max(1);
    for _ in 0..warm_up {
        workload.round(way);
    }
    let rounds = (0..options.rounds).map(|_| workload.round(way));
    let (mut times, places): (Vec<Duration>, Vec<bool>) = rounds.unzip();
    times.sort_unstable();
    let near = places.iter().filter(|near| **near).count() as u32;
    Figures {
        p50: times[(times.len() - 1) / 2],
        p99: times[(times.len() - 1) * 99 / 100],
        near,
        far: options.rounds - near,
        digest: workload.digest(),
    }
}

fn run_elsewhere(options: &Options, way: Way) -> Result<Figures, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let value = way.to_possible_value().ok_or("this way has no name")?;
    let output = Command::new(program)
        .args(["--keys", &options.keys.to_string(), "--batch", &options.batch.to_string()])
        .args(["--rounds", &options.rounds.to_string(), "--only", value.get_name()])
        .output()?;
    if !output.status.success() {
        return Err(format!(
            "a process of its own failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )
        .into());
    }
    let line = String::from_utf8(output.stdout)?;
    Figures::parse(&line).ok_or_else(|| format!("a process of its own printed {line:?}").into())
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(way) = options.only {
        println!("{}", run_here(options, way).line());
        return Ok(());
    }
    let ways = Way::value_variants();
    let mut figures: Vec<Vec<Figures>> = ways.iter().map(|_| Vec::new()).collect();
    // In turn, so that whatever changes on the machine meanwhile meets all ways.
    for _ in 0..options.processes {
        for (way, figures) in ways.iter().zip(&mut figures) {
            figures.push(run_elsewhere(options, *way)?);
        }
    }
    let machine = locsteal::Topology::detect();
    println!(
        "{} keys, {} reads and updates a round, {} rounds in each of {} processes, {} last-level-cache domains",
        options.keys,
        options.batch,
        options.rounds,
        options.processes,
        machine.domains().len()
    );
    println!(
        "{:<22} {:>10} {:>21} {:>10} {:>10}",
        "the job runs", "p50", "of processes", "p99", "near"
    );
    for (way, figures) in ways.iter().zip(&figures) {
        let p50s: Vec<Duration> = figures.iter().map(|figures| figures.p50).collect();
        let least = p50s.iter().min().copied().unwrap_or_default();
        let most = p50s.iter().max().copied().unwrap_or_default();
        let near: u32 = figures.iter().map(|figures| figures.near).sum();
        let all: u32 = figures.iter().map(|figures| figures.near + figures.far).sum();
        println!(
            "{:<22} {:>10} {:>21} {:>10} {:>9.1}%",
            way.words(),
            format!("{:.2?}", median(p50s)),
            format!("{least:.2?}-{most:.2?}"),
            format!("{:.2?}", median(figures.iter().map(|figures| figures.p99).collect())),
            100.0 * f64::from(near) / f64::from(all)
        );
    }
    let mut digests: Vec<&str> = figures.iter().flatten().map(|figures| &*figures.digest).collect();
    digests.dedup();
    match digests[..] {
        [digest] => println!("every process has come to the same state: {digest}"),
        _ => return Err("not every process has come to the same state".into()),
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
