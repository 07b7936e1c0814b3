//! Loops without macros: a source, the options, and what to do.

mod adapt;
mod attempt;
mod collect;
mod each;
mod fold;
pub(super) mod search;
mod windows;

pub use attempt::Attempt;

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{Location, resume_unwind};

use super::drive::{Pieces, Segment, Turns, segments};
use super::launch::{Label, Plan, Report};
use super::progress::{Meter, Progress};
use super::source::{Countable, IntoParallelSource, Length, ParallelSource};
use crate::panics::{Payload, drop_quietly};
use crate::pool::Pool;
use crate::sched::{Locality, Schedule};
use crate::stats::Stats;

/// A parallel loop over a source, before it is run. Made by [`range`], [`source`] or [`Parallel::par`].
///
/// There are three kinds of methods: adaptors, which mean what those of [`Iterator`] mean; options, which are the clauses of
/// `#[par_for]`; and at the end the one that runs the loop. None of the closures needs `move`, since a loop has ended when that
/// method returns.
///
/// A panic in any closure stops the loop and comes out of the method that runs it. If several iterations panic, the panic is
/// that of the lowest one that ran.
///
/// # Examples
///
/// ```
/// use locsteal::{Locality, Schedule};
///
/// let x = vec![1.5; 1000];
/// let dot = locsteal::range(0..x.len())
///     .schedule(Schedule::Steal)
///     .locality(Locality::Llc)
///     .grain(64)
///     .sum(|i| x[i] * x[i]);
/// assert_eq!(dot, 2250.0);
/// ```
#[must_use = "a loop does nothing until it is run, for example by `for_each`"]
pub struct Loop<'a, S> {
    source: S,
    plan: Plan<'static>,
    pool: Option<&'a Pool>,
    name: Option<Cow<'a, str>>,
    place: &'static Location<'static>,
    progress: Option<Box<dyn Progress + 'a>>,
    report: Option<&'a mut Stats>,
    reproducible: bool,
}

/// A parallel loop over a range of integers, exclusive or inclusive, or of `char`.
///
/// ```
/// let squares = locsteal::range(0..5).collect_vec(|i| i * i);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
///
/// let all_bytes = locsteal::range(u8::MIN..=u8::MAX).sum(|_| 1);
/// assert_eq!(all_bytes, 256);
/// ```
#[inline]
#[track_caller]
pub fn range<'a, R: IntoParallelSource<Item: Countable>>(range: R) -> Loop<'a, R::Source> {
    Loop::new(range.into_parallel_source())
}

/// A parallel loop over anything that can be split by position: slices, arrays, `Vec` and `VecDeque`, by `&`, `&mut` or by value,
/// ranges, what the methods of [`ParallelSlice`](crate::source::ParallelSlice) and
/// [`ParallelSliceMut`](crate::source::ParallelSliceMut) make, and every [`ParallelSource`].
///
/// ```
/// let mut names = ["ada", "grace", "edsger"].map(String::from);
/// locsteal::source(&mut names).for_each(|name| name.make_ascii_uppercase());
/// assert_eq!(names, ["ADA", "GRACE", "EDSGER"]);
/// ```
#[inline]
#[track_caller]
pub fn source<'a, I: IntoParallelSource>(items: I) -> Loop<'a, I::Source> {
    Loop::new(items.into_parallel_source())
}

/// The method form of [`source`].
pub trait Parallel: IntoParallelSource + Sized {
    /// A parallel loop over `self`.
    ///
    /// ```
    /// use locsteal::Parallel;
    ///
    /// let words = vec!["stay", "near", "home"];
    /// assert!(words.par().all(|word| word.len() == 4));
    /// assert_eq!((1..=10).par().sum(|i| i), 55);
    /// ```
    #[inline]
    #[track_caller]
    fn par<'a>(self) -> Loop<'a, Self::Source> {
        source(self)
    }
}

impl<I: IntoParallelSource> Parallel for I {}

impl<'a, S: ParallelSource> Loop<'a, S> {
    #[track_caller]
    fn new(source: S) -> Self {
        Self {
            source,
            plan: Plan::default(),
            pool: None,
            name: None,
            place: Location::caller(),
            progress: None,
            report: None,
            reproducible: false,
        }
    }

    #[inline]
    pub(super) fn with_source<T>(self, change: impl FnOnce(S) -> T) -> Loop<'a, T> {
        let Self { source, plan, pool, name, place, progress, report, reproducible } = self;
        Loop { source: change(source), plan, pool, name, place, progress, report, reproducible }
    }

    /// How iterations are dealt out to the participants. By default [`Schedule::Auto`].
    #[inline]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.plan.schedule = schedule;
        self
    }

    /// Which victims of stealing are tried before others. By default [`Locality::Llc`].
    #[inline]
    pub fn locality(mut self, locality: Locality) -> Self {
        self.plan.locality = locality;
        self
    }

    /// The smallest number of iterations that is worth handing over to another participant; 0, the default, leaves the choice to
    /// the pool.
    #[inline]
    pub fn grain(mut self, iterations: usize) -> Self {
        self.plan.grain = iterations as u64;
        self
    }

    /// At most this many threads work on the loop, the caller included; 0, the default, stands for the pool's width.
    #[inline]
    pub fn threads(mut self, threads: usize) -> Self {
        self.plan.threads = threads;
        self
    }

    /// The pool whose workers take part. By default [`Pool::global`].
    #[inline]
    pub fn pool(mut self, pool: &'a Pool) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Puts into `stats` what was counted in this loop: how it was shared out, and how far iterations moved. The pool
    /// counts it as well ([`Pool::stats`]).
    ///
    /// ```
    /// use locsteal::Stats;
    ///
    /// let mut stats = Stats::default();
    /// locsteal::range(0..10_000).report(&mut stats).for_each(|i| {
    ///     std::hint::black_box(i);
    /// });
    /// assert_eq!((stats.iterations, stats.loops + stats.serial_loops), (10_000, 1));
    /// println!("{stats}");
    /// ```
    #[inline]
    pub fn report(mut self, stats: &'a mut Stats) -> Self {
        self.report = Some(stats);
        self
    }

    /// The name of the loop in messages. By default the file and line where the loop was begun.
    #[inline]
    pub fn name(mut self, name: impl Into<Cow<'a, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whom to tell from time to time how many iterations have ended. See [`Progress`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let done = AtomicU64::new(0);
    /// locsteal::range(0..5000).progress(|n| done.store(n, Ordering::Relaxed)).for_each(|i| {
    ///     std::hint::black_box(i);
    /// });
    /// assert_eq!(done.into_inner(), 5000);
    /// ```
    #[inline]
    pub fn progress(mut self, listener: impl Progress + 'a) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Makes reductions give the same result bit for bit, whatever the number of threads, the schedule and the run.
    ///
    /// The iterations are cut into leaves, up to 1024 of them, whose size depends on the length of the loop alone. Each leaf is
    /// accumulated serially, and leaves are combined pairwise along a tree that depends on the length alone, in the order of the
    /// iterations. So the combining function need not be commutative. The rounding error of a sum of floats is at most
    /// `(leaf - 1 + log2(leaves)) * EPSILON` times the sum of the absolute values, to first order: about a thousandth of the
    /// bound of a serial loop.
    ///
    /// ```
    /// use locsteal::{Pool, Schedule};
    ///
    /// let x: Vec<f32> = (0..10_000).map(|i| (i as f32).sin()).collect();
    /// let sum = |threads, schedule| {
    ///     locsteal::source(&x).threads(threads).schedule(schedule).reproducible().sum(|x| *x)
    /// };
    /// assert_eq!(sum(1, Schedule::Static).to_bits(), sum(7, Schedule::Steal).to_bits());
    /// ```
    #[inline]
    pub fn reproducible(mut self) -> Self {
        self.reproducible = true;
        self
    }

    /// Runs the loop: has `work` run on each participant. The result is the position at which the loop was left, if it was.
    #[inline]
    fn drive(self, work: impl Fn(&mut Pieces<'_, '_, '_, S>) + Sync) -> Option<u128>
    where
        S: Sync,
    {
        let mut exit = None;
        self.drive_segments(|segment| {
            let first = segment.launch.first();
            exit = segment.run(&work)?.map(|position| first + u128::from(position));
            Ok(if exit.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        exit
    }

    /// Runs the loop segment by segment, until one is left.
    #[inline]
    fn drive_segments(
        self,
        mut run: impl FnMut(SourceLaunch<'_, S>) -> Result<ControlFlow<()>, Payload>,
    ) where
        S: Sync,
    {
        let Self { source, plan, pool, name, place, progress, report, .. } = self;
        let label = name.as_deref().map_or(Label::At(place), Label::Name);
        let plan = Plan { label, ..plan };
        let segments = Segments { plan, pool, progress: progress.as_deref(), report };
        let ended = segments
            .drive(source.length(), &mut |launch| run(SourceLaunch { launch, source: &source }));
        if let Err(payload) = ended {
            // Here and not while unwinding, where a drop that panics would end the process.
            drop_quietly(source);
            drop_quietly(progress);
            resume_unwind(payload);
        }
    }

    /// The name of the loop, or where it stands.
    fn label(&self) -> String {
        let place = self.place;
        match &self.name {
            Some(name) => format!("loop `{name}` at {place}"),
            None => format!("loop at {place}"),
        }
    }
}

/// How a loop is run, whatever it runs over.
// Of a type that is the same for all loops, so that driving them is compiled once, in the library.
pub(super) struct Segments<'a> {
    pub(super) plan: Plan<'a>,
    /// `None`: the global pool.
    pub(super) pool: Option<&'a Pool>,
    pub(super) progress: Option<&'a dyn Progress>,
    pub(super) report: Option<&'a mut Stats>,
}

impl Segments<'_> {
    /// Has `run` run a loop of this length segment by segment, until it breaks.
    ///
    /// # Errors
    ///
    /// The payload of a panic, as `run` gives it.
    pub(super) fn drive(
        self,
        length: Length,
        run: &mut dyn FnMut(Launch<'_>) -> Result<ControlFlow<()>, Payload>,
    ) -> Result<(), Payload> {
        let Self { plan, pool, progress, report: stats } = self;
        let pool = pool.unwrap_or_else(|| Pool::global());
        if let (Some(segment), None, None) = (Segment::whole(length), progress, &stats) {
            return run(Launch { segment, pool, plan: &plan, unit: 0, meter: None }).map(|_| ());
        }
        let meter = progress.map(|progress| Meter::new(progress, length.saturating_u64()));
        let report = stats.as_ref().map(|_| Report::default());
        let plan = Plan { report: report.as_ref(), ..plan };
        let mut ended = Ok(ControlFlow::Continue(()));
        for segment in segments(length) {
            ended = run(Launch { segment, pool, plan: &plan, unit: 0, meter: meter.as_ref() });
            if !matches!(ended, Ok(ControlFlow::Continue(()))) {
                break;
            }
        }
        if let Some((stats, report)) = stats.zip(report) {
            *stats = report.into_stats();
        }
        if let (ControlFlow::Continue(()), Some(meter)) = (ended?, meter) {
            meter.finish();
        }
        Ok(())
    }
}

/// A segment of a loop, ready to be run.
pub(super) struct Launch<'a> {
    segment: Segment,
    pool: &'a Pool,
    plan: &'a Plan<'a>,
    unit: u64,
    meter: Option<&'a Meter<'a>>,
}

impl Launch<'_> {
    pub(super) fn first(&self) -> u128 {
        self.segment.first()
    }

    pub(super) fn length(&self) -> u64 {
        self.segment.len()
    }

    /// Chunks are to begin and end at multiples of `unit`.
    pub(super) fn unit(self, unit: u64) -> Self {
        Self { unit, ..self }
    }

    /// Has `work` run on each participant. The result is the position at which the loop was left, if it was.
    #[inline]
    pub(super) fn run(
        self,
        work: impl Fn(&mut Turns<'_, '_>) + Sync,
    ) -> Result<Option<u64>, Payload> {
        let changed;
        let plan = match self.unit {
            0 => self.plan,
            unit => {
                changed = Plan { unit, ..*self.plan };
                &changed
            }
        };
        self.segment.run(self.pool, plan, self.meter, work)
    }
}

/// A segment of a loop over a source, ready to be run.
struct SourceLaunch<'a, S> {
    launch: Launch<'a>,
    source: &'a S,
}

impl<S: ParallelSource + Sync> SourceLaunch<'_, S> {
    /// Chunks are to begin and end at multiples of `unit`.
    fn unit(self, unit: u64) -> Self {
        Self { launch: self.launch.unit(unit), ..self }
    }

    #[inline]
    fn run(self, work: impl Fn(&mut Pieces<'_, '_, '_, S>) + Sync) -> Result<Option<u64>, Payload> {
        let source = self.source;
        self.launch.run(|turns| {
            // SAFETY: `drive_segments` makes one of these for each segment of a source that it owns; it is used up here, and no
            // position is in two segments.
            work(&mut unsafe { Pieces::new(source, turns) });
        })
    }
}

impl<S: ParallelSource + fmt::Debug> fmt::Debug for Loop<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loop")
            .field("source", &self.source)
            .field("plan", &self.plan)
            .field("pool", &self.pool)
            .field("name", &self.name)
            .field("place", &self.place)
            .field("reproducible", &self.reproducible)
            .finish_non_exhaustive()
    }
}
