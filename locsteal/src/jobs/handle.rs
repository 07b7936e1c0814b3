//! The handle of a job: how its outcome comes to whoever wants it.

use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use super::cell::Claim;
use super::policy::Journey;
use super::stack;
use crate::clock::ticks;
use crate::panics::drop_quietly;
use crate::sync::{spin_loop, yield_now};

/// A job's outcome, now or later.
///
/// [`join`](Self::join) waits for it, and so does `.await`, with any executor. A panic of the job goes on in whoever
/// joins or awaits it. Dropping the handle detaches the job: it runs all the same, and its outcome is dropped; if that
/// drop panics, or if the job does, nobody learns of it but by the panic's message.
///
/// # Examples
///
/// ```
/// use locsteal::{JobHandle, spawn_near};
///
/// let words = vec!["near", "far"];
/// let length: JobHandle<usize> = spawn_near!(move || words.iter().map(|word| word.len()).sum());
/// assert_eq!(length.join(), 7);
/// ```
pub struct JobHandle<T> {
    state: State<T>,
}

enum State<T> {
    /// The job has run when it was submitted.
    Ready(thread::Result<T>),
    Away(Away<T>),
    /// The outcome was given to whoever has awaited it.
    Given,
}

/// A job that was given to a pool.
struct Away<T> {
    claim: Claim<T>,
    /// What submitting it took, in ticks.
    submitting: u64,
    /// How long it is worth while to spin for the outcome, in ticks.
    spin: u64,
    /// When it was first polled or waited for; 0: not yet.
    waits_since: u64,
    /// Whether a waker stands in the job.
    watched: bool,
}

impl<T> JobHandle<T> {
    pub(super) fn ready(outcome: thread::Result<T>) -> Self {
        Self { state: State::Ready(outcome) }
    }

    pub(super) fn away(claim: Claim<T>, submitting: u64, spin: u64) -> Self {
        claim.note_submitting(submitting);
        let away = Away { claim, submitting, spin, waits_since: 0, watched: false };
        Self { state: State::Away(away) }
    }

    /// Whether the outcome is there, so that [`join`](Self::join) would not wait.
    pub fn is_finished(&self) -> bool {
        match &self.state {
            State::Ready(_) | State::Given => true,
            State::Away(away) => away.claim.is_done(),
        }
    }

    /// Gives the job's value, and waits for it if need be.
    ///
    /// If nobody has begun the job, it is taken back and run here and now. If it is running, this thread spins for a
    /// moment and then sleeps; it does not run other jobs meanwhile.
    ///
    /// # Panics
    ///
    /// If the job panicked, with the same payload. If the value was given to an `.await` already. In the child of a
    /// fork, if the job is running in the parent, from where its outcome cannot come.
    pub fn join(mut self) -> T
    where
        T: Send,
    {
        match self.take_state() {
            State::Ready(outcome) => give(outcome),
            State::Away(away) => give(away.join()),
            State::Given => given_already(),
        }
    }

    /// Waits until the job has ended, and leaves it to the workers: unlike [`join`](Self::join) it never runs the job in
    /// this thread. For threads that have no room on their stacks, that are to stay free of the job's priority, or where
    /// the job is for another core by nature.
    ///
    /// It spins for a moment and then sleeps. As an `.await`, it waits as long as all workers are busy; see
    /// `docs/jobs.md`.
    ///
    /// # Panics
    ///
    /// In the child of a fork, if the job was given to threads of the parent.
    ///
    /// # Examples
    ///
    /// ```
    /// # use locsteal::spawn_near;
    /// let mut job = spawn_near!(<policy = offload> || 6 * 7);
    /// job.wait();
    /// assert!(job.is_finished());
    /// assert_eq!(job.join(), 42);
    /// ```
    pub fn wait(&mut self) {
        if let State::Away(away) = &mut self.state {
            away.wait();
        }
    }

    /// Gives the job's value if it is there already, else the handle back. Never waits, and never runs the job.
    ///
    /// # Errors
    ///
    /// The handle, if the job has not finished.
    ///
    /// # Panics
    ///
    /// If the job panicked, with the same payload. If the value was given to an `.await` already.
    ///
    /// # Examples
    ///
    /// ```
    /// # use locsteal::spawn_near;
    /// let mut job = spawn_near!(|| 1 + 1);
    /// let two = loop {
    ///     match job.try_join() {
    ///         Ok(two) => break two,
    ///         Err(running) => job = running, // do something else
    ///     }
    ///     # std::thread::yield_now();
    /// };
    /// assert_eq!(two, 2);
    /// ```
    pub fn try_join(mut self) -> Result<T, Self> {
        match self.take_state() {
            State::Ready(outcome) => Ok(give(outcome)),
            State::Away(away) => match away.try_join() {
                Ok(outcome) => Ok(give(outcome)),
                Err(away) => Err(Self { state: State::Away(away) }),
            },
            State::Given => given_already(),
        }
    }
}

impl<T> JobHandle<T> {
    fn take_state(&mut self) -> State<T> {
        mem::replace(&mut self.state, State::Given)
    }
}

fn give<T>(outcome: thread::Result<T>) -> T {
    outcome.unwrap_or_else(|payload| resume_unwind(payload))
}

fn given_already() -> ! {
    panic!("the value of this job was given to an `.await` already: a handle gives it once")
}

impl<T> Away<T> {
    fn join(mut self) -> thread::Result<T>
    where
        T: Send,
    {
        let lesson = *self.claim.lesson();
        let now = lesson.now();
        self.unwatch();
        let submitting = self.submitting;
        let claim = match self.claim.take_back() {
            Ok(job) => {
                let started = lesson.now();
                let outcome = stack::with_room(job, super::cell::TakenBack::run);
                if outcome.is_ok() {
                    lesson.ran_elsewhere(lesson.now().saturating_sub(started));
                    lesson.offloaded(submitting);
                }
                return outcome;
            }
            Err(claim) => claim,
        };
        wait(&claim, self.spin);
        let waited_from = if self.waits_since == 0 { now } else { self.waits_since };
        received(claim, submitting, waited_from)
    }

    /// Waits until somebody else has run the job.
    fn wait(&mut self) {
        self.waits_from(self.claim.lesson().now());
        self.unwatch();
        wait(&self.claim, self.spin);
    }

    fn waits_from(&mut self, now: u64) {
        if self.waits_since == 0 {
            self.waits_since = now;
        }
    }

    fn try_join(self) -> Result<thread::Result<T>, Self> {
        let Self { claim, submitting, spin, waits_since, watched } = self;
        let lesson = *claim.lesson();
        claim
            .take()
            .inspect(|outcome| {
                if outcome.is_ok() {
                    lesson.offloaded(submitting);
                }
            })
            .map_err(|claim| Self { claim, submitting, spin, waits_since, watched })
    }

    /// The outcome of a job that is done, for the task that has awaited it.
    fn awaited(self) -> thread::Result<T> {
        received(self.claim, self.submitting, self.waits_since)
    }

    /// Takes the waker out of the job, if one is there; false if the job is done, so that it is the runner's.
    fn unwatch(&mut self) -> bool {
        !mem::take(&mut self.watched) || self.claim.unwatch_by_task()
    }
}

/// The outcome of a job that is done and that somebody has waited for.
fn received<T>(claim: Claim<T>, submitting: u64, waited_from: u64) -> thread::Result<T> {
    let (lesson, (started, ended)) = (*claim.lesson(), claim.times());
    let outcome = claim.take().unwrap_or_else(|_| unreachable!("the job was seen done"));
    if outcome.is_ok() {
        let received = lesson.now();
        lesson.waited_for(&Journey { submitting, waited_from, started, ended, received });
    }
    outcome
}

/// How often a waiting thread looks between two looks at the clock. The model checker tries each.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 8 };
/// After this share of the time for which it spins it lets other threads run between its looks.
const YIELD_SHARE: u64 = 16;

/// Waits until the job, which somebody runs or is going to run, is done.
fn wait<T>(claim: &Claim<T>, spin: u64) {
    if looks_done(claim) {
        return;
    }
    assert!(
        claim.is_of_this_process(),
        "this process is the child of a fork, and the job that is joined here was given to threads of the parent: its \
         outcome cannot come. Join jobs before forking, or spawn them in the child"
    );
    let from = ticks();
    loop {
        let waited = ticks().saturating_sub(from);
        if waited >= spin {
            break;
        }
        if waited >= spin / YIELD_SHARE {
            // The worker may be waiting for this very CPU.
            yield_now();
        }
        if looks_done(claim) {
            return;
        }
    }
    claim.wait();
}

fn looks_done<T>(claim: &Claim<T>) -> bool {
    (0..LOOKS).any(|look| {
        if look > 0 {
            spin_loop();
        }
        claim.is_done()
    })
}

/// Gives the job's value.
///
/// Unlike [`join`](JobHandle::join) it leaves an unstarted job where it is, since a task must not keep its executor's
/// thread.
///
/// # Panics
///
/// Polling panics where `join` does.
impl<T> Future for JobHandle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // What panics below, as a waker may that is cloned, leaves the handle as it is.
        if let State::Away(away) = &mut self.state {
            away.waits_from(away.claim.lesson().now());
            if !away.claim.is_done() {
                assert!(
                    away.claim.is_of_this_process(),
                    "this process is the child of a fork, and the job that is awaited here was given to threads of \
                     the parent: its outcome cannot come. Join jobs before forking, or spawn them in the child"
                );
                let waker = context.waker().clone();
                if away.unwatch() {
                    away.watched = away.claim.watch_by_task(waker);
                    if away.watched {
                        return Poll::Pending;
                    }
                }
            }
        }
        match self.take_state() {
            State::Ready(outcome) => Poll::Ready(give(outcome)),
            State::Away(away) => Poll::Ready(give(away.awaited())),
            State::Given => given_already(),
        }
    }
}

impl<T> Unpin for JobHandle<T> {}
// As those of `std::thread::JoinHandle`: a panic cannot leave a handle half-changed.
impl<T> UnwindSafe for JobHandle<T> {}
impl<T> RefUnwindSafe for JobHandle<T> {}

impl<T> Drop for JobHandle<T> {
    fn drop(&mut self) {
        match self.take_state() {
            State::Ready(outcome) => drop_quietly(outcome),
            State::Away(mut away) => {
                away.unwatch();
            }
            State::Given => {}
        }
    }
}

impl<T> fmt::Debug for JobHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobHandle").field("is_finished", &self.is_finished()).finish()
    }
}
