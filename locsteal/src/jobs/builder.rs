//! Submitting jobs.
#![allow(unsafe_code, reason = "jobs that borrow")]

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::thread;

use super::cell::{Circumstances, make, make_panicked};
use super::desk::{Desk, Submitted};
use super::handle::JobHandle;
use super::policy::{Lesson, Side};
use super::scope::{Scope, ScopeCore};
use super::site::JobSite;
use super::stack;
use crate::affinity::Near;
use crate::pool::Pool;

/// Whether a job runs in its submitter or on a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// As it has proved best at the call site, for jobs of the same size class: in the submitter, where the job's own
    /// time is at most what offloading it costs the submitter, and at most a millisecond; else on a worker.
    #[default]
    Adaptive,
    /// On a worker. In the submitter only where no worker can be had: on a pool of one, in the child of a fork, while
    /// the pool shuts down.
    Offload,
    /// In the submitter, before the call that submits it returns.
    Inline,
}

/// Describes a job before it is spawned; made by [`job`].
///
/// `spawn_near!` does the same with its options in front of the closure, and finds the state of its call site without
/// looking it up.
///
/// # Examples
///
/// ```
/// use locsteal::{Near, Policy};
///
/// let keys = vec![3, 1, 2];
/// let sorted = locsteal::job()
///     .weight(keys.len())
///     .policy(Policy::Offload)
///     .near(Near::here())
///     .spawn(move || {
///         let mut keys = keys;
///         keys.sort_unstable();
///         keys
///     });
/// assert_eq!(sorted.join(), [1, 2, 3]);
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a job is submitted by `spawn`"]
pub struct JobBuilder<'a> {
    site: Option<&'static JobSite>,
    name: Option<&'static str>,
    weight: usize,
    policy: Policy,
    near: Option<Near>,
    pool: Option<&'a Pool>,
}

/// Begins to describe a job.
pub const fn job() -> JobBuilder<'static> {
    JobBuilder {
        site: None,
        name: None,
        weight: 0,
        policy: Policy::Adaptive,
        near: None,
        pool: None,
    }
}

/// Submits a job to the global pool, near to the calling thread: `spawn_near!` without options, as a function.
///
/// # Examples
///
/// ```
/// let job = locsteal::spawn_near(|| 6 * 7);
/// assert_eq!(job.join(), 42);
/// ```
#[track_caller]
pub fn spawn_near<F, T>(work: F) -> JobHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    job().spawn(work)
}

impl Pool {
    /// Submits a job to this pool, near to the calling thread.
    ///
    /// The workers of the last-level cache that the caller is running in get it first; see `spawn_near!`.
    ///
    /// # Examples
    ///
    /// ```
    /// let pool = locsteal::Pool::builder().threads(2).build()?;
    /// let job = pool.spawn_near(|| 6 * 7);
    /// assert_eq!(job.join(), 42);
    /// # Ok::<(), locsteal::BuildError>(())
    /// ```
    #[track_caller]
    pub fn spawn_near<F, T>(&self, work: F) -> JobHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        job().pool(self).spawn(work)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Submits a job to the global pool, near to the calling thread, that may borrow what outlives the scope.
    ///
    /// # Examples
    ///
    /// ```
    /// let words = vec!["near", "far"];
    /// let longest = locsteal::scope(|s| {
    ///     let job = s.spawn_near(|| words.iter().map(|word| word.len()).max());
    ///     job.join()
    /// });
    /// assert_eq!(longest, Some(4));
    /// ```
    #[track_caller]
    pub fn spawn_near<F, T>(&'scope self, work: F) -> JobHandle<T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        job().spawn_in(self, work)
    }
}

impl<'a> JobBuilder<'a> {
    /// How much work the job is, in whatever unit: a number of keys, of bytes. Jobs of one call site whose weights lie
    /// between the same powers of two are judged together by [`Policy::Adaptive`]. By default 0, which is a class of
    /// its own.
    pub const fn weight(mut self, weight: usize) -> Self {
        self.weight = weight;
        self
    }

    /// Whether the job runs in its submitter or on a worker; by default [`Policy::Adaptive`].
    pub const fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Where the job belongs near to; by default where the calling thread is running when it spawns the job.
    pub const fn near(mut self, near: Near) -> Self {
        self.near = Some(near);
        self
    }

    /// The pool whose workers are to run the job; by default the global one.
    pub const fn pool(self, pool: &Pool) -> JobBuilder<'_> {
        let Self { site, name, weight, policy, near, .. } = self;
        JobBuilder { site, name, weight, policy, near, pool: Some(pool) }
    }

    /// A name for [`callsites`](crate::callsites).
    pub const fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// The state of the call site; by default it is looked up by the caller's place.
    #[doc(hidden)]
    pub const fn site(mut self, site: &'static JobSite) -> Self {
        self.site = Some(site);
        self
    }

    /// Submits the job.
    #[track_caller]
    pub fn spawn<F, T>(self, work: F) -> JobHandle<T>
    where
        F: FnOnce() -> T + Send + 'static, // a job that borrows needs a scope: spawn_near!(<scope = s> ..)
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.submit(work, None, Location::caller()) }
    }

    /// Submits the job, which may borrow what outlives the scope.
    #[track_caller]
    pub fn spawn_in<'scope, F, T>(self, scope: &'scope Scope<'scope, '_>, work: F) -> JobHandle<T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // SAFETY: `'scope` outlives the scope, which does not end before the job has: before the closure is used up,
        // and its outcome dropped, unless a handle has it, whose type is bounded by `'scope`, too.
        unsafe { self.submit(work, Some(scope.core()), Location::caller()) }
    }

    /// # Safety
    ///
    /// What the closure and its outcome borrow outlives the scope; without one they borrow nothing.
    unsafe fn submit<F, T>(
        self,
        work: F,
        scope: Option<&ScopeCore>,
        caller: &'static Location<'static>,
    ) -> JobHandle<T>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let pool = self.pool.unwrap_or_else(|| Pool::global());
        let Some(shared) = pool.staffed() else {
            pool.shared().count_inline_job();
            return run_here(work, Lesson::NONE, scope);
        };
        let (side, lesson) = match self.policy {
            Policy::Inline => (Side::Inline, Lesson::NONE),
            Policy::Offload => (Side::Offload, Lesson::NONE),
            Policy::Adaptive => {
                let site = self.site.unwrap_or_else(|| JobSite::of_caller(caller, self.name));
                let (class, decision) = site.decide(self.weight);
                (decision.side, Lesson::new(class, decision))
            }
        };
        if side == Side::Inline {
            shared.count_inline_job();
            return run_here(work, lesson, scope);
        }
        let began = lesson.now();
        let desk = Desk::of(shared);
        let domain = desk.domain_near(shared, self.near);
        let circumstances = Circumstances { domain, lesson, scope: scope.map(NonNull::from) };
        // SAFETY: a job of a scope is run before the scope ends, since the scope waits until it was told so, and others
        // borrow nothing. What the outcome borrows, the type of the claim does.
        let (job, claim) = unsafe { make(work, circumstances) };
        if let Some(scope) = scope {
            scope.job_begins();
            scope.list(job.for_scope());
        }
        let submitted = desk.submit(shared, domain, job);
        let submitting = lesson.now().saturating_sub(began);
        let claim = match submitted {
            Submitted::Accepted => claim,
            Submitted::Doubtful => match claim.take_back() {
                Ok(job) => return here(job.run(), scope),
                Err(claim) => claim,
            },
        };
        JobHandle::away(claim, submitting, desk.spin())
    }
}

/// Runs the job in its submitter.
fn run_here<F, T>(work: F, lesson: Lesson, scope: Option<&ScopeCore>) -> JobHandle<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let began = lesson.now();
    let outcome = stack::with_room(work, |work| catch_unwind(AssertUnwindSafe(work)));
    if outcome.is_ok() {
        lesson.ran_inline(lesson.now().saturating_sub(began).max(1));
    }
    here(outcome, scope)
}

/// The handle of a job that has run in its submitter. Its scope must be able to find a panic.
fn here<T: Send>(outcome: thread::Result<T>, scope: Option<&ScopeCore>) -> JobHandle<T> {
    match (outcome, scope) {
        (Err(payload), Some(scope)) => {
            let circumstances = Circumstances {
                domain: None,
                lesson: Lesson::NONE,
                scope: Some(NonNull::from(scope)),
            };
            let (job, claim) = make_panicked(payload, circumstances);
            scope.list(job);
            JobHandle::away(claim, 0, 0)
        }
        (outcome, _) => JobHandle::ready(outcome),
    }
}
