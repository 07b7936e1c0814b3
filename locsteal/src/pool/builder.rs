//! Describing and making a pool.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Pool;
use super::crew::{Crew, StartHandler};
use super::plan::PoolPlan;
use super::seats::Seats;
use super::shared::Shared;
use crate::affinity::environment::{MAX_THREADS, Settings, settings};
use crate::affinity::{Home, Layout, Placement, Seating, mask, unpinned, width};
use crate::topology::{CpuSet, Topology};

/// How long an idle worker spins at most, unless told otherwise: longer than the usual pause between two loops of a
/// program that computes, and short enough that going idle costs next to nothing.
const SPIN: Duration = Duration::from_micros(500);
/// The same where there are more seats than CPUs, so that a spinning worker may keep a working one from its CPU.
const SPIN_CROWDED: Duration = Duration::from_micros(2);

/// Describes a [`Pool`].
///
/// What is not said is taken from the environment (`LOCSTEAL_THREADS`, `LOCSTEAL_PLACEMENT`, `LOCSTEAL_SPIN`), else
/// from the machine.
#[derive(Clone, Default)]
#[must_use = "a pool is made by `build`"]
pub struct PoolBuilder {
    threads: usize,
    placement: Option<Placement>,
    layout: Layout,
    near: Option<usize>,
    spin: Option<Duration>,
    name: Option<String>,
    start: Option<StartHandler>,
    topology: Option<Topology>,
}

impl PoolBuilder {
    /// The number of seats, at most 4096: how many threads work on a loop at most, its caller included. 0: as many as
    /// the affinity mask and the container's CPU quota allow.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How workers are bound to CPUs. By default [`Placement::Llc`] for a pool as wide as the CPUs that it may use,
    /// else [`Placement::Free`].
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = Some(placement);
        self
    }

    /// Whether the seats of a pool that is narrower than the machine are packed or spread.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The CPU at which a pool begins that is narrower than the machine; by default the one that the thread which
    /// makes the pool is running on.
    pub fn near(mut self, cpu: usize) -> Self {
        self.near = Some(cpu);
        self
    }

    /// How long an idle worker spins at most before it sleeps; by default 500 microseconds, and 2 where there are more
    /// seats than CPUs. Workers whose work comes less often than that spin less.
    pub fn spin(mut self, spin: Duration) -> Self {
        self.spin = Some(spin);
        self
    }

    /// The name of the pool's threads, which a seat number follows; by default `locsteal`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What each of the pool's threads does when it has been started and placed, before it looks for work: it is given its
    /// seat. [`build`](Self::build) returns after all have done so.
    ///
    /// It may give the thread another mask, a priority, or a name in a tracer. Another mask is taken for the place of the
    /// seat: where each thread's mask lies within one last-level cache, near seats are tried first, whatever the
    /// [placement](Self::placement), and [`Pool::locality`] tells of it. If it panics, the thread works nevertheless,
    /// and [`Pool::locality`] tells of that too.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let started = Arc::new(AtomicUsize::new(0));
    /// let count = Arc::clone(&started);
    /// let pool = locsteal::Pool::builder()
    ///     .threads(3)
    ///     .start_handler(move |seat| {
    ///         assert!(seat < 3);
    ///         count.fetch_add(1, Ordering::Relaxed);
    ///     })
    ///     .build()?;
    /// assert_eq!(started.load(Ordering::Relaxed), pool.threads());
    /// # Ok::<(), locsteal::BuildError>(())
    /// ```
    pub fn start_handler(mut self, start: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.start = Some(Arc::new(start));
        self
    }

    /// The machine to lay the seats out on; by default the one that the process runs on.
    ///
    /// For tests and trials of other machines: homes and victim orders follow `topology`, and workers are confined to
    /// those of its CPUs that the process may really use; where none of a worker's CPUs is, it is not confined.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// Makes the pool and starts its threads. Where fewer can be started than asked for, the pool is narrower, and
    /// [`Pool::locality`] says why.
    ///
    /// # Errors
    ///
    /// More than 4096 threads, or a name with a NUL character.
    pub fn build(self) -> Result<Pool, BuildError> {
        self.check()?;
        // What the calling thread may use for the time of a job is not all that the pool may use.
        Ok(unpinned(|| self.build_with(settings())))
    }

    /// What [`build`](Self::build) would make, without starting a thread: for looking at, also on a topology that is
    /// not this machine's.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn plan(self) -> Result<PoolPlan, BuildError> {
        self.check()?;
        Ok(PoolPlan::new(self.lay_out(settings()).into_seats()))
    }

    /// Makes the global pool, for which nothing was said that could be wrong.
    pub(crate) fn build_default(self) -> Pool {
        unpinned(|| self.build_with(settings()))
    }

    fn check(&self) -> Result<(), BuildError> {
        if self.threads > MAX_THREADS {
            return Err(BuildError::TooManyThreads(self.threads));
        }
        match self.name.as_ref().and_then(|name| name.find('\0')) {
            Some(at) => Err(BuildError::NulInName(at)),
            None => Ok(()),
        }
    }

    fn build_with(self, settings: &Settings) -> Pool {
        let mut layout = self.lay_out(settings);
        if self.topology.is_some() {
            confine_to_real_cpus(&mut layout.homes, &mask::current().unwrap_or_default());
        }
        let cpus = layout.topology.cpus().len();
        let crowded = cpus > 0 && layout.homes.len() > cpus;
        let spin = self.spin.or(settings.spin).unwrap_or(if crowded { SPIN_CROWDED } else { SPIN });
        let shared = Arc::new(Shared::new(layout.into_seats(), spin));
        let name = self.name.unwrap_or_else(|| "locsteal".into());
        let pool = Pool { shared, crew: Crew::new(name, self.start) };
        pool.crew.muster(&pool.shared);
        pool
    }

    fn lay_out(&self, settings: &Settings) -> SeatLayout {
        let topology = self.topology.clone().unwrap_or_else(Topology::detect);
        let threads = match self.threads {
            0 => width::default_width(settings.threads, topology.cpus(), Path::new("/")).seats,
            threads => threads,
        }
        // What a loop's announcement has room for.
        .min(MAX_THREADS);
        let mut seating = Seating::new(&topology, threads).layout(self.layout);
        if let Some(placement) = self.placement.or(settings.placement) {
            seating = seating.placement(placement);
        }
        if let Some(cpu) = self.near.or_else(mask::current_cpu) {
            seating = seating.near(cpu);
        }
        let (placement, homes) = (seating.chosen_placement(), seating.homes());
        SeatLayout { topology, placement, homes }
    }
}

impl fmt::Debug for PoolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, placement, layout, near, spin, name, start, topology } = self;
        f.debug_struct("PoolBuilder")
            .field("threads", threads)
            .field("placement", placement)
            .field("layout", layout)
            .field("near", near)
            .field("spin", spin)
            .field("name", name)
            .field("start_handler", &start.is_some())
            .field("topology", topology)
            .finish()
    }
}

fn confine_to_real_cpus(homes: &mut [Home], allowed: &CpuSet) {
    for home in homes {
        home.mask =
            home.mask.take().map(|mask| mask.intersection(allowed)).filter(|mask| !mask.is_empty());
    }
}

struct SeatLayout {
    topology: Topology,
    placement: Placement,
    homes: Vec<Home>,
}

impl SeatLayout {
    fn into_seats(self) -> Seats {
        Seats::new(self.topology, self.placement, self.homes)
    }
}

/// Why a pool could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// More threads were asked for than a pool can have.
    TooManyThreads(usize),
    /// The name holds a NUL character at this byte, which no thread name may.
    NulInName(usize),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyThreads(threads) => write!(
                f,
                "a pool of {threads} threads was asked for: ask for at most {MAX_THREADS}, or for 0 to have as many \
                 as the machine allows"
            ),
            Self::NulInName(at) => write!(
                f,
                "the pool's name has a NUL character at byte {at}, which no thread name may hold: leave it out"
            ),
        }
    }
}

impl std::error::Error for BuildError {}
