//! Pools: seats with homes, the workers that fill them, and how they are told of loops.
//!
//! `README.md` beside this file tells the protocols: how a loop is announced, entered and left, and how workers sleep
//! and are woken.

mod alone;
mod aside;
mod builder;
mod crew;
mod fork;
mod lane;
mod locality;
#[cfg(all(test, loom))]
mod loom_tests;
mod plan;
mod recording;
mod seats;
mod shared;
mod side_work;
mod sleep;
mod worker;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

pub use builder::{BuildError, PoolBuilder};
pub use locality::LocalityReport;
pub use plan::PoolPlan;
pub use recording::Recording;

use crew::Crew;
pub(crate) use fork::{PerProcess, Process};
pub(crate) use lane::{Epoch, Lane, Notice};
#[cfg(any(feature = "simulator", all(test, not(loom))))]
pub(crate) use seats::Seats;
#[cfg(feature = "simulator")]
pub(crate) use shared::PATIENCE;
pub(crate) use shared::{GRACE, Place, Shared, Ticket};
pub(crate) use side_work::SideWork;
#[cfg(all(test, loom))]
pub(crate) use sleep::Sleepers;
pub(crate) use sleep::{Bell, lock};
#[cfg(feature = "simulator")]
pub(crate) use worker::Attendant;

use crate::grown::Grown;
use crate::stats::Stats;

/// Seats with worker threads, which take part in the loops that are launched on the pool.
///
/// A loop's caller always takes part itself and never depends on the workers: a loop ends even if none of them comes.
/// Workers without work spin for a short time and then sleep; an idle pool uses no CPU time.
///
/// Dropping a pool [shuts it down](Self::shutdown).
///
/// # Examples
///
/// ```
/// use locsteal::{Placement, Pool};
///
/// let pool = Pool::builder().threads(2).placement(Placement::Free).name("solver").build()?;
/// assert_eq!(pool.threads(), 2);
/// locsteal::range(0..100).pool(&pool).for_each(|i| {
///     std::hint::black_box(i);
/// });
/// # Ok::<(), locsteal::BuildError>(())
/// ```
pub struct Pool {
    shared: Arc<Shared>,
    crew: Crew,
}

static GLOBAL: Grown<Pool> = Grown::new();

impl Pool {
    /// Begins to describe a pool.
    pub fn builder() -> PoolBuilder {
        PoolBuilder::default()
    }

    /// The pool of all loops that name no other. It is made when it is first needed: as wide as the affinity mask and
    /// the container's CPU quota allow, or as `LOCSTEAL_THREADS` says.
    ///
    /// A process that is forked while another thread is making it makes one of its own.
    #[inline]
    pub fn global() -> &'static Self {
        match GLOBAL.newest() {
            Some(pool) => pool,
            None => Self::make_global(),
        }
    }

    #[cold]
    fn make_global() -> &'static Self {
        /// So that no threads are started for a pool that nobody gets.
        static MAKING: PerProcess<Mutex<()>> = PerProcess::new();
        let _alone = MAKING.here().lock().unwrap_or_else(PoisonError::into_inner);
        GLOBAL.newest_or_add(|| PoolBuilder::default().build_default())
    }

    /// How many threads work on a loop at most, the caller included: the number of seats whose worker could be
    /// started. At least 1.
    pub fn threads(&self) -> usize {
        match self.shared.width().max(self.crew.mustered()) {
            0 => self.shared.seats.count(),
            width => width,
        }
    }

    /// Ends the pool's threads, and returns when they are gone, thread-local destructors included. Loops that run
    /// meanwhile come to their ends. The next loop on the pool starts its threads afresh.
    ///
    /// Called from one of the pool's own threads (from inside a loop or a job) it cannot wait for them: the threads
    /// end as soon as they are idle.
    pub fn shutdown(&self) {
        self.crew.dismiss(&self.shared);
    }

    /// What the pool has counted since it was made. See [`Stats`].
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Records who runs which iterations when, in all loops launched on this pool from now on until
    /// [`Recording::finish`]. What is recorded is kept in memory, about 50 bytes a chunk.
    ///
    /// Loops of a pool that is not being recorded pay one branch a chunk for the possibility.
    ///
    /// # Examples
    ///
    /// ```
    /// use locsteal::Pool;
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let recording = pool.record();
    /// locsteal::range(0..1000).pool(&pool).name("warm up").for_each(|i| {
    ///     std::hint::black_box(i);
    /// });
    /// let timeline = recording.finish();
    ///
    /// let ran: u64 = timeline.chunks().iter().map(|chunk| chunk.iterations.end - chunk.iterations.start).sum();
    /// assert_eq!(ran, 1000);
    /// let picture = timeline.to_svg();
    /// assert!(picture.contains("warm up"));
    /// # Ok::<(), locsteal::BuildError>(())
    /// ```
    pub fn record(&self) -> Recording<'_> {
        Recording::new(self)
    }

    /// Whether near seats are tried first on this pool, and if not, why. Print it.
    ///
    /// Masks that the program gives the pool's threads before the first loop or job, in a
    /// [start handler](PoolBuilder::start_handler) or by their numbers, are noticed, and the report says so. Later ones
    /// are not, unless the pool is [shut down](Self::shutdown), which lets the next loop start its threads afresh.
    pub fn locality(&self) -> LocalityReport {
        let seats = &self.shared.seats;
        match self.crew.ahead(&self.shared) {
            Some(found) => LocalityReport::new(seats, &found, self.crew.problems()),
            None => LocalityReport::new(seats, seats.arrangement(), self.crew.problems()),
        }
    }

    /// What a launcher needs: the pool's state, and how wide a loop may be. The crew is taken into service if it is not, and
    /// started if it is not there; if it cannot be, the caller runs its loop alone.
    #[inline]
    pub(crate) fn ready(&self) -> (&Shared, usize) {
        if !self.crew.is_here() {
            return (&self.shared, 1);
        }
        if self.shared.width() == 0 {
            self.crew.engage(&self.shared);
        }
        (&self.shared, self.shared.width().max(1))
    }

    /// The pool, if it has workers that could do what the caller does not do itself. A pool of one has none, nor has a
    /// pool whose threads could not be started, or that came here by a fork.
    #[inline]
    pub(crate) fn staffed(&self) -> Option<&Shared> {
        let (shared, width) = self.ready();
        (width > 1).then_some(shared)
    }

    /// A pool whose workers are taken to be there, and are not: for who does in their stead what they would do.
    #[cfg(feature = "simulator")]
    pub(crate) fn unstaffed(seats: Seats) -> Self {
        let width = seats.count();
        let shared = Arc::new(Shared::new(seats, std::time::Duration::ZERO));
        shared.engage(shared.crew(), width);
        Self { shared, crew: Crew::new("unstaffed".into(), None) }
    }

    /// What has been counted, and is kept, for the pool as a whole.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

// A panic that leaves a loop or a job leaves the pool as it was.
impl std::panic::UnwindSafe for Pool {}
impl std::panic::RefUnwindSafe for Pool {}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

/// [Shuts down](Pool::shutdown) the global pool, if it was ever used. The next loop starts its threads afresh.
pub fn shutdown() {
    if let Some(pool) = GLOBAL.newest() {
        pool.shutdown();
    }
}
