//! The threads of a pool: starting them, and ending them.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};

use super::fork;
use super::shared::Shared;
use super::worker::work;
use crate::affinity::{Home, guard_pin, mask, unpinned};
use crate::topology::CpuSet;

#[derive(Debug)]
pub(crate) struct Crew {
    name: String,
    /// What the thread that made the pool could run on: what workers start from, also where a thread that cannot run on
    /// all of it starts them anew.
    free: Option<CpuSet>,
    /// The workers. Locked while they are started, and while they are waited for: workers must not wait for it.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// What kept workers from being started or placed, in words.
    problems: Mutex<Vec<String>>,
    /// In which of the processes that came of forks the pool was made.
    process: fork::Process,
}

impl Crew {
    pub(crate) fn new(name: String) -> Self {
        let free = mask::current().ok();
        let process = fork::Process::this();
        Self { name, free, threads: Mutex::default(), problems: Mutex::default(), process }
    }

    /// Whether the pool was made in this process, and not in one that it was forked from.
    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        self.process.is_this()
    }

    /// Starts the workers, as many as can be had. If another thread is starting or ending them, the caller goes on
    /// without.
    pub(crate) fn engage(&self, shared: &Arc<Shared>) {
        // A pool of one needs no worker. In the child of a fork, locks may be held by threads that are not there. A
        // worker that launches a loop while its crew is being dismissed must not start another one.
        if shared.seats.count() == 1 || !self.is_here() || shared.own_seat().is_some() {
            return;
        }
        let mut threads = match self.threads.try_lock() {
            Ok(threads) => threads,
            Err(TryLockError::Poisoned(threads)) => threads.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if shared.width() != 0 {
            return;
        }
        let crew = shared.crew();
        let mut problems = Vec::new();
        let (started, reports) = mpsc::channel();
        let mut width = 0;
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
            width += 1;
        }
        drop(started);
        // Ends when every worker has sent its report and dropped its end.
        let mut unplaced: BTreeMap<String, CpuSet> = BTreeMap::new();
        for (seat, error) in reports {
            shared.seats.give_up_places();
            unplaced.entry(error.to_string()).or_default().insert(seat);
        }
        problems.extend(unplaced.into_iter().map(|(error, seats)| {
            format!("the workers of seats {seats} could not be confined to their CPUs: {error}")
        }));
        *lock(&self.problems) = problems;
        shared.engage(crew, width.max(1));
    }

    fn start(
        &self,
        shared: &Arc<Shared>,
        seat: usize,
        crew: u64,
        started: mpsc::Sender<(usize, io::Error)>,
    ) -> io::Result<JoinHandle<()>> {
        let (shared, free) = (Arc::clone(shared), self.free.clone());
        let thread = thread::Builder::new().name(format!("{}-{seat}", self.name));
        // Workers inherit the mask of the thread that starts them, which may be pinned for the time of a job.
        let start = move || {
            if let Err(error) = put_in_place(shared.seats.home(seat), free.as_ref()) {
                // Nobody listening means that the pool is gone already.
                let _ = started.send((seat, error));
            }
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
            shared.dismiss();
            return;
        }
        let mut threads = lock(&self.threads);
        shared.dismiss();
        for thread in threads.drain(..) {
            // A worker that panicked has said so itself.
            let _ = thread.join();
        }
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        if self.is_here() {
            lock(&self.problems).clone()
        } else {
            vec!["this process is the child of a fork, and threads stay with the parent".into()]
        }
    }
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

impl Drop for Crew {
    fn drop(&mut self) {
        if !self.is_here() {
            // The threads are the parent's: their handles mean nothing here.
            let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
            threads.drain(..).for_each(std::mem::forget);
        }
    }
}
