//! The same loop run again and again, under several rules that meet the same luck.

use locsteal::__simulator::{Loop, PATIENCE_NS, Spec, Variant};
use locsteal::{Locality, Schedule, Stats};

use super::costs::Costs;
use super::data::Data;
use super::engine::{Engine, Place, Run, Trouble};
use super::kernels::Kernel;
use super::lines::Lines;
use super::machines::Site;
use super::time::{Dice, ns};

/// How a loop is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arm {
    /// The library's default.
    LocalFirst,
    NodeFirst,
    Flat,
    RandomVictim,
    HalfSteal,
    NoProtection,
    Static,
    Dynamic,
}

impl Arm {
    pub(crate) const ALL: [Self; 8] = [
        Self::LocalFirst,
        Self::NodeFirst,
        Self::Flat,
        Self::RandomVictim,
        Self::HalfSteal,
        Self::NoProtection,
        Self::Static,
        Self::Dynamic,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LocalFirst => "local first",
            Self::NodeFirst => "node first",
            Self::Flat => "flat",
            Self::RandomVictim => "random victim",
            Self::HalfSteal => "half steal",
            Self::NoProtection => "no protection",
            Self::Static => "static",
            Self::Dynamic => "dynamic",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|arm| arm.name() == name).ok_or_else(|| {
            format!("`{name}` names no rules: there are {}", Self::ALL.map(Self::name).join(", "))
        })
    }

    fn spec(self, len: u64, threads: usize) -> Spec {
        let schedule = match self {
            Self::Static => Schedule::Static,
            Self::Dynamic => Schedule::Dynamic,
            _ => Schedule::Steal,
        };
        let locality = match self {
            Self::Flat => Locality::Flat,
            Self::NodeFirst => Locality::Node,
            _ => Locality::Llc,
        };
        let patience = ns(PATIENCE_NS as f64);
        Spec { len, schedule, locality, threads, patience, ..Spec::default() }
    }

    fn variant(self, seed: u64) -> Variant {
        match self {
            Self::HalfSteal => Variant::HalfSteal,
            Self::RandomVictim => Variant::RandomVictim { seed },
            Self::NoProtection => Variant::NoProtection,
            _ => Variant::Standard,
        }
    }
}

/// Many runs of one loop.
#[derive(Clone, Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) site: &'a Site,
    pub(crate) kernel: &'a Kernel,
    pub(crate) costs: &'a Costs,
    pub(crate) trouble: Trouble,
    /// Fresh starts, each with luck of its own, and how often the loop is run in each. The first quarter is not counted.
    pub(crate) seeds: u64,
    pub(crate) runs: u64,
}

/// What came out of a trial.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    starts: Vec<Summary>,
    pub(crate) whole: Summary,
}

impl Outcome {
    /// How long it took as a share of another's time: the median over the starts, each pair of which met the same luck.
    pub(crate) fn against(&self, other: &Self) -> f64 {
        let pairs = self.starts.iter().zip(&other.starts);
        let mut ratios: Vec<f64> = pairs.map(|(a, b)| a.makespan / b.makespan).collect();
        ratios.sort_by(f64::total_cmp);
        let middle = ratios.len() / 2;
        if ratios.len() % 2 == 1 {
            ratios[middle]
        } else {
            f64::midpoint(ratios[middle - 1], ratios[middle])
        }
    }
}

/// Means over all runs that count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    pub(crate) makespan: f64,
    pub(crate) ideal: f64,
    pub(crate) spread: f64,
    pub(crate) tail: f64,
    /// The longest run.
    pub(crate) worst: f64,
    /// Sums over all runs that count.
    pub(crate) stats: Stats,
    pub(crate) runs: u64,
    pub(crate) looks: f64,
    pub(crate) steps: f64,
}

impl Summary {
    /// The share of all iterations that moved at all, out of their cache, and out of their node.
    pub(crate) fn moved(&self) -> [f64; 3] {
        let moved = self.stats.moved;
        let whole = self.stats.iterations.max(1) as f64;
        let share = |count: u64| count as f64 / whole;
        [share(moved.total()), share(moved.node + moved.remote), share(moved.remote)]
    }

    /// Of the iterations that moved, the share that left its cache, and its node.
    pub(crate) fn of_moved(&self) -> [f64; 2] {
        let moved = self.stats.moved;
        let whole = moved.total().max(1) as f64;
        [(moved.node + moved.remote) as f64 / whole, moved.remote as f64 / whole]
    }
}

impl Trial<'_> {
    /// Every start's mean, and the mean over all of them.
    pub(crate) fn run(&self, arm: Arm) -> Outcome {
        let mut starts = Vec::new();
        let mut whole = Summary::default();
        for seed in 0..self.seeds {
            // The same luck for every arm: dice are rolled equally often whatever the arm does.
            let mut dice = Dice::new(seed);
            let mut place = self.place(arm);
            let mut start = Summary::default();
            for run in 0..self.runs {
                let mut luck = Dice::new(dice.next());
                let result = self.one(&mut place, arm, seed, &mut luck, false);
                if run >= self.runs / 4 {
                    start.add(&result);
                    whole.add(&result);
                }
            }
            starts.push(start.mean());
        }
        Outcome { starts, whole: whole.mean() }
    }

    /// One run after a few that warm up, with all its chunks.
    pub(crate) fn record(&self, arm: Arm) -> (Run, Place<'_>) {
        let mut place = self.place(arm);
        let mut dice = Dice::new(1);
        for _ in 0..self.runs / 4 {
            self.one(&mut place, arm, 1, &mut dice, false);
        }
        let run = self.one(&mut place, arm, 1, &mut dice, true);
        (run, place)
    }

    fn place(&self, arm: Arm) -> Place<'_> {
        let course = Loop::new(&self.site.seats, arm.spec(self.kernel.len, 0));
        let width = course.width();
        let blocks = Loop::new(&self.site.seats, Arm::Static.spec(self.kernel.len, width));
        let data = Data::new(self.kernel, self.site, self.costs, width, |seat| blocks.block(seat));
        Place {
            site: self.site,
            costs: self.costs,
            kernel: self.kernel,
            course,
            data,
            lines: Lines::new(self.site.width()),
            now: 1_000_000,
        }
    }

    fn one(
        &self,
        place: &mut Place<'_>,
        arm: Arm,
        seed: u64,
        dice: &mut Dice,
        records: bool,
    ) -> Run {
        let variant = arm.variant(seed ^ place.now);
        let engine = Engine::new(place, variant, 0, &self.trouble, dice);
        let engine = if records { engine.recording() } else { engine };
        engine.run(dice)
    }
}

impl Summary {
    fn add(&mut self, run: &Run) {
        self.makespan += run.makespan;
        self.ideal += run.ideal;
        self.spread += run.spread;
        self.tail += run.tail;
        self.worst = self.worst.max(run.makespan);
        self.stats += run.stats;
        self.looks += run.looks as f64;
        self.steps += run.steps as f64;
        self.runs += 1;
    }

    fn mean(mut self) -> Self {
        let runs = self.runs.max(1) as f64;
        let sums = [
            &mut self.makespan,
            &mut self.ideal,
            &mut self.spread,
            &mut self.tail,
            &mut self.looks,
            &mut self.steps,
        ];
        for sum in sums {
            *sum /= runs;
        }
        self
    }
}
