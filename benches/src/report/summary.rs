//! From records to what the tables and plots show: per line and arm a time, a ratio to the base, and how sure they are.

use std::collections::HashMap;

use super::records::{Cell, Failure, Load, Missing, Peer, Record, Run};
use crate::lines::{Line, lines};
use crate::stats::{Estimate, estimate, median, ratios};

/// Above this share of other processes' load a line's figures are not to be trusted.
const TOO_BUSY: f64 = 0.05;

/// One arm on one line.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) peer: String,
    pub(crate) control: bool,
    /// Nanoseconds.
    pub(crate) time: Estimate,
    /// Time as a multiple of the base's.
    pub(crate) ratio: Estimate,
    /// CPUs kept busy (median over the batches); none where the arm's own time is not what is measured.
    pub(crate) cpus: Option<f64>,
    /// Nanoseconds of each repetition, round by round.
    pub(crate) ns: Vec<Vec<f64>>,
}

impl Arm {
    /// Time as a multiple of another arm's, from those that were taken one shortly after the other.
    pub(crate) fn against(&self, other: &Self) -> Option<Estimate> {
        estimate(&ratios(&self.ns, &other.ns))
    }

    pub(crate) fn label(&self) -> String {
        if self.control { format!("{} (again)", self.peer) } else { self.peer.clone() }
    }

    /// Whether it is a library that a program could use: neither the plain loop nor the hand-written floor.
    pub(crate) fn is_library(&self) -> bool {
        !self.control && !matches!(self.peer.as_str(), "serial" | "floor")
    }

    pub(crate) fn is_ours(&self) -> bool {
        !self.control && family(&self.peer) == "locsteal"
    }
}

/// What a peer's name begins with: `tbb` for `tbb-static`.
pub(crate) fn family(peer: &str) -> &str {
    match peer.split_once('-') {
        Some(("orx", _)) | None => peer,
        Some((family, _)) => family,
    }
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct LineSummary {
    pub(crate) line: Line,
    /// Fastest first.
    pub(crate) arms: Vec<Arm>,
    pub(crate) failures: Vec<Failure>,
    /// Share of the machine that others took: the most of any round.
    pub(crate) others: Option<f64>,
}

impl LineSummary {
    pub(crate) fn arm(&self, peer: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.peer == peer && !arm.control)
    }

    /// The base's second process, whose ratio to the first is the noise of the line.
    pub(crate) fn control(&self) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.control)
    }

    /// By which share the base's two processes differ, if that is more than chance: smaller differences mean nothing.
    pub(crate) fn noise(&self) -> Option<f64> {
        let control = self.control().filter(|arm| !arm.ratio.contains(1.0))?;
        Some(control.ratio.value - 1.0)
    }

    /// Whether other processes took so much of the machine that the figures are not to be trusted.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.others.is_some_and(|others| others > TOO_BUSY)
    }

    /// The fastest library among those that `admit` lets in.
    pub(crate) fn fastest(&self, admit: impl Fn(&Arm) -> bool) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.is_library() && admit(arm))
    }
}

/// A whole run.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) run: Run,
    pub(crate) peers: Vec<Peer>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) lines: Vec<LineSummary>,
}

impl Summary {
    /// None if the records do not begin with those of a run.
    pub(crate) fn of(records: &[Record]) -> Option<Self> {
        let run =
            records.iter().find_map(|r| if let Record::Run(run) = r { Some(run) } else { None })?;
        let of_line = |line: Line| {
            let this = line.name;
            let here = records.iter().filter(|record| match record {
                Record::Cell(Cell { line: name, .. })
                | Record::Failure(Failure { line: name, .. })
                | Record::Load(Load { line: name, .. }) => name == this,
                _ => false,
            });
            summarise(line, &run.base, run.rounds, &here.collect::<Vec<_>>())
        };
        Some(Self {
            run: run.clone(),
            peers: records
                .iter()
                .filter_map(|r| if let Record::Peer(peer) = r { Some(peer.clone()) } else { None })
                .collect(),
            missing: records
                .iter()
                .filter_map(|r| if let Record::Missing(m) = r { Some(m.clone()) } else { None })
                .collect(),
            lines: lines()
                .into_iter()
                .map(of_line)
                .filter(|l| !l.arms.is_empty() || !l.failures.is_empty())
                .collect(),
        })
    }
}

/// An arm's times, round by round, and the CPUs that it kept busy.
type Times = (Vec<Vec<f64>>, Vec<f64>);

fn summarise(line: Line, base: &str, rounds: usize, records: &[&Record]) -> LineSummary {
    let mut times: HashMap<(String, bool), Times> = HashMap::new();
    let mut failures: Vec<Failure> = Vec::new();
    let mut others: Option<f64> = None;
    for record in records {
        match record {
            Record::Cell(cell) => {
                let (ns, cpus) = times
                    .entry((cell.peer.clone(), cell.control))
                    .or_insert_with(|| (vec![Vec::new(); rounds], Vec::new()));
                if let Some(round) = ns.get_mut(cell.round) {
                    round.clone_from(&cell.ns);
                }
                cpus.extend(&cell.cpus);
            }
            // The same complaint of each round is one complaint.
            Record::Failure(failure)
                if !failures.iter().any(|f| f.peer == failure.peer && f.why == failure.why) =>
            {
                failures.push(failure.clone());
            }
            Record::Load(load) => others = Some(others.unwrap_or(0.0).max(load.others)),
            _ => {}
        }
    }
    let base = times.get(&(base.to_owned(), false)).map(|(ns, _)| ns.clone()).unwrap_or_default();
    let mut arms: Vec<Arm> = times
        .into_iter()
        .filter_map(|((peer, control), (ns, mut cpus))| {
            let cpus = (!line.neighbour.is_measured()).then(|| median(&mut cpus));
            Some(Arm {
                peer,
                control,
                time: estimate(&ns)?,
                ratio: estimate(&ratios(&ns, &base))?,
                cpus,
                ns,
            })
        })
        .collect();
    arms.sort_by(|a, b| {
        a.ratio.value.total_cmp(&b.ratio.value).then_with(|| a.label().cmp(&b.label()))
    });
    LineSummary { line, arms, failures, others }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(peer: &str, control: bool, round: usize, ns: &[f64]) -> Record {
        Record::Cell(Cell {
            line: "axpy-1e5".to_owned(),
            peer: peer.to_owned(),
            control,
            round,
            ns: ns.to_vec(),
            cpus: vec![1.0; ns.len()],
            preemptions: 0,
        })
    }

    #[test]
    fn arms_are_ranked_by_their_paired_ratio_and_failures_are_kept() {
        let run = Run { base: "serial".to_owned(), rounds: 2, ..Run::here() };
        let failure = Failure {
            line: "axpy-1e5".to_owned(),
            peer: "orx-parallel".to_owned(),
            control: false,
            round: 0,
            why: "broken".to_owned(),
        };
        let records = [
            Record::Run(run),
            cell("serial", false, 0, &[10.0, 20.0]),
            cell("serial", false, 1, &[10.0, 10.0]),
            cell("serial", true, 0, &[10.0, 20.0]),
            cell("serial", true, 1, &[11.0, 10.0]),
            cell("rayon", false, 0, &[5.0, 10.0]),
            cell("rayon", false, 1, &[5.0, 5.0]),
            Record::Failure(failure.clone()),
            Record::Failure(Failure { round: 1, ..failure }),
            Record::Load(Load { line: "axpy-1e5".to_owned(), round: 1, others: 0.25 }),
        ];
        let summary = Summary::of(&records).unwrap();
        let [line] = &summary.lines[..] else { panic!("{:?}", summary.lines) };
        assert_eq!(line.arms[0].peer, "rayon");
        assert!((line.arms[0].ratio.value - 0.5).abs() < 1e-12);
        assert_eq!(line.control().unwrap().label(), "serial (again)");
        assert_eq!(line.fastest(|arm| !arm.is_ours()).unwrap().peer, "rayon");
        assert_eq!((line.failures.len(), line.others), (1, Some(0.25)));
        assert!(Summary::of(&records[1..]).is_none());
    }

    #[test]
    fn families() {
        for (peer, expected) in
            [("tbb-static", "tbb"), ("orx-parallel", "orx-parallel"), ("fork_union", "fork_union")]
        {
            assert_eq!(family(peer), expected);
        }
    }
}
