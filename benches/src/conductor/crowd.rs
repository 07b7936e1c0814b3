//! Far more seats than CPUs: what a loop takes there, as a multiple of what it takes on as many seats as there are CPUs.

use anyhow::{Result, bail};

use super::process::Process;
use super::{Plan, measure, start_with};
use crate::lines::Line;
use crate::peers::Entry;
use crate::stats::{Estimate, estimate, ratios};

/// What was found of one peer on one line.
pub(crate) struct Crowded {
    pub(crate) line: &'static str,
    pub(crate) what: &'static str,
    pub(crate) peer: &'static str,
    /// Nanoseconds, on few and on many seats.
    pub(crate) few: Estimate,
    pub(crate) many: Estimate,
    /// The one as a multiple of the other.
    pub(crate) factor: Estimate,
}

/// Measures each of `peers` on each of `lines` with as many seats as the plan says, and with `seats`.
pub(crate) fn crowd(
    plan: &Plan,
    lines: &[Line],
    peers: &[Entry],
    seats: usize,
) -> Result<Vec<Crowded>> {
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let mut found = Vec::new();
    for line in lines {
        // For each peer and width, round by round.
        let mut times = vec![[const { Vec::new() }; 2]; peers.len()];
        for round in 0..plan.rounds {
            eprintln!("{}, round {} of {}", line.name, round + 1, plan.rounds);
            let mut processes: Vec<(usize, usize, Process)> = Vec::new();
            for (k, entry) in peers.iter().enumerate() {
                for (w, width) in [plan.width, seats].into_iter().enumerate() {
                    let (process, failure) = start_with(entry, line, width, plan.pin, &[])?;
                    if let Some(why) = failure {
                        bail!("{} cannot run {} on {width} seats: {why}", entry.name, line.name);
                    }
                    processes.push((k, w, process));
                }
            }
            times
                .iter_mut()
                .flatten()
                .for_each(|rounds: &mut Vec<Vec<f64>>| rounds.push(Vec::new()));
            for _ in 0..plan.repetitions {
                random.shuffle(&mut processes);
                for (k, w, process) in &mut processes {
                    process.go_on();
                    let sample = measure(plan, process);
                    process.stop();
                    times[*k][*w][round].push(sample?.ns);
                }
            }
        }
        for (entry, [few, many]) in peers.iter().zip(&times) {
            let all = (estimate(few), estimate(many), estimate(&ratios(many, few)));
            let (Some(few), Some(many), Some(factor)) = all else {
                bail!("{} was not measured on {}", entry.name, line.name);
            };
            let (line, what) = (line.name, line.what);
            found.push(Crowded { line, what, peer: entry.name, few, many, factor });
        }
    }
    Ok(found)
}
