//! A seat's own queue: one thread puts jobs in, any number take them out, first in, first out.
//!
//! Two numbers that only grow say how many jobs were put in and how many were taken out; job `n` stands at place `n`
//! modulo the number of places. A job is put into its place first and counted afterwards. Whoever takes one reads the
//! place of the oldest, and then claims it by a compare-exchange of the number taken. If that succeeds, nobody has taken
//! this job meanwhile, and so nothing else was put into its place: a place is used again only by an entry that has seen
//! its job taken. If it fails, what was read may be anything, and is not used; the places are atomics so that reading it
//! is no data race.
//!
//! A full ring goes on in one of twice as many places, into which the entry copies what stands in the old one. Nothing is
//! written to an old one any more, and it stays until the end: whoever still reads it finds job `n` at place `n` there.
//! Once a ring has grown as large as it may, it takes no more jobs than it has places.
#![allow(unsafe_code, reason = "jobs as pointers")]

use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

use crossbeam_utils::CachePadded;

use super::cell::{Header, Job};
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, alone_on_its_lines};

/// How many places a ring has at first. A power of two, as are all later numbers.
const PLACES: usize = if cfg!(loom) { 1 } else { 64 };
/// How often it grows.
const GROWTHS: usize = if cfg!(loom) { 1 } else { 6 };
/// How many jobs a ring takes at most.
pub(super) const MOST: usize = PLACES << GROWTHS;

/// The end where jobs are taken out.
#[derive(Clone, Debug)]
pub(super) struct Ring(Arc<Core>);

/// The end where jobs are put in. There is one, which whoever puts a job in has for itself.
#[derive(Debug)]
pub(super) struct RingEntry(Arc<Core>);

#[derive(Debug)]
struct Core {
    /// How many jobs were taken out.
    taken: CachePadded<AtomicU64>,
    /// The rest is written by the entry alone.
    put: CachePadded<Put>,
    /// Those that the ring has had so far, each of twice as many places as the one before. A seat whose worker never puts
    /// in a job has none.
    places: CachePadded<[OnceLock<Places>; GROWTHS + 1]>,
}

#[derive(Debug)]
struct Put {
    /// How many jobs were put in.
    count: AtomicU64,
    /// How often the ring has grown.
    growths: AtomicUsize,
}

type Places = Box<[AtomicPtr<Header>]>;

// Takers write one while the entry writes the others.
alone_on_its_lines!(Core: taken, put, places);

/// The two ends of a new ring.
pub(super) fn ring() -> (RingEntry, Ring) {
    let core = Arc::new(Core {
        taken: CachePadded::new(AtomicU64::new(0)),
        put: CachePadded::new(Put { count: AtomicU64::new(0), growths: AtomicUsize::new(0) }),
        places: CachePadded::new([const { OnceLock::new() }; GROWTHS + 1]),
    });
    (RingEntry(Arc::clone(&core)), Ring(core))
}

impl Core {
    /// Those that the ring has once it has grown so often. The entry makes them; whoever takes a job finds them made.
    fn places(&self, growths: usize) -> &Places {
        self.places[growths]
            .get_or_init(|| (0..PLACES << growths).map(|_| AtomicPtr::new(null_mut())).collect())
    }

    fn take(&self) -> Option<Job> {
        let mut taken = self.taken.load(Ordering::Relaxed);
        // Acquire, both: they pair with `RingEntry::put`. The job stands in its place there, and all that its submitter
        // did is seen; or, if the ring has grown since then, what was copied is seen.
        while taken < self.put.count.load(Ordering::Acquire) {
            let places = self.places(self.put.growths.load(Ordering::Acquire));
            let job = place(places, taken).load(Ordering::Relaxed);
            // Release: pairs with `RingEntry::put`; the place was read before it is used again. (The model checker lets no
            // load see what is stored later, so it cannot tell.)
            match self.taken.compare_exchange_weak(
                taken,
                taken + 1,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                // SAFETY: job number `taken` was put in before it was counted, and nothing else into its place since:
                // `put` would have had to see this number taken first. No other exchange succeeds from this number.
                Ok(_) => return Some(unsafe { Job::from_raw(job) }),
                Err(now) => taken = now,
            }
        }
        None
    }
}

fn place(places: &Places, number: u64) -> &AtomicPtr<Header> {
    &places[number as usize & (places.len() - 1)]
}

impl RingEntry {
    /// Puts the job in, unless there are [`MOST`] already.
    pub(super) fn put(&mut self, job: Job) -> Result<(), Job> {
        let Self(core) = self;
        // Relaxed: this is the only writer.
        let put = core.put.count.load(Ordering::Relaxed);
        let mut growths = core.put.growths.load(Ordering::Relaxed);
        // Acquire: pairs with `Core::take`.
        let taken = core.taken.load(Ordering::Acquire);
        if put - taken == (PLACES << growths) as u64 {
            if put - taken == MOST as u64 {
                return Err(job);
            }
            let (old, new) = (core.places(growths), core.places(growths + 1));
            for number in taken..put {
                let job = place(old, number).load(Ordering::Relaxed);
                place(new, number).store(job, Ordering::Relaxed);
            }
            growths += 1;
            // Release: pairs with `Core::take`, which may see this before the new count.
            core.put.growths.store(growths, Ordering::Release);
        }
        place(core.places(growths), put).store(job.into_raw(), Ordering::Relaxed);
        // Release: pairs with `Core::take`.
        core.put.count.store(put + 1, Ordering::Release);
        Ok(())
    }

    /// Takes the oldest job.
    pub(super) fn take(&self) -> Option<Job> {
        self.0.take()
    }

    /// Whether both are ends of one ring.
    pub(super) fn is_of(&self, ring: &Ring) -> bool {
        Arc::ptr_eq(&self.0, &ring.0)
    }

    /// How many jobs stand in the ring, at most: others may be taking some.
    pub(super) fn len(&self) -> usize {
        let Self(core) = self;
        // Relaxed: a guess.
        let put = core.put.count.load(Ordering::Relaxed);
        (put - core.taken.load(Ordering::Relaxed)) as usize
    }
}

impl Ring {
    /// Takes the oldest job.
    pub(super) fn take(&self) -> Option<Job> {
        self.0.take()
    }
}
