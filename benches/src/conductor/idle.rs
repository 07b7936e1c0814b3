//! What pools do while there is nothing to do: how long the first loop after a pause takes, what CPU time is burnt during the
//! pause, and what a neighbour feels of it.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::neighbour::Neighbour;
use super::process::Process;
use super::{Plan, beside, start_with};
use crate::arm::{Gapped, Order, Reply};
use crate::lines::{self, Line};
use crate::peers::Entry;
use crate::stats::median;

/// A peer, and what it is told of how long to spin.
#[derive(Clone)]
pub(crate) struct IdleArm {
    pub(crate) label: String,
    pub(crate) entry: Entry,
    /// A variable and its value.
    pub(crate) setting: Option<(&'static str, String)>,
}

/// What was found of one arm: medians.
pub(crate) struct Idle {
    pub(crate) label: String,
    /// For each pause.
    pub(crate) gaps: Vec<Gapped>,
    /// What a unit of a neighbour's work takes as a multiple of what it takes beside the first arm: while the pool has nothing
    /// to do, and while it runs a loop each millisecond.
    pub(crate) beside: [f64; 2],
}

/// How many operations are timed after pauses of this length: about twenty milliseconds, and never few.
fn count(gap: Duration) -> u32 {
    (20_000 / gap.as_micros().max(1)).clamp(6, 200) as u32
}

/// Measures `arms` on `line` after each of `gaps`, and their neighbours; those of the first arm are the measure.
pub(crate) fn idle(
    plan: &Plan,
    line: &Line,
    arms: &[IdleArm],
    gaps: &[Duration],
) -> Result<Vec<Idle>> {
    let mut random = fastrand::Rng::with_seed(plan.seed);
    // For each arm and pause, and for each arm and kind of neighbour.
    let mut gapped = vec![vec![Vec::new(); gaps.len()]; arms.len()];
    let mut slowed = vec![[const { Vec::new() }; 2]; arms.len()];
    for round in 0..plan.rounds {
        eprintln!("round {} of {}", round + 1, plan.rounds);
        let mut neighbour = Neighbour::start(plan.width)?;
        let mut processes = Vec::new();
        for arm in arms {
            let variables: Vec<(&str, &str)> =
                arm.setting.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let (process, failure) =
                start_with(&arm.entry, line, plan.width, plan.pin, &variables)?;
            if let Some(why) = failure {
                bail!("{} cannot run {}: {why}", arm.label, line.name);
            }
            processes.push(process);
        }
        let mut order: Vec<usize> = (0..arms.len()).collect();
        for _ in 0..plan.repetitions {
            for (g, &gap) in gaps.iter().enumerate() {
                random.shuffle(&mut order);
                for &k in &order {
                    let found =
                        after(&mut processes[k], gap).with_context(|| arms[k].label.clone())?;
                    gapped[k][g].push(found);
                }
            }
            let kinds = [lines::Neighbour::BesideIdle, lines::Neighbour::BesideLoops];
            for (n, kind) in kinds.into_iter().enumerate() {
                let line = Line { neighbour: kind, ..line.clone() };
                random.shuffle(&mut order);
                for &k in &order {
                    processes[k].go_on();
                    let sample = beside(plan, &line, &mut processes[k], &mut neighbour);
                    processes[k].stop();
                    slowed[k][n].push(sample.with_context(|| arms[k].label.clone())?.ns);
                }
            }
        }
    }
    let alone: [f64; 2] = [0, 1].map(|n| median(&mut slowed[0][n].clone()));
    let of = |k: usize| Idle {
        label: arms[k].label.clone(),
        gaps: gapped[k]
            .iter()
            .map(|found| Gapped {
                ns: median(&mut found.iter().map(|g| g.ns).collect::<Vec<_>>()),
                burnt: median(&mut found.iter().map(|g| g.burnt).collect::<Vec<_>>()),
            })
            .collect(),
        beside: [0, 1].map(|n| median(&mut slowed[k][n].clone()) / alone[n]),
    };
    Ok((0..arms.len()).map(of).collect())
}

fn after(process: &mut Process, gap: Duration) -> Result<Gapped> {
    process.go_on();
    process.order(&Order::Gaps { gap, count: count(gap) })?;
    let reply = process.reply();
    process.stop();
    match reply? {
        Reply::Gapped(found) => Ok(found),
        other => bail!("it said {other:?} when asked to run with pauses"),
    }
}
