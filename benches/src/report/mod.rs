//! What a reader sees: tables, plots, and the file that both are made from.

mod crowd;
mod demands;
mod idle;
#[cfg(feature = "plots")]
mod plots;
mod records;
mod summary;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use crowd::show as show_crowd;
use demands::{Demand, Verdict, demands};
pub(crate) use idle::show as show_idle;
pub(crate) use records::{Cell, Failure, Load, Missing, Peer, Record, Run, read, write};
use summary::LineSummary;
pub(crate) use summary::Summary;
use table::Style;

use crate::arm::Spread;
use crate::lines::{Group, Line};
use crate::peers::Entry;

/// Prints the tables to standard output.
pub(crate) fn print(summary: &Summary) {
    for line in &summary.lines {
        println!("\n{}: {}", line.line.name, line.line.what);
        println!("{}", table::of_line(line, &summary.run.base, Style::Terminal));
        for note in notes(line) {
            println!("{note}");
        }
    }
    println!("\n{}", table::overview(summary, Style::Terminal));
    for demand in demands(summary) {
        println!("\n{}\n{}", outcome(&demand), demand.what);
        println!("{}", table::of_demand(&demand, Style::Terminal));
    }
    for missing in &summary.missing {
        println!("missing: {} ({})", missing.peer, missing.why);
    }
}

/// What is demanded, and on how many lines the run shows what of it.
fn outcome(demand: &Demand) -> String {
    let [holds, noise, fails] =
        Verdict::ALL.map(|verdict| format!("{} on {}", verdict.words(), demand.count(verdict)));
    format!("{}: {holds}, {noise} (median in bounds on {}), {fails}", demand.title, demand.likely())
}

/// Prints how single operations of `line` scatter.
pub(crate) fn print_spreads(line: &Line, spreads: &[(&Entry, Result<Spread, String>)]) {
    println!("{}: {}", line.name, line.what);
    println!("{}", table::of_spreads(spreads));
    for (entry, spread) in spreads {
        if let Err(why) = spread {
            println!("{} did not run it: {why}", entry.name);
        }
    }
}

/// What must be known beside a line's figures.
fn notes(line: &LineSummary) -> Vec<String> {
    let mut notes = Vec::new();
    for failure in &line.failures {
        notes.push(format!("{} did not run it: {}", failure.peer, failure.why));
    }
    if let Some(others) = line.others.filter(|_| line.is_disturbed()) {
        notes.push(format!(
            "other processes took {:.0} % of the machine meanwhile: do not trust these figures",
            100.0 * others
        ));
    }
    if let Some(noise) = line.noise() {
        notes.push(format!(
            "the base measured twice differs by {:+.1} %: smaller differences mean nothing here",
            100.0 * noise
        ));
    }
    notes
}

/// Writes the page, the plots and the records into `folder`.
pub(crate) fn publish(summary: &Summary, records: &[Record], folder: &Path) -> Result<()> {
    let mut file = Vec::new();
    for record in records {
        write(&mut file, record)?;
    }
    save(&folder.join("results.jsonl"), &file)?;
    #[cfg(feature = "plots")]
    for (name, svg) in plots::all(summary)? {
        save(&folder.join(name), svg.as_bytes())?;
    }
    save(&folder.join("README.md"), page(summary).as_bytes())
}

/// Writes a file, and makes its folder if it is not there.
fn save(path: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    fs::write(path, content).with_context(|| format!("{} cannot be written", path.display()))
}

/// What locsteal is to keep, and whether it does; nothing if the run tells nothing of it.
fn demands_of(summary: &Summary) -> String {
    let demands = demands(summary);
    if demands.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## What is to hold\n\nRatios are medians of paired ratios with 95 % intervals. *{}*: the whole interval keeps the bound. \
         *{}*: the whole interval is beyond it. *{}*: the bound lies in the interval, or nearer to it than the base's two \
         processes are to each other. *(disturbed)*: other processes took too much of the machine.\n\n",
        Verdict::Holds.words(),
        Verdict::Fails.words(),
        Verdict::WithinNoise.words(),
    );
    for demand in demands {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "### {}\n\n{}\n\n{}\n\n",
            outcome(&demand),
            demand.what,
            table::of_demand(&demand, Style::Markdown)
        );
    }
    text
}

/// The page: where and how, the overview, then each group with its plot and tables.
fn page(summary: &Summary) -> String {
    let run = &summary.run;
    let mut page = String::from("# Measured\n\n");
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "Made by `{}`; [how it measures](../measurements.md). {}, {} CPUs, kernel {}, {}, allocator {}. {} seats, \
         workers {}; {} rounds of processes, {} batches of {} us after {} us of warm-up each; seed {}. Times are \
         medians; ratios are medians of paired ratios to `{}` with 95 % bootstrap intervals.\n\n",
        run.command,
        run.machine,
        run.cpus,
        run.kernel,
        run.compiler,
        run.allocator,
        run.width,
        if run.pinned { "tied to CPUs where the peer can" } else { "not tied to CPUs" },
        run.rounds,
        run.repetitions,
        run.budget_us,
        run.warm_up_us,
        run.seed,
        run.base,
    );
    if cfg!(feature = "plots") {
        page.push_str("![Every line and peer, as multiples of the fastest](overview.svg)\n\n");
    }
    let _ = write!(page, "{}\n\n", table::overview(summary, Style::Markdown));
    page.push_str(&demands_of(summary));
    for group in Group::ALL {
        let lines: Vec<_> = summary.lines.iter().filter(|l| l.line.group == group).collect();
        if lines.is_empty() {
            continue;
        }
        let _ = write!(page, "## {}\n\n", group.title());
        if cfg!(feature = "plots") {
            let _ = write!(page, "![{}]({}.svg)\n\n", group.title(), group.file());
            if group == Group::Even {
                page.push_str("![Speed-up by length](axpy.svg)\n\n");
            }
        }
        for line in lines {
            let _ = write!(page, "### {}: {}\n\n", line.line.name, line.line.what);
            let _ = write!(page, "{}\n\n", table::of_line(line, &run.base, Style::Markdown));
            for note in notes(line) {
                let _ = write!(page, "{note}\n\n");
            }
        }
    }
    page.push_str(
        "## Peers\n\n| peer | how its loops are written | version |\n| --- | --- | --- |\n",
    );
    for peer in &summary.peers {
        let _ = writeln!(page, "| {} | {} | {} |", peer.name, peer.idiom, peer.version);
    }
    for missing in &summary.missing {
        let _ = writeln!(page, "| {} | | missing: {} |", missing.peer, missing.why);
    }
    page
}
