//! Scopes: jobs that may borrow what lives outside of them.
//!
//! The shape is that of `std::thread::scope`: the two lifetimes are the standard library's, and so is the reasoning.
#![allow(unsafe_code, reason = "jobs know their scope by its address")]

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use super::cell::Job;
use super::stack;
use crate::panics::{Payload, drop_quietly};
use crate::pool::{Bell, Process, lock};
use crate::sync::{AtomicUsize, Memory, Mutex, MutexGuard, Ordering, yield_now};

/// Where jobs that borrow from `'env` are spawned; made by [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    core: ScopeCore,
    /// Invariant, so that nobody shortens or prolongs what is borrowed.
    own: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Calls `f` with a scope in which jobs can be spawned that borrow from outside of it, and returns once all of them have
/// ended.
///
/// At its end a scope takes those jobs back that nobody has begun, and runs them in place; then it waits for the others.
/// So it ends even if no worker is free. Scopes may be opened anywhere: in loops, in jobs, in each other.
///
/// # Panics
///
/// If `f` panics, or a job of which no handle has carried the panic to somebody else: with the payload of `f`, else
/// with that of the job that was spawned first among those that panicked. All jobs have ended by then. In the child of a
/// fork inside of the scope, if jobs of it run in the parent.
///
/// # Examples
///
/// ```
/// use locsteal::spawn_near;
///
/// let (mut left, mut right) = (vec![3, 1, 2], vec![6, 5, 4]);
/// locsteal::scope(|s| {
///     let smallest = spawn_near!(<scope = s> || {
///         left.sort_unstable();
///         left[0]
///     });
///     right.sort_unstable();
///     assert_eq!(smallest.join(), 1);
/// });
/// assert_eq!((left, right), (vec![1, 2, 3], vec![4, 5, 6]));
/// ```
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope { core: ScopeCore::new(), own: PhantomData, env: PhantomData };
    let value = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    // It panics in the child of a fork alone, where nobody else uses the scope.
    let panic = catch_unwind(AssertUnwindSafe(|| scope.core.end())).unwrap_or_else(Some);
    match (value, panic) {
        (Ok(value), None) => value,
        (Ok(value), Some(payload)) => {
            drop_quietly(value);
            resume_unwind(payload)
        }
        (Err(payload), other) => {
            drop_quietly(other);
            resume_unwind(payload)
        }
    }
}

impl Scope<'_, '_> {
    pub(super) fn core(&self) -> &ScopeCore {
        &self.core
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("live_jobs", &(self.core.live.load(Ordering::Relaxed) / ONE))
            .finish()
    }
}

/// What a scope and its jobs share. It lives on the stack of the scope's owner.
pub(super) struct ScopeCore {
    /// How many jobs have not ended, in units of [`ONE`], and whether the owner sleeps on the bell: [`ASLEEP`].
    live: AtomicUsize,
    bell: Bell,
    jobs: Mutex<Listed>,
    /// In which of the processes that came of forks the scope was opened.
    process: Process,
    memory: Memory,
}

/// The jobs of a scope.
struct Listed {
    /// Those spawned first in front; those that are over are thrown out from time to time.
    jobs: Vec<Job>,
    /// The one that the owner is about to run in place, or runs. It stays on the list meanwhile, be it over or not: what
    /// the owner has of it is a second name, which the scope's hold keeps alive.
    in_hand: Option<Job>,
}

/// Room for so many jobs is made at first. The model checker sees what becomes of a full list.
const SHORTEST: usize = if cfg!(loom) { 1 } else { 16 };

const ASLEEP: usize = 1;
const ONE: usize = 2;

impl ScopeCore {
    pub(super) fn new() -> Self {
        Self {
            live: AtomicUsize::new(0),
            bell: Bell::new(),
            jobs: Mutex::new(Listed { jobs: Vec::new(), in_hand: None }),
            process: Process::this(),
            memory: Memory::new(),
        }
    }

    /// A job is about to be submitted.
    pub(super) fn job_begins(&self) {
        // Relaxed: it is the owner, or a job that is counted itself, so the scope cannot end meanwhile.
        self.live.fetch_add(ONE, Ordering::Relaxed);
    }

    /// Puts a job, which the scope holds, on the list, so that the owner can take it back.
    pub(super) fn list(&self, job: Job) {
        let mut over = Vec::new();
        {
            let mut listed = self.listed();
            let Listed { jobs, in_hand } = &mut *listed;
            if jobs.len() == jobs.capacity() {
                let held = |job: &Job| in_hand.as_ref().is_some_and(|in_hand| in_hand.is(job));
                over = jobs.extract_if(.., |job| job.is_over() && !held(job)).collect();
                let spare = jobs.len().max(SHORTEST);
                jobs.reserve_exact(spare);
            }
            jobs.push(job);
        }
        for job in over {
            drop_quietly(job.leave_scope());
        }
        if self.live.load(Ordering::Relaxed) & ASLEEP != 0 {
            // A job of the scope has spawned this one, while its owner sleeps.
            self.bell.ring();
        }
    }

    /// A job that was counted has ended. The scope may be gone before this returns.
    ///
    /// Nothing of the scope is touched after the access that lets its owner go: where the owner does not sleep, that is
    /// the subtraction; where it does, it stays until the zero is stored, so the bell is there to be rung to the end. The
    /// scope comes as an address, and only the fields that are used are referred to: a parameter `&self` would say that
    /// all of the scope is there until this function returns, and it may be gone before.
    ///
    /// # Safety
    ///
    /// The caller is a counted job of the scope, and this is the only call for it.
    pub(super) unsafe fn job_ended(scope: NonNull<Self>) {
        let scope = scope.as_ptr();
        // SAFETY: the job is counted, so the owner stays at least until the subtraction below. The references are no
        // parameters, and are used no longer than said above.
        let (live, bell, memory) = unsafe { (&(*scope).live, &(*scope).bell, &(*scope).memory) };
        memory.used();
        // Release: pairs with the acquire in `end`, so that the owner sees all that the job did. Acquire: for the
        // store below, which must not come to others before what they did.
        if live.fetch_sub(ONE, Ordering::AcqRel) == ONE | ASLEEP {
            // The owner stays until the store, which is the last access here.
            bell.ring();
            memory.used();
            // Release: as above; what earlier jobs released is acquired above.
            live.store(0, Ordering::Release);
        }
    }

    /// Returns when all jobs have ended; gives back the first panic that nobody else can claim.
    pub(super) fn end(&self) -> Option<Payload> {
        loop {
            if !self.process.is_this() {
                self.end_in_child();
            }
            self.run_unstarted();
            // Acquire: pairs with `job_ended`.
            let live = self.live.load(Ordering::Acquire);
            if live == 0 {
                break;
            }
            if self
                .live
                .compare_exchange(live, live | ASLEEP, Ordering::Relaxed, Ordering::Relaxed)
                .is_err()
            {
                continue;
            }
            // A job listed before the owner was seen asleep must be seen now: the list's lock orders the two.
            if !self.has_unstarted() {
                self.bell.wait();
            }
            if self.wakes() {
                break;
            }
        }
        self.memory.ends();
        let jobs = std::mem::take(&mut self.listed().jobs);
        let mut first = None;
        for panic in jobs.into_iter().filter_map(Job::leave_scope) {
            match first {
                None => first = Some(panic),
                Some(_) => drop_quietly(panic),
            }
        }
        first
    }

    /// The process is the child of a fork inside of the scope. Jobs that nobody has begun run here; those that run in the
    /// parent never end here, nor do they touch what they have borrowed.
    #[cold]
    fn end_in_child(&self) {
        self.run_unstarted();
        assert!(
            self.live.load(Ordering::Relaxed) == 0,
            "this process is the child of a fork that was made inside of a scope, and jobs of it run in the parent: they \
             cannot end here. Fork outside of scopes, or join their jobs before"
        );
    }

    /// The owner says that it does not sleep any more; true if all jobs have ended.
    fn wakes(&self) -> bool {
        loop {
            // Acquire: pairs with `job_ended`.
            let live = self.live.load(Ordering::Acquire);
            match live {
                0 => return true,
                // The last job is about to say that it touches the scope no more.
                ASLEEP => yield_now(),
                _ => {
                    let awake = live & !ASLEEP;
                    if self
                        .live
                        .compare_exchange(live, awake, Ordering::Relaxed, Ordering::Relaxed)
                        .is_ok()
                    {
                        return false;
                    }
                }
            }
        }
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn count_listed(&self) -> usize {
        self.listed().jobs.len()
    }

    /// The list.
    fn listed(&self) -> MutexGuard<'_, Listed> {
        if !self.process.is_this() {
            self.look_whether_the_list_can_be_had();
        }
        lock(&self.jobs)
    }

    /// In the child of a fork a thread of the parent may have held the lock, and the list may be in between. Then there may be
    /// unstarted jobs that handles could still run, so that the scope must not be left, in whichever way.
    #[cold]
    fn look_whether_the_list_can_be_had(&self) {
        if self.jobs.try_lock().is_err() {
            eprintln!(
                "locsteal: this process is the child of a fork that was made inside of a scope while another thread \
                 spawned a job in it, so the scope cannot end here. Fork outside of scopes"
            );
            std::process::abort();
        }
    }

    fn has_unstarted(&self) -> bool {
        self.listed().jobs.iter().any(Job::is_waiting)
    }

    /// Runs the jobs that nobody has begun.
    fn run_unstarted(&self) {
        let mut from = 0;
        loop {
            let job = {
                let mut listed = self.listed();
                let Listed { jobs, in_hand } = &mut *listed;
                *in_hand = None;
                // Some may have been thrown out since, so that others are skipped: the next call finds them.
                from = from.min(jobs.len());
                let found = jobs[from..].iter().position(Job::is_waiting);
                let Some(next) = found else { return };
                from += next + 1;
                *in_hand = Some(jobs[from - 1].for_scope());
                jobs[from - 1].for_scope()
            };
            stack::with_room(job, |job| job.run_for_scope());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{Arc, Barrier};
    use std::thread;

    use super::*;

    /// As the address in a job.
    #[derive(Clone, Copy)]
    struct Address(NonNull<ScopeCore>);

    // SAFETY: the scope is `Sync`.
    unsafe impl Send for Address {}

    impl Address {
        fn job_ended(self) {
            // SAFETY: there is one job, and this is it.
            unsafe { ScopeCore::job_ended(self.0) }
        }
    }

    /// Its owner frees the scope as soon as it may; Miri finds it if the job needs more of it then.
    #[test]
    fn the_last_job_needs_no_scope_once_it_has_said_that_it_has_ended() {
        let rounds = if cfg!(miri) { 100 } else { 1000 };
        for _ in 0..rounds {
            let scope = Box::into_raw(Box::new(ScopeCore::new()));
            let address = Address(NonNull::new(scope).unwrap());
            let begin = Arc::new(Barrier::new(2));
            // SAFETY: the scope is there until its jobs have ended.
            unsafe { (*scope).job_begins() };
            let job = {
                let begin = Arc::clone(&begin);
                thread::spawn(move || {
                    begin.wait();
                    address.job_ended();
                })
            };
            begin.wait();
            // SAFETY: as above; after the end nobody uses the scope any more.
            unsafe {
                assert!((*scope).end().is_none());
                drop(Box::from_raw(scope));
            }
            job.join().unwrap();
        }
    }
}
