//! A job's state, as one word: how far it is, who holds its memory, and whether somebody waits for it.
//!
//! `README.md` beside this file draws the states and tells which race is decided by which step.

use crate::sync::{AtomicUsize, Ordering};

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nobody has begun it: its slot holds the closure.
    Waiting,
    /// Somebody runs it and owns the slot.
    Running,
    /// The slot holds the outcome.
    Done,
    /// The slot holds nothing any more.
    Empty,
}

/// Who holds a job's memory. The last one to let go frees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// The queue or mailbox that the job stands in, and later the worker who took it from there.
    Queue,
    /// The handle.
    Handle,
    /// The list of the scope that the job was spawned in.
    Scope,
}

/// How somebody waits for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiter {
    /// A task, whose waker stands in the job.
    Task,
    /// A thread, on the job's bell.
    Thread,
}

/// What has become of a job that has just ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The outcome is the handle's, and the runner holds the job no more, unless it runs it for the scope.
    Handed,
    /// The outcome is the handle's. The runner still holds the job; it must wake who waits and then let go.
    Wake(Waiter),
    /// There is no handle: the outcome is the runner's.
    Unheld,
}

/// What a handle finds when it gives its job up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detached {
    /// The job goes on by itself.
    Left,
    /// The outcome is there, and the handle's.
    Done,
}

/// What a scope finds when it gives a job up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scoped {
    /// Others hold the job.
    Left,
    /// Nobody else holds it and there is no outcome: it is to be freed.
    Last,
    /// There is an outcome that no handle can claim: it is the scope's. The scope still holds the job.
    Unclaimed,
}

#[derive(Debug)]
pub(super) struct Word(AtomicUsize);

const PHASE: usize = 0b11;
const QUEUE: usize = 1 << 2;
const HANDLE: usize = 1 << 3;
const SCOPE: usize = 1 << 4;
const HOLDERS: usize = QUEUE | HANDLE | SCOPE;
const TASK: usize = 1 << 5;
const THREAD: usize = 1 << 6;
const WAITERS: usize = TASK | THREAD;

impl Holder {
    const fn bit(self) -> usize {
        match self {
            Self::Queue => QUEUE,
            Self::Handle => HANDLE,
            Self::Scope => SCOPE,
        }
    }
}

impl Waiter {
    const fn bit(self) -> usize {
        match self {
            Self::Task => TASK,
            Self::Thread => THREAD,
        }
    }
}

const fn phase_of(bits: usize) -> Phase {
    match bits & PHASE {
        0 => Phase::Waiting,
        1 => Phase::Running,
        2 => Phase::Done,
        _ => Phase::Empty,
    }
}

const fn with_phase(bits: usize, phase: Phase) -> usize {
    bits & !PHASE | phase as usize
}

impl Word {
    /// The word of a job that stands in a queue.
    pub(super) fn waiting(in_scope: bool) -> Self {
        let scope = if in_scope { SCOPE } else { 0 };
        Self(AtomicUsize::new(with_phase(QUEUE | HANDLE | scope, Phase::Waiting)))
    }

    /// The word of a job of a scope that has ended before anybody else heard of it.
    pub(super) fn done_in_scope() -> Self {
        Self(AtomicUsize::new(with_phase(HANDLE | SCOPE, Phase::Done)))
    }

    /// Changes the word by `change` until nobody came between, or `change` says `None`; gives back what it was.
    fn update(
        &self,
        success: Ordering,
        failure: Ordering,
        mut change: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize> {
        let mut seen = self.0.load(failure);
        while let Some(new) = change(seen) {
            match self.0.compare_exchange_weak(seen, new, success, failure) {
                Ok(_) => return Ok(seen),
                Err(now) => seen = now,
            }
        }
        Err(seen)
    }

    /// Begins the job: on success the slot, with the closure, is the caller's.
    ///
    /// Relaxed: who may begin has got the job, and with it the closure, through a queue, a lock or the handle.
    pub(super) fn start(&self) -> bool {
        self.leave_waiting(Phase::Running)
    }

    /// As [`start`](Self::start), by the handle, which keeps the outcome to itself.
    pub(super) fn take_back(&self) -> bool {
        self.leave_waiting(Phase::Empty)
    }

    fn leave_waiting(&self, phase: Phase) -> bool {
        self.update(Ordering::Relaxed, Ordering::Relaxed, |bits| {
            (phase_of(bits) == Phase::Waiting).then(|| with_phase(bits, phase))
        })
        .is_ok()
    }

    /// Ends the job, whose outcome stands in the slot, for the runner who holds it as `holder`.
    ///
    /// Release: pairs with [`is_done`](Self::is_done), [`watch`](Self::watch), [`unwatch`](Self::unwatch) and
    /// [`detach`](Self::detach), by which the handle takes the outcome over. Acquire: pairs with `watch`, for the
    /// waker; and with the letting go of a handle, whose last accesses come before the runner's.
    pub(super) fn end(&self, holder: Holder) -> Ended {
        let ended = self.update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            let done = with_phase(bits & !WAITERS, Phase::Done);
            let lets_go = bits & WAITERS == 0 && holder == Holder::Queue;
            (bits & HANDLE != 0).then_some(if lets_go { done & !QUEUE } else { done })
        });
        match ended {
            Err(_) => Ended::Unheld,
            Ok(bits) if bits & TASK != 0 => Ended::Wake(Waiter::Task),
            Ok(bits) if bits & THREAD != 0 => Ended::Wake(Waiter::Thread),
            Ok(_) => Ended::Handed,
        }
    }

    /// Leaves the slot in `phase`, and lets go; true if nobody else holds the job.
    ///
    /// Release: pairs with the acquire here and in [`let_go`](Self::let_go) by the last holder, who frees the memory
    /// after everybody's last access; and with that in [`leave_scope`](Self::leave_scope), for an outcome left there.
    pub(super) fn close(&self, phase: Phase, holder: Holder) -> bool {
        // Alone with the job already, so nobody looks at the word any more. Acquire: as below.
        if self.0.load(Ordering::Acquire) & HOLDERS == holder.bit() {
            return true;
        }
        let closed = self.update(Ordering::AcqRel, Ordering::Relaxed, |bits| {
            Some(with_phase(bits, phase) & !holder.bit())
        });
        let (Ok(bits) | Err(bits)) = closed;
        bits & HOLDERS == holder.bit()
    }

    /// Leaves the slot in `phase` without letting go.
    ///
    /// Release: pairs with the acquire in [`leave_scope`](Self::leave_scope) and [`let_go`](Self::let_go).
    pub(super) fn settle(&self, phase: Phase) {
        let _ =
            self.update(Ordering::Release, Ordering::Relaxed, |bits| Some(with_phase(bits, phase)));
    }

    /// Lets go; true if nobody else holds the job.
    pub(super) fn let_go(&self, holder: Holder) -> bool {
        // Acquire, release: see `close`.
        self.0.load(Ordering::Acquire) & HOLDERS == holder.bit()
            || self.0.fetch_and(!holder.bit(), Ordering::AcqRel) & HOLDERS == holder.bit()
    }

    /// Whether the outcome stands in the slot; to a handle it says that the outcome is its own.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        // Acquire: pairs with `end`.
        phase_of(self.0.load(Ordering::Acquire)) == Phase::Done
    }

    /// Whether there is a handle still. Relaxed: a hint.
    pub(super) fn has_handle(&self) -> bool {
        self.0.load(Ordering::Relaxed) & HANDLE != 0
    }

    pub(super) fn phase(&self) -> Phase {
        phase_of(self.0.load(Ordering::Relaxed))
    }

    /// Says that the handle waits; false if the job is done, so that nobody would wake it.
    ///
    /// Release: pairs with [`end`](Self::end): the waker was put into the job before.
    pub(super) fn watch(&self, waiter: Waiter) -> bool {
        self.update(Ordering::Release, Ordering::Acquire, |bits| {
            (phase_of(bits) != Phase::Done).then_some(bits | waiter.bit())
        })
        .is_ok()
    }

    /// Says that the handle waits no more; false if the job is done, so that its waker is the runner's.
    pub(super) fn unwatch(&self, waiter: Waiter) -> bool {
        // Acquire on failure: pairs with `end`.
        self.update(Ordering::Relaxed, Ordering::Acquire, |bits| {
            (bits & waiter.bit() != 0).then_some(bits & !waiter.bit())
        })
        .is_ok()
    }

    /// The handle, which does not wait, gives the job up; see [`Detached`].
    ///
    /// Release: pairs with [`end`](Self::end). A job that is not done is held by others, so this is never the last.
    pub(super) fn detach(&self) -> Detached {
        let left = self.update(Ordering::Release, Ordering::Acquire, |bits| {
            (phase_of(bits) != Phase::Done).then_some(bits & !HANDLE)
        });
        if left.is_ok() { Detached::Left } else { Detached::Done }
    }

    /// The handle gives a job up that has panicked, and leaves the panic to its scope; false if there is none.
    ///
    /// Release: pairs with [`leave_scope`](Self::leave_scope).
    pub(super) fn leave_to_scope(&self) -> bool {
        self.update(Ordering::Release, Ordering::Relaxed, |bits| {
            (bits & SCOPE != 0).then_some(bits & !HANDLE)
        })
        .is_ok()
    }

    /// The scope, all of whose jobs have ended, gives the job up; see [`Scoped`].
    ///
    /// Acquire: pairs with whoever left an outcome there ([`close`](Self::close),
    /// [`leave_to_scope`](Self::leave_to_scope)), and with every letting go. Release: as for `close`.
    pub(super) fn leave_scope(&self) -> Scoped {
        let left = self.update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            let unclaimed = phase_of(bits) == Phase::Done && bits & HANDLE == 0;
            (!unclaimed).then_some(bits & !SCOPE)
        });
        match left {
            Err(_) => Scoped::Unclaimed,
            Ok(bits) if bits & HOLDERS == SCOPE => Scoped::Last,
            Ok(_) => Scoped::Left,
        }
    }
}
