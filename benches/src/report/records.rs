//! What a run leaves behind: one JSON value a line, enough to make every table and plot again.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// One line of a results file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Record {
    /// The first one: where and how.
    Run(Run),
    /// A peer that took part, and which version.
    Peer(Peer),
    /// A peer that could not take part at all, and what to do about it.
    Missing(Missing),
    /// One process's times.
    Cell(Cell),
    /// A process that could not measure its line.
    Failure(Failure),
    /// What else the machine did meanwhile.
    Load(Load),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) command: String,
    pub(crate) started: u64,
    pub(crate) machine: String,
    pub(crate) kernel: String,
    pub(crate) cpus: usize,
    pub(crate) compiler: String,
    pub(crate) allocator: String,
    /// Processes that were running or waiting for a CPU when it began, averaged over a minute.
    pub(crate) load_before: Option<f64>,
    pub(crate) base: String,
    pub(crate) width: usize,
    pub(crate) pinned: bool,
    pub(crate) rounds: usize,
    pub(crate) repetitions: usize,
    pub(crate) warm_up_us: u64,
    pub(crate) budget_us: u64,
    pub(crate) seed: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) idiom: String,
    pub(crate) version: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Missing {
    pub(crate) peer: String,
    pub(crate) why: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) line: String,
    pub(crate) peer: String,
    /// The base's second process.
    pub(crate) control: bool,
    pub(crate) round: usize,
    /// Nanoseconds per operation, one value a repetition.
    pub(crate) ns: Vec<f64>,
    /// CPUs kept busy, one value a repetition.
    pub(crate) cpus: Vec<f64>,
    /// How often a thread lost its CPU to another.
    pub(crate) preemptions: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) line: String,
    pub(crate) peer: String,
    pub(crate) control: bool,
    pub(crate) round: usize,
    pub(crate) why: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) line: String,
    pub(crate) round: usize,
    /// Share of the machine's CPU time that processes outside the run took, 0 to 1.
    pub(crate) others: f64,
}

/// Reads a results file.
pub(crate) fn read(path: &Path) -> Result<Vec<Record>> {
    let file = File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?;
    let mut records = Vec::new();
    for (k, line) in BufReader::new(file).lines().enumerate() {
        let line = line.with_context(|| format!("{} cannot be read", path.display()))?;
        let record = serde_json::from_str(&line).with_context(|| {
            format!("{}, line {}, is no record of a run", path.display(), k + 1)
        })?;
        records.push(record);
    }
    Ok(records)
}

/// Appends a record to a results file.
pub(crate) fn write(file: &mut impl Write, record: &Record) -> Result<()> {
    serde_json::to_writer(&mut *file, record)?;
    file.write_all(b"\n")?;
    Ok(file.flush()?)
}

impl Run {
    /// What is to be known of this machine and program, with the fields of the plan left to the caller.
    pub(crate) fn here() -> Self {
        let started = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |time| time.as_secs());
        Self {
            command: String::new(),
            started,
            machine: processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            kernel: first_line("/proc/sys/kernel/osrelease")
                .unwrap_or_else(|| std::env::consts::OS.to_owned()),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            compiler: env!("COMPILER").to_owned(),
            allocator: if cfg!(feature = "mimalloc") { "mimalloc" } else { "the system's" }
                .to_owned(),
            load_before: first_line("/proc/loadavg")
                .and_then(|line| line.split(' ').next()?.parse().ok()),
            base: String::new(),
            width: 0,
            pinned: false,
            rounds: 0,
            repetitions: 0,
            warm_up_us: 0,
            budget_us: 0,
            seed: 0,
        }
    }
}

fn first_line(path: &str) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.lines().next()?.to_owned())
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_back_what_was_written() {
        let cell = Cell {
            line: "axpy-1e3".to_owned(),
            peer: "rayon".to_owned(),
            control: false,
            round: 1,
            ns: vec![1.5, 2.25],
            cpus: vec![1.0, 1.0],
            preemptions: 3,
        };
        let path = std::env::temp_dir().join(format!("locsteal-records-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        write(&mut file, &Record::Run(Run::here())).unwrap();
        write(&mut file, &Record::Cell(cell.clone())).unwrap();
        let back = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let [Record::Run(_), Record::Cell(got)] = &back[..] else { panic!("{back:?}") };
        assert_eq!((got.ns.clone(), got.round, &got.peer), (cell.ns, 1, &cell.peer));
    }

    #[test]
    fn a_damaged_file_is_named_with_the_line() {
        let path = std::env::temp_dir().join(format!("locsteal-damaged-{}", std::process::id()));
        std::fs::write(&path, "{\"load\":{\"line\":\"a\",\"round\":0,\"others\":0.5}}\nnonsense\n")
            .unwrap();
        let error = format!("{:#}", read(&path).unwrap_err());
        std::fs::remove_file(&path).unwrap();
        assert!(error.contains("line 2"), "{error}");
    }
}
