//! Launching a loop: a stand-in with the final interface, until the pool is there.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::pool::Pool;
use crate::sched::{Locality, Schedule};

/// What the launcher must know of a loop besides its length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) schedule: Schedule,
    pub(crate) locality: Locality,
    /// Smallest number of iterations worth handing over; 0: the pool chooses.
    pub(crate) grain: u64,
    /// At most this many participants; 0: the pool's width.
    pub(crate) threads: usize,
    /// Chunks begin and end at multiples of this many positions (or at the loop's end); 0 or 1: anywhere.
    pub(crate) unit: u64,
}

/// The longest loop that can be launched at once, in positions.
pub(crate) const MAX_LEN: u64 = 1 << 62;

/// What every participant of a loop does: make private state, take chunks until there are none, hand results over.
/// It is run at most once per participant, on the participant's thread. A panic that leaves it is caught, stops the
/// loop, and is given back in the [`Outcome`].
pub(crate) trait Entry: Sync {
    fn run(&self, participant: &mut Participant<'_>);
}

/// How a launched loop ended.
pub(crate) struct Outcome {
    /// The lowest position given to [`Participant::exit_at`].
    pub(crate) exit: Option<u64>,
    /// The panic with the lowest position that was caught, and that position.
    pub(crate) panic: Option<(u64, Box<dyn Any + Send>)>,
}

/// A thread that works on a loop.
pub(crate) struct Participant<'a> {
    seat: usize,
    shared: &'a Shared,
    at: std::cell::Cell<u64>,
}

struct Shared {
    next: AtomicU64,
    len: u64,
    chunk: u64,
    bound: AtomicU64,
    panic: Mutex<Option<(u64, Box<dyn Any + Send>)>>,
}

impl Participant<'_> {
    /// The next chunk of positions to run, never empty; `None` once the loop holds no more work.
    pub(crate) fn next(&mut self) -> Option<Range<u64>> {
        let lo = self.shared.next.fetch_add(self.shared.chunk, SeqCst);
        let end = self.shared.len.min(self.bound());
        self.at.set(lo);
        (lo < end).then(|| lo..(lo + self.shared.chunk).min(end))
    }

    /// The seat that the participant sits in: below the loop's width, unique within the loop.
    pub(crate) fn seat(&self) -> usize {
        self.seat
    }

    /// Positions at or above this one need not be started any more (`u64::MAX`: none has ended the loop yet).
    /// One relaxed load of a line that is written only when a loop is left early.
    pub(crate) fn bound(&self) -> u64 {
        self.shared.bound.load(SeqCst)
    }

    /// Says that the iteration at `position` left the loop: everything below still runs, nothing above is started.
    pub(crate) fn exit_at(&self, position: u64) {
        self.shared.bound.fetch_min(position, SeqCst);
    }

    /// Says which position was running, from a guard that is dropped while a panic unwinds. Without it a panic counts
    /// as one of the first position of the chunk.
    pub(crate) fn panicked_at(&self, position: u64) {
        self.at.set(position);
    }
}

/// Runs `entry` on the caller and on idle workers of `pool`, over the positions `0..len`, `len <= MAX_LEN`.
/// Returns after every participant has left.
pub(crate) fn launch<E: Entry>(_pool: &Pool, _plan: &Plan, len: u64, entry: &E) -> Outcome {
    let shared = Shared {
        next: AtomicU64::new(0),
        len,
        chunk: (len / 16).max(1),
        bound: AtomicU64::new(u64::MAX),
        panic: Mutex::new(None),
    };
    std::thread::scope(|s| {
        for seat in 0..3 {
            let shared = &shared;
            s.spawn(move || {
                let mut p = Participant { seat, shared, at: std::cell::Cell::new(0) };
                if let Err(e) = catch_unwind(AssertUnwindSafe(|| entry.run(&mut p))) {
                    shared.next.store(len, SeqCst);
                    let mut slot = shared.panic.lock().unwrap();
                    if slot.as_ref().is_none_or(|(at, _)| *at > p.at.get()) {
                        *slot = Some((p.at.get(), e));
                    }
                }
            });
        }
    });
    let exit = Some(shared.bound.into_inner()).filter(|b| *b != u64::MAX);
    Outcome { exit, panic: shared.panic.into_inner().unwrap() }
}
