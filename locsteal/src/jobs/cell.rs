//! A job's memory: one allocation that holds the closure, and later its outcome. All unsafe code about it is here and in
//! `claim.rs`.
//!
//! A job is reached in two ways: as a [`Job`], by whoever may run it, and as a [`Claim`], by the one handle that may
//! have its outcome. Both are plain owners: each is made once, and dropped or used up once.
//!
//! Who may touch the slot follows from the [`Word`]: whoever has moved it from waiting to running (or taken it back)
//! owns the closure and the slot; [`Word::end`] and [`Word::close`] hand the slot on to the handle or the scope. So
//! there is one owner at each time, and each hand-over is a release that the next owner acquires.
#![allow(unsafe_code, reason = "type-erased jobs")]

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::task::Waker;
use std::thread;

mod claim;

use super::mailbox::Mailbox;
use super::policy::Lesson;
use super::scope::ScopeCore;
use super::word::{Ended, Holder, Phase, Scoped, Waiter, Word};
use crate::panics::{Payload, drop_quietly};
use crate::pool::{Bell, Process};
use crate::sync::{AtomicBool, AtomicU64, Memory, Ordering, SharedCell};

pub(super) use claim::{Claim, TakenBack};

/// What all jobs have in common, at the beginning of their memory.
pub(super) struct Header {
    word: Word,
    /// What depends on the types of the closure and its outcome.
    table: &'static Table,
    /// The domain of the pool that the job belongs near to.
    domain: Option<usize>,
    /// Whom the times of the job teach.
    lesson: Lesson,
    /// When it was begun and when it had ended, by its lesson's clock. Relaxed: read after the outcome was handed over.
    started: AtomicU64,
    ended: AtomicU64,
    /// Whether the outcome is a panic. Relaxed, as the times.
    panicked: AtomicBool,
    /// What submitting it cost its submitter, in ticks.
    submitting: AtomicU64,
    /// Where the handle's thread sleeps.
    bell: Bell,
    /// The waker of the handle's task. The handle's, while the word does not say that a task waits; while it does, and
    /// once the job is done, the runner's.
    waker: SharedCell<Option<Waker>>,
    /// Told last when the job has ended.
    scope: Option<NonNull<ScopeCore>>,
    /// In which of the processes that came of forks the job was submitted.
    process: Process,
    memory: Memory,
}

/// What depends on types. Each function takes the job that the table is of.
struct Table {
    /// Runs the closure and leaves its outcome in the slot; false if it panicked. The slot is the caller's, and holds
    /// the closure.
    run: unsafe fn(NonNull<Header>) -> bool,
    /// Runs the closure and writes its outcome to the place, a `thread::Result<T>`. The slot is as for `run`, and holds
    /// nothing afterwards.
    run_out: unsafe fn(NonNull<Header>, *mut ()),
    /// Moves the outcome to the place, a `thread::Result<T>`. The slot is the caller's, and holds the outcome.
    take: unsafe fn(NonNull<Header>, *mut ()),
    /// Moves the outcome out and gives back the panic that it is, if it is one; a value is dropped. The slot is as for
    /// `take`.
    take_panic: unsafe fn(NonNull<Header>) -> Option<Payload>,
    /// Frees the memory. Nobody else holds the job, and the slot holds nothing.
    free: unsafe fn(NonNull<Header>),
}

#[repr(C)]
struct Cell<F, T> {
    header: Header,
    slot: SharedCell<Slot<F, T>>,
}

union Slot<F, T> {
    work: ManuallyDrop<F>,
    outcome: ManuallyDrop<thread::Result<T>>,
}

/// What a new job is told of its circumstances.
pub(super) struct Circumstances {
    pub(super) domain: Option<usize>,
    pub(super) lesson: Lesson,
    /// It outlives the job's running.
    pub(super) scope: Option<NonNull<ScopeCore>>,
}

impl<F, T> Cell<F, T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    const TABLE: &'static Table = &Table {
        run: Self::run,
        run_out: Self::run_out,
        take: Self::take,
        take_panic: Self::take_panic,
        free: Self::free,
    };

    fn allocate(word: Word, circumstances: Circumstances, slot: Slot<F, T>) -> NonNull<Header> {
        let Circumstances { domain, lesson, scope } = circumstances;
        let header = Header {
            word,
            table: Self::TABLE,
            domain,
            lesson,
            started: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            panicked: AtomicBool::new(false),
            submitting: AtomicU64::new(0),
            bell: Bell::new(),
            waker: SharedCell::new(None),
            scope,
            process: Process::this(),
            memory: Memory::new(),
        };
        let cell = Box::new(Self { header, slot: SharedCell::new(slot) });
        NonNull::from(Box::leak(cell)).cast()
    }

    /// # Safety
    ///
    /// The job is one of this type and its memory is held.
    unsafe fn slot<'a>(job: NonNull<Header>) -> &'a SharedCell<Slot<F, T>> {
        // SAFETY: the header is the first field of the cell that `allocate` made with this table, and the pointer
        // came from the whole of it.
        unsafe { &job.cast::<Self>().as_ref().slot }
    }

    /// # Safety
    ///
    /// As for [`Table::run`].
    unsafe fn call(job: NonNull<Header>) -> thread::Result<T> {
        // SAFETY: the slot is the caller's and holds the closure, which is moved out, once: the caller leaves the
        // waiting phase behind, in which alone this is called.
        let work =
            unsafe { Self::slot(job).with_mut(|slot| ManuallyDrop::take(&mut (*slot).work)) };
        // SAFETY: the caller holds the job.
        let header = unsafe { job.as_ref() };
        // Whoever waits looks at this line all the time: nothing is written there that nobody reads.
        let note = |when: &AtomicU64| match header.lesson.now() {
            0 => {}
            now => when.store(now, Ordering::Relaxed),
        };
        note(&header.started);
        // Captures are dropped in here too.
        let outcome = catch_unwind(AssertUnwindSafe(work));
        note(&header.ended);
        if outcome.is_err() {
            header.panicked.store(true, Ordering::Relaxed);
        }
        outcome
    }

    unsafe fn run(job: NonNull<Header>) -> bool {
        // SAFETY: as demanded of the caller.
        let outcome = unsafe { Self::call(job) };
        let is_ok = outcome.is_ok();
        let outcome = ManuallyDrop::new(outcome);
        // SAFETY: the slot is the caller's; it holds nothing that would need to be dropped.
        unsafe { Self::slot(job).with_mut(|slot| slot.write(Slot { outcome })) };
        is_ok
    }

    unsafe fn run_out(job: NonNull<Header>, place: *mut ()) {
        // SAFETY: as demanded of the caller; the place is one for this type.
        unsafe { place.cast::<thread::Result<T>>().write(Self::call(job)) };
    }

    unsafe fn take(job: NonNull<Header>, place: *mut ()) {
        // SAFETY: the slot is the caller's and holds the outcome, which the caller does not take again; the place is
        // one for this type.
        unsafe {
            let outcome = Self::slot(job).with_mut(|slot| ManuallyDrop::take(&mut (*slot).outcome));
            place.cast::<thread::Result<T>>().write(outcome);
        }
    }

    unsafe fn take_panic(job: NonNull<Header>) -> Option<Payload> {
        // SAFETY: as for `take`.
        let outcome =
            unsafe { Self::slot(job).with_mut(|slot| ManuallyDrop::take(&mut (*slot).outcome)) };
        match outcome {
            Ok(value) => {
                drop_quietly(value);
                None
            }
            Err(payload) => Some(payload),
        }
    }

    unsafe fn free(job: NonNull<Header>) {
        // SAFETY: the caller is the last to hold the job.
        unsafe { job.as_ref() }.memory.ends();
        // SAFETY: `allocate` made a box of it, and the caller is the last to hold it. The slot's fields are not
        // dropped with it; they are gone already.
        drop(unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) });
    }
}

/// Makes a job: what is to stand in a queue, and the claim to its outcome.
///
/// # Safety
///
/// The closure and its outcome may outlive what they borrow only if the job is run before, and its claim used up
/// before: with `'static` types always, with others if the scope sees to the former and the type of the claim to the
/// latter. The scope outlives the job's running.
pub(super) unsafe fn make<F, T>(work: F, circumstances: Circumstances) -> (Job, Claim<T>)
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let word = Word::waiting(circumstances.scope.is_some());
    let slot = Slot { work: ManuallyDrop::new(work) };
    let job = Cell::<F, T>::allocate(word, circumstances, slot);
    (Job(job), Claim { job, outcome: PhantomData })
}

/// Makes a job of a scope that has panicked when it was to be submitted: for the scope, and the claim.
pub(super) fn make_panicked<T: Send>(
    payload: Payload,
    circumstances: Circumstances,
) -> (Job, Claim<T>) {
    let word = Word::done_in_scope();
    let slot = Slot { outcome: ManuallyDrop::new(Err(payload)) };
    let job = Cell::<fn() -> T, T>::allocate(word, circumstances, slot);
    let panicked = Job(job);
    panicked.header().panicked.store(true, Ordering::Relaxed);
    (panicked, Claim { job, outcome: PhantomData })
}

/// A job as whoever may run it has it.
///
/// It has no `Drop`: who lets a job go says as which holder.
#[derive(Debug)]
pub(super) struct Job(NonNull<Header>);

// SAFETY: a job's closure and outcome are `Send`, the header is made of atomics, of what the word hands from thread to
// thread, and of a scope that is `Sync`.
unsafe impl Send for Job {}

impl Job {
    fn header(&self) -> &Header {
        // SAFETY: who has a `Job` holds its memory, as one of the holders.
        unsafe { self.0.as_ref() }
    }

    /// The job as an address, and back; a mailbox keeps it so.
    pub(super) fn into_raw(self) -> *mut Header {
        self.0.as_ptr()
    }

    /// # Safety
    ///
    /// The pointer came from [`into_raw`](Self::into_raw), and comes back once.
    pub(super) unsafe fn from_raw(raw: *mut Header) -> Self {
        // SAFETY: it came from a `NonNull`.
        Self(unsafe { NonNull::new_unchecked(raw) })
    }

    /// A second name of the job, for the list of its scope, which holds it too, and for the scope's owner, as long as the
    /// job is on the list.
    pub(super) fn for_scope(&self) -> Self {
        debug_assert!(self.header().scope.is_some(), "the scope does not hold the job");
        Self(self.0)
    }

    /// Whether both are names of one job.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// The domain that the job belongs near to.
    pub(super) fn domain(&self) -> Option<usize> {
        self.header().domain
    }

    /// Whether nobody has begun the job.
    pub(super) fn is_waiting(&self) -> bool {
        self.header().word.phase() == Phase::Waiting
    }

    /// Whether the job has ended, and its outcome is taken.
    pub(super) fn is_over(&self) -> bool {
        self.header().word.phase() == Phase::Empty
    }

    /// Runs a job that was taken from a queue, or lets it go if somebody has begun it; gives back whether it ran.
    pub(super) fn run(self) -> bool {
        self.run_with(None)
    }

    /// As [`run`](Self::run); the worker goes on call before it tells that the job has ended, so that whoever has waited
    /// finds it there at once. It must withdraw before it does anything else but to look for work.
    pub(super) fn run_on_call(self, mailbox: &Mailbox, give_back: &dyn Fn(Self)) -> bool {
        self.run_with(Some(OnCall { mailbox, give_back }))
    }

    fn run_with(self, on_call: Option<OnCall<'_>>) -> bool {
        let header = self.header();
        if !header.word.start() {
            header.memory.used();
            if header.word.let_go(Holder::Queue) {
                // SAFETY: nobody else holds the job; whoever began it has emptied the slot.
                unsafe { (header.table.free)(self.0) };
            }
            return false;
        }
        self.run_started(Holder::Queue, on_call);
        true
    }

    /// Runs a job of the scope's list in place, unless somebody has begun it. The scope holds it on: the job must stay
    /// on the list until this returns.
    pub(super) fn run_for_scope(&self) -> bool {
        self.header().memory.used();
        let starts = self.header().word.start();
        if starts {
            self.run_started(Holder::Scope, None);
        }
        starts
    }

    fn run_started(&self, holder: Holder, on_call: Option<OnCall<'_>>) {
        let Self(job) = *self;
        let (header, scope) = (self.header(), self.header().scope);
        let (table, word) = (header.table, &header.word);
        // SAFETY: `start` has made the slot this thread's, and it holds the closure.
        let is_ok = unsafe { (table.run)(job) };
        if is_ok {
            header.lesson.ran_elsewhere(header.time());
        }
        header.memory.used();
        // Nobody waits for a job without a handle.
        let on_call = on_call.filter(|_| word.has_handle());
        if let Some(on_call) = &on_call {
            on_call.mailbox.go_on_call();
        }
        let ended = word.end(holder);
        if let Some(on_call) = on_call
            && matches!(ended, Ended::Wake(Waiter::Task) | Ended::Unheld)
        {
            // What comes now may be code of others: a waker, or the drop of an outcome.
            on_call.withdraw();
        }
        let last = match ended {
            Ended::Handed => false,
            Ended::Wake(waiter) => {
                self.wake(waiter);
                header.memory.used();
                holder == Holder::Queue && word.let_go(Holder::Queue)
            }
            Ended::Unheld => {
                if is_ok {
                    header.lesson.offloaded(header.submitting.load(Ordering::Relaxed));
                }
                let phase = if is_ok || scope.is_none() {
                    // SAFETY: the slot is this thread's still, and holds the outcome.
                    if let Some(payload) = unsafe { (table.take_panic)(job) } {
                        drop_quietly(payload);
                    }
                    Phase::Empty
                } else {
                    Phase::Done
                };
                match holder {
                    Holder::Queue => word.close(phase, holder),
                    _ => {
                        word.settle(phase);
                        false
                    }
                }
            }
        };
        if last {
            // SAFETY: nobody else holds the job, and its slot is empty: a handle that let go has taken the outcome, and
            // without one it was taken above. With a scope this is never the last, unless the scope is over.
            unsafe { (table.free)(job) };
        }
        if let Some(scope) = scope {
            // SAFETY: the job is of that scope, was begun once, and has ended.
            unsafe { ScopeCore::job_ended(scope) }
        }
    }

    fn wake(&self, waiter: Waiter) {
        let header = self.header();
        match waiter {
            Waiter::Thread => header.bell.ring(),
            Waiter::Task => {
                // SAFETY: the word said that a task waits when the job was done, so the waker is the runner's.
                let waker = unsafe { header.waker.with_mut(|waker| (*waker).take()) };
                // Wakers are code of executors; what they do wrong is not the worker's to suffer.
                let wake = || waker.map(Waker::wake);
                if let Err(payload) = catch_unwind(AssertUnwindSafe(wake)) {
                    drop_quietly(payload);
                }
            }
        }
    }

    /// The scope, whose jobs have all ended, lets the job go; gives back a panic that nobody else can claim.
    pub(super) fn leave_scope(self) -> Option<Payload> {
        let Header { word, table, .. } = self.header();
        let (last, panic) = match word.leave_scope() {
            Scoped::Left => (false, None),
            Scoped::Last => (true, None),
            Scoped::Unclaimed => {
                // SAFETY: the word says that the outcome is the scope's.
                let panic = unsafe { (table.take_panic)(self.0) };
                (word.close(Phase::Empty, Holder::Scope), panic)
            }
        };
        if last {
            // SAFETY: nobody else holds the job, and its slot is empty.
            unsafe { (table.free)(self.0) };
        }
        panic
    }
}

/// A worker that is to go on call.
struct OnCall<'a> {
    mailbox: &'a Mailbox,
    /// Puts a job where others find it.
    give_back: &'a dyn Fn(Job),
}

impl OnCall<'_> {
    /// A job that it was given meanwhile may wait for what comes now, or be waited for: others get it.
    #[cold]
    fn withdraw(self) {
        if let Some(job) = self.mailbox.withdraw() {
            (self.give_back)(job);
        }
    }
}

impl Header {
    /// How long the job has run, in ticks, at least 1.
    fn time(&self) -> u64 {
        let (started, ended) = self.times();
        ended.saturating_sub(started).max(1)
    }

    fn times(&self) -> (u64, u64) {
        (self.started.load(Ordering::Relaxed), self.ended.load(Ordering::Relaxed))
    }
}
