//! The threads of a pool: starting them, taking them into service, and ending them.
//!
//! A crew is *mustered* when the pool is made: its threads are started and put in their places, and each says what mask
//! it had then. It is *engaged* by whoever launches the first loop, or submits the first job, on the pool: its masks are
//! read once more, and who was given another one meanwhile, by the program's start handler or by its number, is taken to
//! be there. From then on the width is known, and no launch asks again.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::{io, mem};

use super::fork;
use super::seats::Arrangement;
use super::shared::Shared;
use super::worker::work;
use crate::affinity::mask::ThreadNumber;
use crate::affinity::{Home, guard_pin, mask, unpinned};
use crate::topology::CpuSet;

thread_local! {
    /// Keeps a worker's pool in memory, by whose address the thread is known to be its worker, until the thread's other
    /// destructors have run. Else one of them could make another pool at the same address, as whose worker it would pass.
    ///
    /// A thread's destructors run in the opposite order of their making, and this one is made before any code of others runs. Should
    /// they run in another order somewhere, it is as if this were not here.
    static KEPT: OnceCell<Arc<Shared>> = const { OnceCell::new() };
}

/// What each worker does before it looks for work, given its seat.
pub(crate) type StartHandler = Arc<dyn Fn(usize) + Send + Sync>;

pub(crate) struct Crew {
    name: String,
    start: Option<StartHandler>,
    /// What the thread that made the pool could run on: what workers start from, also where a thread that cannot run on
    /// all of it starts them anew.
    free: Option<CpuSet>,
    /// The workers. Locked while they are started, and while they are waited for: workers must not wait for it.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Who was mustered. Never locked while anybody is waited for.
    roll: Mutex<Roll>,
    /// How wide a loop can be with the workers that were mustered, 1 if none could be; 0: no crew is there.
    mustered: AtomicUsize,
    /// In which of the processes that came of forks the pool was made.
    process: fork::Process,
}

/// The workers of one crew.
#[derive(Debug, Default)]
struct Roll {
    /// Which crew; `None`: none was ever mustered.
    crew: Option<u64>,
    workers: Vec<Recruit>,
    /// What kept workers from being started or placed, in words.
    problems: Vec<String>,
}

/// A worker that has been started.
#[derive(Debug)]
struct Recruit {
    seat: usize,
    thread: Option<ThreadNumber>,
    /// Its mask when it was in place, before anybody else could change it.
    mask: Option<CpuSet>,
    /// Why it is not where it should be.
    unplaced: Option<io::Error>,
    /// What the start handler panicked with.
    panicked: Option<String>,
}

impl Recruit {
    /// The calling thread, a worker, once it is where it should be or cannot be.
    fn placed(seat: usize, placed: io::Result<()>) -> Self {
        let (thread, mask) = (mask::own_thread(), mask::current().ok());
        Self { seat, thread, mask, unplaced: placed.err(), panicked: None }
    }

    /// Its mask if it is not the one that it was given, which is `None` if it is not known.
    fn moved(&self) -> Option<(usize, Option<CpuSet>)> {
        let now = self.thread.and_then(|thread| mask::of_thread(thread).ok());
        match (&self.mask, now) {
            (Some(given), Some(now)) if now != *given => Some((self.seat, Some(now))),
            _ => self.unplaced.is_some().then_some((self.seat, None)),
        }
    }
}

impl Roll {
    /// Whose mask is not the one that it was given.
    fn moved(&self) -> Vec<(usize, Option<CpuSet>)> {
        self.workers.iter().filter_map(Recruit::moved).collect()
    }
}

impl Crew {
    pub(crate) fn new(name: String, start: Option<StartHandler>) -> Self {
        Self {
            name,
            start,
            free: mask::current().ok(),
            threads: Mutex::default(),
            roll: Mutex::default(),
            mustered: AtomicUsize::new(0),
            process: fork::Process::this(),
        }
    }

    /// Whether the pool was made in this process, and not in one that it was forked from.
    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        self.process.is_this()
    }

    /// How wide a loop can be with the workers that there are, in service or not; 0: no crew is there.
    pub(crate) fn mustered(&self) -> usize {
        self.mustered.load(Ordering::Relaxed)
    }

    /// Takes the crew into service, which is started if it is not there. If another thread is starting or ending it, the
    /// caller goes on without.
    pub(crate) fn engage(&self, shared: &Arc<Shared>) {
        // A pool of one needs no worker. In the child of a fork, locks may be held by threads that are not there. A
        // worker that launches a loop while its crew is being dismissed must not start another one.
        if shared.seats.count() == 1 || !self.is_here() || shared.own_seat().is_some() {
            return;
        }
        self.muster(shared);
        let roll = lock(&self.roll);
        if let Some(crew) = roll.crew.filter(|crew| *crew == shared.crew())
            && shared.width() == 0
        {
            shared.seats.arrange(&roll.moved());
            shared.engage(crew, roll.workers.len().max(1));
        }
    }

    /// Starts the workers, as many as can be had, unless they are there. If another thread is starting or ending them,
    /// the caller goes on without.
    pub(crate) fn muster(&self, shared: &Arc<Shared>) {
        if shared.seats.count() == 1 || lock(&self.roll).crew == Some(shared.crew()) {
            return;
        }
        let mut threads = match self.threads.try_lock() {
            Ok(threads) => threads,
            Err(TryLockError::Poisoned(threads)) => threads.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let crew = shared.crew();
        if lock(&self.roll).crew == Some(crew) {
            return;
        }
        let mut problems = Vec::new();
        let (started, reports) = mpsc::channel();
        for seat in 0..shared.seats.count() {
            match self.start(shared, seat, crew, started.clone()) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    problems.push(format!(
                        "only {seat} of {} threads could be started: {error}",
                        shared.seats.count()
                    ));
                    break;
                }
            }
        }
        drop(started);
        let workers: Vec<Recruit> = reports.into_iter().collect();
        let by_reason = |reason: &dyn Fn(&Recruit) -> Option<String>| {
            let mut seats: BTreeMap<String, CpuSet> = BTreeMap::new();
            for worker in &workers {
                if let Some(reason) = reason(worker) {
                    seats.entry(reason).or_default().insert(worker.seat);
                }
            }
            seats
        };
        let unplaced = by_reason(&|worker| worker.unplaced.as_ref().map(ToString::to_string));
        problems.extend(unplaced.into_iter().map(|(error, seats)| {
            format!("the workers of seats {seats} could not be confined to their CPUs: {error}")
        }));
        let panicked = by_reason(&|worker| worker.panicked.clone());
        problems.extend(panicked.into_iter().map(|(message, seats)| {
            format!("the start handler panicked on the workers of seats {seats}, which work nevertheless: {message}")
        }));
        self.mustered.store(workers.len().max(1), Ordering::Relaxed);
        *lock(&self.roll) = Roll { crew: Some(crew), workers, problems };
    }

    fn start(
        &self,
        shared: &Arc<Shared>,
        seat: usize,
        crew: u64,
        started: mpsc::Sender<Recruit>,
    ) -> io::Result<JoinHandle<()>> {
        let (shared, free, handler) = (Arc::clone(shared), self.free.clone(), self.start.clone());
        let thread = thread::Builder::new().name(format!("{}-{seat}", self.name));
        // Workers inherit the mask of the thread that starts them, which may be pinned for the time of a job.
        let start = move || {
            KEPT.with(|kept| kept.set(Arc::clone(&shared))).expect("the thread is new");
            // Before code of users, which may end the crew: it must not wait for itself.
            shared.take_place(seat);
            let placed = put_in_place(shared.seats.home(seat), free.as_ref());
            let mut recruit = Recruit::placed(seat, placed);
            if let Some(handler) = handler {
                // The worker is needed all the same; the panic has been printed where it happened.
                let run = catch_unwind(AssertUnwindSafe(|| handler(seat)));
                recruit.panicked = run.err().map(message_of);
            }
            // Somebody is listening, until every worker has dropped its end.
            let _ = started.send(recruit);
            drop(started);
            work(&shared, seat, crew);
        };
        unpinned(|| thread.spawn(start))
    }

    /// Ends the workers; waits for them unless called by one of them.
    pub(crate) fn dismiss(&self, shared: &Shared) {
        if !self.is_here() {
            return;
        }
        if shared.own_seat().is_some() {
            // Whoever holds the lock may be waiting for this very thread; then the crew is being dismissed anyway.
            self.mustered.store(0, Ordering::Relaxed);
            shared.dismiss();
            return;
        }
        let mut threads = lock(&self.threads);
        self.mustered.store(0, Ordering::Relaxed);
        shared.dismiss();
        for thread in threads.drain(..) {
            // A worker that panicked has said so itself.
            let _ = thread.join();
        }
    }

    /// Where the workers of a crew are that is not in service yet, if not where they should be.
    pub(crate) fn ahead(&self, shared: &Shared) -> Option<Arrangement> {
        if !self.is_here() || shared.width() != 0 {
            return None;
        }
        let roll = lock(&self.roll);
        (roll.crew == Some(shared.crew())).then(|| shared.seats.rearranged(&roll.moved()))
    }

    /// What kept workers from being started or placed, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        if self.is_here() {
            lock(&self.roll).problems.clone()
        } else {
            vec!["this process is the child of a fork, and threads stay with the parent".into()]
        }
    }
}

/// What a panic says, if it is words.
fn message_of(payload: Box<dyn Any + Send>) -> String {
    let message = match payload.downcast_ref::<&str>() {
        Some(text) => Some((*text).to_owned()),
        None => payload.downcast_ref::<String>().cloned(),
    };
    // Its drop could panic as well.
    mem::forget(payload);
    message.unwrap_or_else(|| "its payload is no text".into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the calling thread, a worker, the mask that it is to have.
fn put_in_place(home: &Home, free: Option<&CpuSet>) -> io::Result<()> {
    let freed = match free {
        // Not where it has it anyway: a mask that a thread asked for keeps it from CPUs that the process gains later.
        Some(free) if mask::current().is_ok_and(|now| now != *free) => mask::set(free),
        _ => Ok(()),
    };
    home.mask.as_ref().map_or(freed, guard_pin::settle)
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if !self.is_here() {
            // The threads are the parent's: their handles mean nothing here.
            let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
            threads.drain(..).for_each(mem::forget);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::Pool;

    #[test]
    fn a_start_handler_may_end_the_crew_that_is_being_started() {
        static POOL: OnceLock<Pool> = OnceLock::new();
        let (done, ended) = mpsc::channel();
        thread::spawn(move || {
            let end = |_| {
                if let Some(pool) = POOL.get() {
                    pool.shutdown();
                }
            };
            let pool =
                POOL.get_or_init(|| Pool::builder().threads(2).start_handler(end).build().unwrap());
            pool.shutdown();
            // Starts the next one.
            crate::range(0..100_usize).pool(pool).for_each(drop);
            pool.shutdown();
            done.send(()).unwrap();
        });
        // A handler that waits for itself never lets it come to this.
        ended.recv().expect("nothing panics");
    }
}
