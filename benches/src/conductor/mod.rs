//! Runs the comparison. For each round and line every peer gets a fresh process, which prepares, checks itself and is
//! then stopped; in each repetition they go on one at a time, in an order shuffled anew.
//!
//! Why a process each: pools differ in how long they spin when idle (from never to for ever), and within one process the
//! spinning workers of one would be timed with the loops of the next. A stopped process takes nothing. It also gives
//! each peer its own default settings, and each round new addresses and pages.

mod crowd;
mod idle;
mod load;
mod neighbour;
mod process;

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use self::load::Watch;
use self::neighbour::Neighbour;
use self::process::Process;
use crate::arm::{Order, Reply, Sample, Spread};
use crate::lines::{self, Line};
use crate::peers::Entry;
use crate::report::{Cell, Failure, Load, Record};

pub(crate) use crowd::{Crowded, crowd};
pub(crate) use idle::{Idle, IdleArm, idle};
pub(crate) use neighbour::serve as serve_as_neighbour;

/// How much is measured.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Sets of processes.
    pub(crate) rounds: usize,
    /// Batches of each process.
    pub(crate) repetitions: usize,
    /// How long a peer runs before it is timed in a batch.
    pub(crate) warm_up: Duration,
    /// How long it is timed in a batch.
    pub(crate) budget: Duration,
    /// Threads of a pool, the caller included, on lines that say nothing else.
    pub(crate) width: usize,
    pub(crate) pin: bool,
    pub(crate) seed: u64,
    /// The peer that the others are compared with, and that runs twice.
    pub(crate) base: String,
}

/// A peer's process on one line, or the second one of the base.
struct Arm<'a> {
    entry: &'a Entry,
    control: bool,
    process: Process,
    samples: Vec<Sample>,
    failure: Option<String>,
}

/// Measures `peers` on `lines` and hands each record on as soon as it is there.
pub(crate) fn run(
    plan: &Plan,
    lines: &[Line],
    peers: &[Entry],
    mut record: impl FnMut(Record) -> Result<()>,
) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(plan.seed);
    for round in 0..plan.rounds {
        for (k, line) in lines.iter().enumerate() {
            eprintln!(
                "round {} of {}, line {} of {}: {}",
                round + 1,
                plan.rounds,
                k + 1,
                lines.len(),
                line.name
            );
            let watch = Watch::start();
            let arms = measure_line(plan, line, peers, &mut random)
                .with_context(|| format!("line {}", line.name))?;
            for arm in arms {
                record(arm.into_record(line, round))?;
            }
            if let Some(others) = watch.others() {
                record(Record::Load(Load { line: line.name.to_owned(), round, others }))?;
            }
        }
    }
    Ok(())
}

impl Arm<'_> {
    fn into_record(self, line: &Line, round: usize) -> Record {
        let peer = self.entry.name.to_owned();
        let line = line.name.to_owned();
        match self.failure {
            Some(why) => Record::Failure(Failure { line, peer, control: self.control, round, why }),
            None => Record::Cell(Cell {
                line,
                peer,
                control: self.control,
                round,
                ns: self.samples.iter().map(|s| s.ns).collect(),
                cpus: self.samples.iter().map(|s| s.cpus).collect(),
                preemptions: self.samples.iter().map(|s| s.preemptions).sum(),
            }),
        }
    }
}

fn measure_line<'a>(
    plan: &Plan,
    line: &Line,
    peers: &'a [Entry],
    random: &mut fastrand::Rng,
) -> Result<Vec<Arm<'a>>> {
    let able = || peers.iter().filter(|entry| entry.prepare(line).is_some());
    let base = able().find(|entry| entry.name == plan.base);
    let mut wanted: Vec<(&Entry, bool)> = able().map(|entry| (entry, false)).collect();
    wanted.extend(base.map(|entry| (entry, true)));
    ensure_memory(line, wanted.len())?;
    // The order of making may matter too (which pages are left), so it is not always the same.
    random.shuffle(&mut wanted);
    let mut neighbour = match line.neighbour {
        lines::Neighbour::None => None,
        lines::Neighbour::Disturbs => Some(Neighbour::start(1)?),
        lines::Neighbour::BesideIdle | lines::Neighbour::BesideLoops => {
            Some(Neighbour::start(plan.width)?)
        }
    };
    let mut arms = Vec::with_capacity(wanted.len());
    for (entry, control) in wanted {
        arms.push(start(plan, line, entry, control)?);
    }
    let mut order: Vec<usize> = (0..arms.len()).collect();
    for _ in 0..plan.repetitions {
        random.shuffle(&mut order);
        for &k in &order {
            let arm = &mut arms[k];
            if arm.failure.is_some() {
                continue;
            }
            match batch(plan, line, &mut arm.process, neighbour.as_mut()) {
                Ok(sample) => arm.samples.push(sample),
                Err(error) => arm.failure = Some(format!("{error:#}")),
            }
        }
    }
    Ok(arms)
}

/// Starts a process and has it prepare itself; it is then stopped.
fn start<'a>(plan: &Plan, line: &Line, entry: &'a Entry, control: bool) -> Result<Arm<'a>> {
    start_with(entry, line, plan.width * line.seats, plan.pin, &[]).map(|(process, failure)| Arm {
        entry,
        control,
        process,
        samples: Vec::new(),
        failure,
    })
}

/// Starts a process of so many seats, with some variables set; gives it back, stopped, and why it cannot do it, if so.
fn start_with(
    entry: &Entry,
    line: &Line,
    width: usize,
    pin: bool,
    variables: &[(&str, &str)],
) -> Result<(Process, Option<String>)> {
    let mut arguments = vec!["arm".to_owned()];
    for (option, value) in
        [("--peer", entry.name), ("--line", line.name), ("--width", &width.to_string())]
    {
        arguments.extend([option.to_owned(), value.to_owned()]);
    }
    let mut variables = variables.to_vec();
    if pin {
        arguments.push("--pin".to_owned());
        variables.extend([("OMP_PROC_BIND", "close"), ("OMP_PLACES", "threads")]);
    }
    let mut process = Process::start(&arguments, &variables)?;
    let failure = match process.reply() {
        Ok(Reply::Ready) => None,
        Ok(Reply::Failed(why)) => Some(why),
        Ok(other) => bail!("{} said {other:?} when asked to prepare", entry.name),
        Err(error) => Some(format!("{error:#}")),
    };
    process.stop();
    Ok((process, failure))
}

/// Lets one arm run and measure one batch, beside the line's neighbour if it has one.
fn batch(
    plan: &Plan,
    line: &Line,
    process: &mut Process,
    neighbour: Option<&mut Neighbour>,
) -> Result<Sample> {
    process.go_on();
    let sample = match neighbour {
        None => measure(plan, process),
        Some(neighbour) if line.neighbour.is_measured() => beside(plan, line, process, neighbour),
        Some(neighbour) => {
            let time = plan.warm_up + plan.budget;
            neighbour.during(time, || measure(plan, process)).map(|(_, sample)| sample)
        }
    };
    process.stop();
    sample
}

fn measure(plan: &Plan, process: &mut Process) -> Result<Sample> {
    process.order(&Order::Measure { warm_up: plan.warm_up, budget: plan.budget })?;
    match process.reply()? {
        Reply::Sample(sample) => Ok(sample),
        other => bail!("it said {other:?} when asked to measure"),
    }
}

/// What a unit of the neighbour's work takes beside the arm.
fn beside(
    plan: &Plan,
    line: &Line,
    process: &mut Process,
    neighbour: &mut Neighbour,
) -> Result<Sample> {
    let gap = (line.neighbour == lines::Neighbour::BesideLoops).then_some(Duration::from_millis(1));
    // The pool must have been used and be settling down again when the neighbour's time begins.
    let time = plan.budget.max(Duration::from_millis(20));
    process.order(&Order::Live { time: time + plan.warm_up, gap })?;
    let (ns, reply) = neighbour.during(time, || process.reply())?;
    match reply {
        Reply::Lived => Ok(Sample { ns, cpus: 0.0, preemptions: 0 }),
        other => bail!("it said {other:?} when asked to live on"),
    }
}

/// How `count` single operations of `line` scatter, for each of `peers` in turn; a peer that cannot tell says why.
pub(crate) fn spreads<'a>(
    plan: &Plan,
    line: &Line,
    peers: &'a [Entry],
    count: usize,
) -> Result<Vec<(&'a Entry, Result<Spread, String>)>> {
    let able = peers.iter().filter(|entry| entry.prepare(line).is_some());
    able.map(|entry| {
        let mut arm = start(plan, line, entry, false)?;
        let spread = match arm.failure {
            Some(why) => Err(why),
            None => spread(plan, &mut arm.process, count).map_err(|error| format!("{error:#}")),
        };
        Ok((entry, spread))
    })
    .collect()
}

fn spread(plan: &Plan, process: &mut Process, count: usize) -> Result<Spread> {
    process.go_on();
    process.order(&Order::Spread { warm_up: plan.warm_up, count })?;
    match process.reply()? {
        Reply::Spread(spread) => Ok(spread),
        other => bail!("it said {other:?} when asked to time single operations"),
    }
}

/// All processes of a line hold their data at the same time.
fn ensure_memory(line: &Line, arms: usize) -> Result<()> {
    let needed = line.bytes() * arms;
    if let Some(available) = available_memory() {
        ensure!(
            needed < available / 10 * 8,
            "{arms} processes need {} MiB and {} MiB are available; choose fewer peers (--peers) or leave this line \
             out (--lines)",
            needed >> 20,
            available >> 20
        );
    }
    Ok(())
}

fn available_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
