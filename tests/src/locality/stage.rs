//! A loop whose participants stop and go as they are told, so that what each of them does next has one possible outcome.
//!
//! Every participant stops in the first chunk that it takes, until all have: so each has begun the block of its own seat,
//! and the rest of all blocks lies open to thieves. From there a director lets one of them go on, as far as it says.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use locsteal::{Locality, Pool, Schedule};

use super::kernel::current_cpu;

/// A chunk of the loop's iterations.
pub(crate) type Chunk = Range<usize>;

/// A loop of so many iterations a seat, at each of a pool's seats.
pub(crate) struct Stage<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) block: usize,
    pub(crate) grain: usize,
    pub(crate) locality: Locality,
    /// How long each chunk takes at least. Where all that is left would take next to no time, it becomes one chunk;
    /// this prevents it.
    pub(crate) linger: Duration,
}

/// What has happened.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Each chunk and the seat of who took it, in the order in which they were begun.
    pub(crate) chunks: Vec<(usize, Chunk)>,
    /// Where each seat's participant was running when it began.
    pub(crate) began_on: BTreeMap<usize, usize>,
    /// The seat of the thread that launched the loop.
    pub(crate) caller: usize,
}

/// Whether a participant that has come to this chunk stops there.
type Stops = Box<dyn Fn(&Chunk) -> bool + Send>;

#[derive(Default)]
struct State {
    record: Record,
    seats: Vec<(ThreadId, usize)>,
    /// Who may run on, and up to where; who is not here stays where it is.
    going: BTreeMap<usize, Stops>,
    stopped: BTreeMap<usize, Chunk>,
    /// Iterations in chunks that have been begun.
    taken: usize,
}

/// Tells participants how far to go.
pub(crate) struct Director<'a> {
    width: usize,
    len: usize,
    state: Mutex<State>,
    /// Somebody has stopped, or everything is taken.
    changed: Condvar,
    /// A seat's participant may go on.
    told: Vec<Condvar>,
    stage: &'a Stage<'a>,
    caller: ThreadId,
}

impl Stage<'_> {
    /// The number of iterations.
    pub(crate) fn len(&self) -> usize {
        self.block * self.pool.threads()
    }

    /// Runs the loop on the calling thread and the pool, and `direct` on a thread of its own, once every participant has
    /// stopped in its first chunk. When that returns, all are let go.
    pub(crate) fn run(&self, direct: impl FnOnce(&Director<'_>) + Send) -> Record {
        let director = Director {
            width: self.pool.threads(),
            len: self.len(),
            state: Mutex::default(),
            changed: Condvar::new(),
            told: (0..self.pool.threads()).map(|_| Condvar::new()).collect(),
            stage: self,
            caller: thread::current().id(),
        };
        thread::scope(|scope| {
            let directing = scope.spawn(|| {
                drop(director.wait(|state| state.stopped.len() == director.width));
                let directed = catch_unwind(AssertUnwindSafe(|| direct(&director)));
                // Whatever has gone wrong, the loop must end.
                for seat in 0..director.width {
                    director.go(seat, |_| false);
                }
                directed.unwrap_or_else(|panic| resume_unwind(panic));
            });
            locsteal::range(0..self.len())
                .pool(self.pool)
                .schedule(Schedule::Steal)
                .locality(self.locality)
                .grain(self.grain)
                .for_each_chunk(|chunk| director.take(&chunk));
            directing.join().unwrap_or_else(|panic| resume_unwind(panic));
        });
        let record = director.state.into_inner().unwrap_or_else(PoisonError::into_inner).record;
        record.check(self.len());
        record
    }

    /// The seat whose block holds an iteration: the first seat has the last block.
    pub(crate) fn home(&self, iteration: usize) -> usize {
        home(iteration / self.block, self.pool.threads())
    }

    /// Where the block of a seat ends.
    pub(crate) fn end(&self, seat: usize) -> usize {
        (self.pool.threads() - seat) * self.block
    }
}

/// The seat that has the block with this number from the front, in a loop of so many seats.
pub(crate) fn home(block: usize, width: usize) -> usize {
    width - 1 - block
}

impl Record {
    /// Every iteration was in one chunk.
    fn check(&self, len: usize) {
        let mut chunks: Vec<&Chunk> = self.chunks.iter().map(|(_, chunk)| chunk).collect();
        chunks.sort_by_key(|chunk| chunk.start);
        let end = chunks.iter().fold(0, |end, chunk| {
            assert_eq!(chunk.start, end, "an iteration is in no chunk or in two: {chunks:?}");
            chunk.end
        });
        assert_eq!(end, len, "the last iterations are in no chunk");
    }

    /// The chunks that the participant of a seat took.
    pub(crate) fn of(&self, seat: usize) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().filter(move |(by, _)| *by == seat).map(|(_, chunk)| chunk)
    }
}

impl Director<'_> {
    /// Lets a seat's participant go on until it begins a chunk for which `stops` holds.
    pub(crate) fn go(&self, seat: usize, stops: impl Fn(&Chunk) -> bool + Send + 'static) {
        let mut state = self.lock();
        state.stopped.remove(&seat);
        state.going.insert(seat, Box::new(stops));
        drop(state);
        self.told[seat].notify_one();
    }

    /// Lets a seat's participant go on until it begins such a chunk; gives back the chunk.
    pub(crate) fn go_to(
        &self,
        seat: usize,
        stops: impl Fn(&Chunk) -> bool + Send + 'static,
    ) -> Chunk {
        self.go(seat, stops);
        self.wait(|state| state.stopped.contains_key(&seat)).stopped[&seat].clone()
    }

    /// Waits until every iteration is in a chunk that has been begun.
    pub(crate) fn until_all_are_taken(&self) {
        drop(self.wait(|state| state.taken == self.len));
    }

    /// Comes to the start of a chunk, on the thread that took it.
    fn take(&self, chunk: &Chunk) {
        let begun = Instant::now();
        let (mut state, thread) = (self.lock(), thread::current().id());
        let known = state.seats.iter().find(|(other, _)| *other == thread).map(|(_, seat)| *seat);
        let seat = known.unwrap_or_else(|| {
            let seat = self.stage.home(chunk.start);
            state.seats.push((thread, seat));
            state.record.began_on.insert(seat, current_cpu());
            if thread == self.caller {
                state.record.caller = seat;
            }
            seat
        });
        state.taken += chunk.len();
        state.record.chunks.push((seat, chunk.clone()));
        if known.is_none() || state.going.get(&seat).is_none_or(|stops| stops(chunk)) {
            state.going.remove(&seat);
            state.stopped.insert(seat, chunk.clone());
            self.changed.notify_one();
            let stays = |state: &mut State| !state.going.contains_key(&seat);
            drop(self.told[seat].wait_while(state, stays).unwrap_or_else(PoisonError::into_inner));
        } else {
            let all = state.taken == self.len;
            drop(state);
            if all {
                self.changed.notify_one();
            }
        }
        while begun.elapsed() < self.stage.linger {
            std::hint::spin_loop();
        }
    }

    fn wait(&self, met: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let unmet = |state: &mut State| !met(state);
        self.changed.wait_while(self.lock(), unmet).unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
