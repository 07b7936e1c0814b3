//! The handle's end of a job: the right to its outcome.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, forget};
use std::ptr::NonNull;
use std::task::Waker;
use std::thread;

use super::{Header, Job};
use crate::jobs::policy::Lesson;
use crate::jobs::scope::ScopeCore;
use crate::jobs::word::{Detached, Holder, Phase, Waiter};
use crate::panics::drop_quietly;
use crate::sync::Ordering;

/// The right to a job's outcome, which one handle has.
///
/// Dropping it gives the job up: an outcome that is there already is dropped quietly.
#[derive(Debug)]
pub(in crate::jobs) struct Claim<T> {
    pub(super) job: NonNull<Header>,
    pub(super) outcome: PhantomData<T>,
}

// SAFETY: see `Job`; the outcome is `Send`, and a shared claim gives no access to it.
unsafe impl<T: Send> Send for Claim<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Claim<T> {}

impl<T> Claim<T> {
    fn header(&self) -> &Header {
        // SAFETY: a claim holds the job as its handle.
        unsafe { self.job.as_ref() }
    }

    pub(in crate::jobs) fn lesson(&self) -> &Lesson {
        &self.header().lesson
    }

    /// When the job was begun and when it had ended; only once it is done.
    pub(in crate::jobs) fn times(&self) -> (u64, u64) {
        self.header().times()
    }

    /// Says what submitting has cost, for a runner that finds nobody waiting.
    pub(in crate::jobs) fn note_submitting(&self, ticks: u64) {
        self.header().submitting.store(ticks, Ordering::Relaxed);
    }

    /// Whether the job was submitted in this very process, and not in one that it is a fork of.
    pub(in crate::jobs) fn is_of_this_process(&self) -> bool {
        self.header().process.is_this()
    }

    #[inline]
    pub(in crate::jobs) fn is_done(&self) -> bool {
        self.header().word.is_done()
    }

    /// Takes an unstarted job back: it is the caller's to [run](TakenBack::run).
    pub(in crate::jobs) fn take_back(self) -> Result<TakenBack<T>, Self> {
        if self.header().word.take_back() {
            Ok(TakenBack(self.into_job(), PhantomData))
        } else {
            Err(self)
        }
    }

    /// The outcome, if the job is done.
    pub(in crate::jobs) fn take(self) -> Result<thread::Result<T>, Self> {
        if !self.is_done() {
            return Err(self);
        }
        let Job(job) = self.into_job();
        let mut outcome = MaybeUninit::<thread::Result<T>>::uninit();
        // SAFETY: the job is done, so the outcome is the handle's, which is used up here; the place is of its type.
        Ok(unsafe {
            (job.as_ref().table.take)(job, outcome.as_mut_ptr().cast());
            close_handle(job);
            outcome.assume_init()
        })
    }

    /// Has a task woken once the job is done; false if it is done.
    pub(in crate::jobs) fn watch_by_task(&self, waker: Waker) -> bool {
        let header = self.header();
        // SAFETY: no task waits and the job may be done, but then none waited when it was: the waker is the handle's. It
        // has none in there: it takes one out whenever it does not wait any more.
        unsafe { header.waker.with_mut(|slot| slot.write(Some(waker))) };
        let watched = header.word.watch(Waiter::Task);
        if !watched {
            self.drop_waker();
        }
        watched
    }

    /// Takes [`watch_by_task`](Self::watch_by_task) back; false if the job is done.
    pub(in crate::jobs) fn unwatch_by_task(&self) -> bool {
        let header = self.header();
        let unwatched = header.word.unwatch(Waiter::Task);
        if unwatched {
            self.drop_waker();
        }
        unwatched
    }

    /// No task waits. Whatever the waker's drop does wrong, the job goes on.
    fn drop_waker(&self) {
        // SAFETY: no task waits, or the job was done when one was to wait, so the waker is the handle's.
        drop_quietly(unsafe { self.header().waker.with_mut(|waker| (*waker).take()) });
    }

    /// Sleeps until the job is done.
    pub(in crate::jobs) fn wait(&self) {
        let header = self.header();
        if header.word.watch(Waiter::Thread) {
            while !header.word.is_done() {
                header.bell.wait();
            }
        }
    }

    /// The claim's hold on the job, without the right to its outcome.
    fn into_job(self) -> Job {
        let job = Job(self.job);
        forget(self);
        job
    }
}

impl<T> Drop for Claim<T> {
    fn drop(&mut self) {
        let Header { word, table, lesson, submitting, panicked, memory, .. } = self.header();
        memory.used();
        if word.detach() == Detached::Left {
            return;
        }
        // SAFETY: the job is done, so the outcome is the handle's.
        unsafe {
            // A panic is its scope's, if there is one.
            if panicked.load(Ordering::Relaxed) && word.leave_to_scope() {
                return;
            }
            match (table.take_panic)(self.job) {
                None => lesson.offloaded(submitting.load(Ordering::Relaxed)),
                Some(payload) => drop_quietly(payload),
            }
            close_handle(self.job);
        }
    }
}

/// The handle lets go; the slot is empty.
///
/// # Safety
///
/// The caller has the handle's hold on the job, which ends here, and has taken what was in the slot.
unsafe fn close_handle(job: NonNull<Header>) {
    // SAFETY: the caller holds the job.
    let Header { word, table, memory, .. } = unsafe { job.as_ref() };
    memory.used();
    if word.close(Phase::Empty, Holder::Handle) {
        // SAFETY: nobody else holds the job, and its slot is empty.
        unsafe { (table.free)(job) };
    }
}

/// A job that its handle has taken back.
pub(in crate::jobs) struct TakenBack<T>(Job, PhantomData<T>);

impl<T> TakenBack<T> {
    /// Runs the job in place.
    pub(in crate::jobs) fn run(self) -> thread::Result<T> {
        let Self(Job(job), _) = self;
        let mut outcome = MaybeUninit::<thread::Result<T>>::uninit();
        // SAFETY: taking the job back has made the slot the handle's, and it holds the closure; it is run once, since
        // this uses the job up. The place is of its type. The scope waits until it is told, here alone.
        unsafe {
            let Header { table, scope, .. } = job.as_ref();
            let scope = *scope;
            (table.run_out)(job, outcome.as_mut_ptr().cast());
            close_handle(job);
            if let Some(scope) = scope {
                ScopeCore::job_ended(scope);
            }
            outcome.assume_init()
        }
    }
}

// SAFETY: as for `Job`: the closure that runs is `Send`, and so is what comes of it.
unsafe impl<T: Send> Send for TakenBack<T> {}
