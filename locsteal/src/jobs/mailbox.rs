//! A seat's mailbox: how a job comes to an idle worker that is awake, in one compare-exchange.
//!
//! The word says whether the seat's worker is on call. A worker goes on call when it has nothing to do, looks at its
//! mailbox at each turn of its spinning, and withdraws before it does anything else: before it runs a job, joins a
//! loop, goes to sleep or ends. Withdrawing is a swap, so a job is either given before it, and then the worker finds it
//! in the swap, or not given at all: who holds a job knows that the worker that it was given to is going to see it.
#![allow(unsafe_code, reason = "a job as a pointer")]

use std::ptr::{null_mut, without_provenance_mut};

use super::cell::{Header, Job};
use crate::sync::{AtomicPtr, Ordering};

/// Null: nobody is on call. [`ON_CALL`]. Else a job.
#[derive(Debug)]
pub(super) struct Mailbox(AtomicPtr<Header>);

/// The worker is on call. No job has this address, since jobs are aligned.
const ON_CALL: *mut Header = without_provenance_mut(1);

/// What stands in a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mail {
    /// Nobody is on call.
    Off,
    /// The worker is on call.
    OnCall,
    /// A job.
    Job,
}

impl Mailbox {
    pub(super) fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Relaxed: a job is taken by one of the functions below.
    #[inline]
    pub(super) fn look(&self) -> Mail {
        match self.0.load(Ordering::Relaxed) {
            mail if mail.is_null() => Mail::Off,
            ON_CALL => Mail::OnCall,
            _ => Mail::Job,
        }
    }

    /// The worker, which is not on call, goes on call.
    ///
    /// Not a plain store: while a worker that has been sent home ends, another one may be at its seat already, which may
    /// have gone on call and been given a job. Relaxed: nothing is handed over.
    pub(super) fn go_on_call(&self) {
        let _ = self.0.compare_exchange(null_mut(), ON_CALL, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Gives the job to the worker if it is on call.
    pub(super) fn give(&self, job: Job) -> Result<(), Job> {
        if self.look() != Mail::OnCall {
            return Err(job);
        }
        let job = job.into_raw();
        // Release: pairs with `withdraw` and `steal`; who takes the job sees all that its submitter did.
        match self.0.compare_exchange(ON_CALL, job, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            // SAFETY: the pointer has just been made of the job.
            Err(_) => Err(unsafe { Job::from_raw(job) }),
        }
    }

    /// The worker is not on call any more; gives back the job that it was given meanwhile.
    pub(super) fn withdraw(&self) -> Option<Job> {
        if self.look() == Mail::Off {
            return None;
        }
        // Acquire: pairs with `give`.
        let mail = self.0.swap(null_mut(), Ordering::Acquire);
        // SAFETY: what is neither null nor the mark came from `give`, and has been taken out by this swap alone.
        (!mail.is_null() && mail != ON_CALL).then(|| unsafe { Job::from_raw(mail) })
    }

    /// Another worker takes the job that stands here, as the seat's worker is slow to do so.
    pub(super) fn steal(&self) -> Option<Job> {
        let mail = self.0.load(Ordering::Relaxed);
        if mail.is_null() || mail == ON_CALL {
            return None;
        }
        // Acquire: pairs with `give`. Should the pointer be that of another job by now, which stands at the same
        // address, then it is that job that is taken: the pointer that was there, not the one that was seen before.
        let taken = self.0.compare_exchange(mail, null_mut(), Ordering::Acquire, Ordering::Relaxed);
        // SAFETY: as for `withdraw`.
        taken.ok().map(|mail| unsafe { Job::from_raw(mail) })
    }
}
