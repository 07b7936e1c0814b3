//! What locsteal is to keep beside others, line by line: whether a run shows that it does.

use super::summary::{Arm, LineSummary, Summary};
use crate::lines::{Group, Pace};
use crate::stats::{Estimate, estimate, ratios};

/// What a run says of a demand on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The whole interval keeps the bound.
    Holds,
    /// The bound lies in the interval, or nearer to it than the noise of the line.
    WithinNoise,
    /// The whole interval is beyond the bound.
    Fails,
}

impl Verdict {
    pub(crate) const ALL: [Self; 3] = [Self::Holds, Self::WithinNoise, Self::Fails];

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::WithinNoise => "within noise",
            Self::Fails => "does not hold",
        }
    }

    /// `noise`: by which share of it a time may be off.
    fn of(ratio: &Estimate, bound: f64, noise: f64) -> Self {
        let noise = 1.0 + noise;
        if ratio.high * noise <= bound {
            Self::Holds
        } else if ratio.low / noise > bound {
            Self::Fails
        } else {
            Self::WithinNoise
        }
    }
}

/// A demand on one line.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) line: &'static str,
    /// Which arm of locsteal, and its time in nanoseconds.
    pub(crate) ours: (String, f64),
    /// What it is measured by.
    pub(crate) other: (String, f64),
    /// Ours to the other, paired.
    pub(crate) ratio: Estimate,
    pub(crate) verdict: Verdict,
    /// Whether others took so much of the machine that nothing follows.
    pub(crate) disturbed: bool,
}

/// A demand on all lines that it speaks of.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) title: &'static str,
    /// What is compared.
    pub(crate) what: String,
    /// What the ratio is to be at most.
    pub(crate) bound: f64,
    pub(crate) rows: Vec<Row>,
}

impl Demand {
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// On how many of the lines where it is not certain the median keeps the bound.
    pub(crate) fn likely(&self) -> usize {
        let open = self.rows.iter().filter(|row| row.verdict == Verdict::WithinNoise);
        open.filter(|row| row.ratio.value <= self.bound).count()
    }
}

/// A plain loop that takes less, in nanoseconds, is over before another thread could have said that it has come.
const TRIVIAL: f64 = 500.0;
const OF_BEST: f64 = 1.05;
const OF_SERIAL: f64 = 1.05;
/// Nanoseconds beyond that.
const DECIDING: f64 = 20.0;
const OF_FORK_UNION: f64 = 1.1;

/// All that this run can say something about.
pub(crate) fn demands(summary: &Summary) -> Vec<Demand> {
    let demand = |title, what, bound, rows: &dyn Fn(&LineSummary) -> Vec<Row>| {
        let rows = summary.lines.iter().flat_map(rows).collect();
        Demand { title, what, bound, rows }
    };
    let all = vec![
        demand(
            "First where another thread can help",
            format!(
                "The fastest arm of locsteal against the fastest other library, on all lines but trivial loops (below {TRIVIAL} ns \
                 serially)."
            ),
            1.0,
            &|line| first(line).into_iter().collect(),
        ),
        demand(
            "First where a worker runs the closure",
            "Offloading without the choice to run the closure at once, against the fastest other library.".to_owned(),
            1.0,
            &|line| by_worker(line).into_iter().collect(),
        ),
        demand(
            "`auto` near the best fixed schedule",
            "What an attribute without a schedule chooses, against the best of the plain loop and of locsteal's schedules as this run \
             has them."
                .to_owned(),
            OF_BEST,
            &|line| auto(line).into_iter().collect(),
        ),
        demand(
            "Trivial loops near the plain loop",
            format!("`auto` against {OF_SERIAL} times the plain loop and {DECIDING} ns."),
            1.0,
            &|line| trivial(line).into_iter().collect(),
        ),
        demand(
            "Forced launches near fork_union's",
            "Hot launches that a schedule makes share trivial loops, against those of the fastest pool that is awake.".to_owned(),
            OF_FORK_UNION,
            &forced,
        ),
    ];
    all.into_iter().filter(|demand| !demand.rows.is_empty()).collect()
}

fn first(line: &LineSummary) -> Option<Row> {
    let (ours, theirs) = (line.fastest(Arm::is_ours)?, line.fastest(|arm| !arm.is_ours())?);
    if is_trivial(line) { None } else { against(line, ours, theirs, 1.0) }
}

/// Arms of locsteal whose closures are always run by another thread.
const BY_WORKER: [&str; 3] = ["locsteal-offload", "locsteal-channel", "locsteal-await"];

fn by_worker(line: &LineSummary) -> Option<Row> {
    let ours = line.fastest(|arm| BY_WORKER.contains(&arm.peer.as_str()))?;
    against(line, ours, line.fastest(|arm| !arm.is_ours())?, 1.0)
}

fn auto(line: &LineSummary) -> Option<Row> {
    if line.line.is_offload() || line.line.neighbour.is_measured() || is_trivial(line) {
        return None;
    }
    let auto = line.arm("locsteal")?;
    let is_fixed =
        |arm: &&Arm| arm.peer == "serial" && !arm.control || arm.is_ours() && arm.peer != auto.peer;
    against(line, auto, line.arms.iter().find(is_fixed)?, OF_BEST)
}

fn trivial(line: &LineSummary) -> Option<Row> {
    let (auto, serial) = (line.arm("locsteal")?, line.arm("serial")?);
    if !is_trivial(line) {
        return None;
    }
    let allowed = |serial: f64| OF_SERIAL * serial + DECIDING;
    let bounds: Vec<Vec<f64>> =
        serial.ns.iter().map(|round| round.iter().copied().map(allowed).collect()).collect();
    let ratio = estimate(&ratios(&auto.ns, &bounds))?;
    let other = (format!("{OF_SERIAL} serial + {DECIDING} ns"), allowed(serial.time.value));
    Some(row(line, auto, other, ratio, 1.0))
}

fn forced(line: &LineSummary) -> Vec<Row> {
    let hot = line.line.group == Group::Launch && line.line.pace == Pace::Hot;
    let Some(theirs) = line.arm("fork_union").filter(|_| hot) else {
        return Vec::new();
    };
    let forced = line.arms.iter().filter(|arm| arm.is_ours() && arm.peer != "locsteal");
    forced.filter_map(|ours| against(line, ours, theirs, OF_FORK_UNION)).collect()
}

/// Whether a line's loop is over before another thread could help.
fn is_trivial(line: &LineSummary) -> bool {
    let serial = line.arm("serial").filter(|_| !line.line.is_offload());
    serial.is_some_and(|serial| serial.time.value < TRIVIAL)
}

fn against(line: &LineSummary, ours: &Arm, theirs: &Arm, bound: f64) -> Option<Row> {
    let other = (theirs.peer.clone(), theirs.time.value);
    Some(row(line, ours, other, ours.against(theirs)?, bound))
}

fn row(line: &LineSummary, ours: &Arm, other: (String, f64), ratio: Estimate, bound: f64) -> Row {
    let noise = line.noise().map_or(0.0, f64::abs);
    Row {
        line: line.line.name,
        ours: (ours.peer.clone(), ours.time.value),
        other,
        ratio,
        verdict: Verdict::of(&ratio, bound, noise),
        disturbed: line.is_disturbed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::records::{Cell, Load, Record, Run};

    fn cell(line: &str, peer: &str, control: bool, ns: &[f64]) -> Record {
        Record::Cell(Cell {
            line: line.to_owned(),
            peer: peer.to_owned(),
            control,
            round: 0,
            ns: ns.to_vec(),
            cpus: vec![1.0; ns.len()],
            preemptions: 0,
        })
    }

    fn summary(cells: Vec<Record>) -> Summary {
        let run = Run { base: "serial".to_owned(), rounds: 1, ..Run::here() };
        let records: Vec<Record> = [Record::Run(run)].into_iter().chain(cells).collect();
        Summary::of(&records).unwrap()
    }

    fn of<'a>(demands: &'a [Demand], title: &str) -> &'a [Row] {
        let found = demands.iter().find(|demand| demand.title.starts_with(title));
        found.map_or(&[], |demand| &demand.rows)
    }

    #[test]
    fn a_bound_is_kept_or_broken_by_the_whole_interval_and_by_more_than_the_noise() {
        let between = |low, high| Estimate { value: f64::midpoint(low, high), low, high };
        for (low, high, noise, verdict) in [
            (0.8, 1.0, 0.0, Verdict::Holds),
            (0.8, 1.01, 0.0, Verdict::WithinNoise),
            (0.8, 0.97, 0.05, Verdict::WithinNoise),
            (0.8, 0.94, 0.05, Verdict::Holds),
            (1.01, 1.2, 0.0, Verdict::Fails),
            (1.01, 1.2, 0.02, Verdict::WithinNoise),
            (1.03, 1.2, 0.02, Verdict::Fails),
        ] {
            assert_eq!(
                Verdict::of(&between(low, high), 1.0, noise),
                verdict,
                "{low} {high} {noise}"
            );
        }
    }

    /// Each repetition is twice as slow as the one before, for all: only what is paired tells the arms apart.
    #[test]
    fn the_best_of_each_side_are_compared_by_pairs() {
        let drift = |ns: f64| [1.0, 2.0, 4.0, 8.0].map(|by| ns * by);
        let summary = summary(vec![
            cell("axpy-1e5", "serial", false, &drift(1000.0)),
            cell("axpy-1e5", "locsteal", false, &drift(540.0)),
            cell("axpy-1e5", "locsteal-static", false, &drift(510.0)),
            cell("axpy-1e5", "locsteal-steal", false, &drift(600.0)),
            cell("axpy-1e5", "rayon", false, &drift(700.0)),
            cell("axpy-1e5", "fork_union", false, &drift(500.0)),
            cell("axpy-1e5", "floor", false, &drift(400.0)),
        ]);
        let demands = demands(&summary);
        let [first] = of(&demands, "First") else { panic!("{demands:?}") };
        assert_eq!((&*first.ours.0, &*first.other.0), ("locsteal-static", "fork_union"));
        assert!((first.ratio.value - 1.02).abs() < 1e-9, "{:?}", first.ratio);
        assert_eq!(first.verdict, Verdict::Fails);
        let [auto] = of(&demands, "`auto`") else { panic!("{demands:?}") };
        assert_eq!((&*auto.ours.0, &*auto.other.0), ("locsteal", "locsteal-static"));
        assert_eq!(auto.verdict, Verdict::Fails, "540 is more than 1.05 of 510");
        assert!(of(&demands, "Trivial").is_empty() && of(&demands, "Forced").is_empty());
    }

    #[test]
    fn closures_that_a_worker_runs_are_compared_by_themselves() {
        let summary = summary(vec![
            cell("offload-hot", "serial", false, &[1.0; 3]),
            cell("offload-hot", "locsteal", false, &[30.0; 3]),
            cell("offload-hot", "locsteal-join", false, &[170.0; 3]),
            cell("offload-hot", "locsteal-await", false, &[300.0; 3]),
            cell("offload-hot", "locsteal-offload", false, &[400.0; 3]),
            cell("offload-hot", "forte", false, &[240.0; 3]),
        ]);
        let demands = demands(&summary);
        let rows = demands.iter().flat_map(|demand| &demand.rows);
        let rows: Vec<_> = rows.map(|row| (&*row.ours.0, &*row.other.0, row.verdict)).collect();
        let expected =
            [("locsteal", "forte", Verdict::Holds), ("locsteal-await", "forte", Verdict::Fails)];
        assert_eq!(rows, expected);
        let peers: Vec<_> = crate::peers::entries().iter().map(|entry| entry.name).collect();
        assert!(BY_WORKER.iter().all(|name| peers.contains(name)), "{peers:?}");
    }

    #[test]
    fn the_plain_loop_may_be_the_best_fixed_schedule() {
        let summary = summary(vec![
            cell("axpy-1e4", "serial", false, &[1000.0; 3]),
            cell("axpy-1e4", "locsteal", false, &[1040.0; 3]),
            cell("axpy-1e4", "locsteal-steal", false, &[1200.0; 3]),
        ]);
        let demands = demands(&summary);
        let [auto] = of(&demands, "`auto`") else { panic!("{demands:?}") };
        assert_eq!((&*auto.other.0, auto.verdict), ("serial", Verdict::Holds));
        assert!(of(&demands, "First").is_empty(), "there is no other library");
    }

    #[test]
    fn trivial_loops_have_a_bound_of_their_own_and_forced_ones_another() {
        let summary = summary(vec![
            cell("launch-1e3", "serial", false, &[100.0; 3]),
            cell("launch-1e3", "locsteal", false, &[124.0; 3]),
            cell("launch-1e3", "locsteal-static", false, &[440.0; 3]),
            cell("launch-1e3", "locsteal-steal", false, &[450.0; 3]),
            cell("launch-1e3", "fork_union", false, &[400.0; 3]),
            cell("launch-1e3-asleep", "serial", false, &[100.0; 3]),
            cell("launch-1e3-asleep", "locsteal", false, &[126.0; 3]),
            cell("launch-1e3-asleep", "locsteal-static", false, &[5000.0; 3]),
            cell("launch-1e3-asleep", "fork_union", false, &[400.0; 3]),
        ]);
        let demands = demands(&summary);
        let verdicts = |title| {
            let rows = of(&demands, title).iter();
            rows.map(|row| (row.line, &*row.ours.0, row.verdict)).collect::<Vec<_>>()
        };
        assert_eq!(
            verdicts("Trivial"),
            [
                ("launch-1e3", "locsteal", Verdict::Holds),
                ("launch-1e3-asleep", "locsteal", Verdict::Fails),
            ]
        );
        assert_eq!(
            verdicts("Forced"),
            [
                ("launch-1e3", "locsteal-static", Verdict::Holds),
                ("launch-1e3", "locsteal-steal", Verdict::Fails),
            ]
        );
        assert!(verdicts("First").is_empty() && verdicts("`auto`").is_empty());
    }

    #[test]
    fn what_a_line_suffers_from_is_said_beside_its_verdict() {
        let mut cells = vec![
            cell("axpy-1e5", "serial", false, &[1000.0; 3]),
            cell("axpy-1e5", "serial", true, &[1100.0; 3]),
            cell("axpy-1e5", "locsteal", false, &[540.0; 3]),
            cell("axpy-1e5", "fork_union", false, &[500.0; 3]),
        ];
        let first = |cells: &[Record]| demands(&summary(cells.to_vec()))[0].rows[0].clone();
        assert_eq!(first(&cells).verdict, Verdict::WithinNoise, "8 % where the base differs by 10");
        assert!(!first(&cells).disturbed);
        cells.push(Record::Load(Load { line: "axpy-1e5".to_owned(), round: 0, others: 0.2 }));
        assert!(first(&cells).disturbed);
    }
}
