//! The handle of a job: how its outcome comes to whoever wants it.

use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use super::cell::{Claim, drop_quietly};
use super::policy::Journey;
use super::stack;
use crate::clock::ticks;
use crate::sync::spin_loop;

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
    /// When it was first polled; 0: not yet.
    polled: u64,
    /// Whether a waker stands in the job.
    watched: bool,
}

impl<T> JobHandle<T> {
    pub(super) fn ready(outcome: thread::Result<T>) -> Self {
        Self { state: State::Ready(outcome) }
    }

    pub(super) fn away(claim: Claim<T>, submitting: u64, spin: u64) -> Self {
        claim.note_submitting(submitting);
        let away = Away { claim, submitting, spin, polled: 0, watched: false };
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
        let waited_from = ticks();
        self.unwatch();
        let (submitting, lesson) = (self.submitting, *self.claim.lesson());
        let claim = match self.claim.take_back() {
            Ok(job) => {
                let started = ticks();
                let outcome = stack::with_room(job, super::cell::TakenBack::run);
                if outcome.is_ok() {
                    lesson.ran_elsewhere(ticks().saturating_sub(started));
                    lesson.offloaded(submitting);
                }
                return outcome;
            }
            Err(claim) => claim,
        };
        if !claim.is_done() {
            assert!(
                claim.is_of_this_process(),
                "this process is the child of a fork, and the job that is joined here runs in the parent: its outcome \
                 cannot come. Join jobs before forking, or spawn them in the child"
            );
            wait(&claim, waited_from, self.spin);
        }
        let (started, ended) = claim.times();
        let outcome = claim.take().unwrap_or_else(|_| unreachable!("waiting ends when it is done"));
        if outcome.is_ok() {
            let received = ticks();
            lesson.waited_for(&Journey { submitting, waited_from, started, ended, received });
        }
        outcome
    }

    fn try_join(self) -> Result<thread::Result<T>, Self> {
        let Self { claim, submitting, spin, polled, watched } = self;
        let lesson = *claim.lesson();
        claim
            .take()
            .inspect(|outcome| {
                if outcome.is_ok() {
                    lesson.offloaded(submitting);
                }
            })
            .map_err(|claim| Self { claim, submitting, spin, polled, watched })
    }

    /// The outcome of a job that is done, for the task that has awaited it.
    fn awaited(self) -> thread::Result<T> {
        let Self { claim, submitting, polled: waited_from, .. } = self;
        let (lesson, (started, ended)) = (*claim.lesson(), claim.times());
        let outcome = claim.take().unwrap_or_else(|_| unreachable!("the job was seen done"));
        if outcome.is_ok() {
            let received = ticks();
            lesson.waited_for(&Journey { submitting, waited_from, started, ended, received });
        }
        outcome
    }

    /// Takes the waker out of the job, if one is there; false if the job is done, so that it is the runner's.
    fn unwatch(&mut self) -> bool {
        !mem::take(&mut self.watched) || self.claim.unwatch_by_task()
    }
}

/// Waits until the job, which somebody runs, is done.
fn wait<T>(claim: &Claim<T>, from: u64, spin: u64) {
    while ticks().saturating_sub(from) < spin {
        for _ in 0..8 {
            if claim.is_done() {
                return;
            }
            spin_loop();
        }
    }
    claim.wait();
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
        let now = ticks();
        // What panics below, as a waker may that is cloned, leaves the handle as it is.
        if let State::Away(away) = &mut self.state {
            if away.polled == 0 {
                away.polled = now;
            }
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
