//! Sleeping and waking: one bit says that a worker sleeps, one bell wakes it.
//!
//! A worker goes to sleep in three steps: it announces itself (sets its bit), looks once more at everything it waits
//! for, and only then waits for its bell. Who makes work publishes it first and looks at the bits afterwards. Between
//! the two steps of either side stands a sequentially consistent fence, so at least one side sees the other: the
//! worker sees the work and retracts, or the publisher sees the bit and rings. Who clears the bit (the waker or the
//! retracting worker) owns the wake-up, so a bell rings at most once for each sleep.

use crossbeam_utils::CachePadded;

use crate::sync::{
    AtomicU64, Condvar, Mutex, MutexGuard, Ordering, each_alone_on_its_lines, fence,
};

/// Wakes one thread, which may come to wait before or after the ring.
#[derive(Debug)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self { rung: Mutex::new(false), changed: Condvar::new() }
    }

    pub(crate) fn ring(&self) {
        *lock(&self.rung) = true;
        self.changed.notify_one();
    }

    /// Waits for a ring and takes it.
    pub(crate) fn wait(&self) {
        let mut rung = lock(&self.rung);
        while !*rung {
            rung = self.changed.wait(rung).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        *rung = false;
    }
}

/// No code of users runs under these locks, so a poisoned one is as good as any.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// How many words of bits stand together: a cache line of them.
const WORDS: usize = 8;

/// Which seats' workers sleep.
#[derive(Debug)]
pub(crate) struct Sleepers {
    /// A bit a seat. Groups of words, since who launches a loop looks at all of them, and a sleeping worker's is seldom
    /// written; but nothing else stands on their lines.
    bits: Box<[CachePadded<[AtomicU64; WORDS]>]>,
    bells: Box<[CachePadded<Bell>]>,
}

each_alone_on_its_lines!(Sleepers: bits, bells);

impl Sleepers {
    pub(crate) fn new(seats: usize) -> Self {
        Self {
            bits: (0..seats.div_ceil(64 * WORDS)).map(|_| CachePadded::default()).collect(),
            bells: (0..seats).map(|_| CachePadded::new(Bell::new())).collect(),
        }
    }

    /// First step: says that the worker of `seat` is about to sleep. What it waits for must be looked at after this.
    pub(crate) fn announce(&self, seat: usize) {
        self.word(seat).fetch_or(1 << (seat % 64), Ordering::Relaxed);
        // Pairs with the fence in `published`.
        fence(Ordering::SeqCst);
    }

    /// Instead of sleeping: takes the announcement back.
    pub(crate) fn retract(&self, seat: usize) {
        if !self.clear_bit(seat) {
            // A waker was faster; its ring is not meant for the next sleep.
            self.bells[seat].wait();
        }
    }

    /// Last step: sleeps until woken.
    pub(crate) fn sleep(&self, seat: usize) {
        self.bells[seat].wait();
        // Set still if the ring was a parting one.
        self.clear_bit(seat);
    }

    /// The worker of `seat` ends. While it does, one of a later crew may be at the seat already, and the two share a bit
    /// and a bell: the one may have cleared the other's bit, or taken its ring. So whoever sleeps there is woken, to
    /// look once more.
    pub(crate) fn part(&self, seat: usize) {
        self.bells[seat].ring();
    }

    /// To be called between publishing work and looking for sleepers.
    pub(crate) fn published(&self) {
        // Pairs with the fence in `announce`.
        fence(Ordering::SeqCst);
    }

    /// Whether any worker of the seats below `width` sleeps, other than that of `seat`.
    pub(crate) fn any_below(&self, width: usize, seat: usize) -> bool {
        (0..width.div_ceil(64)).any(|index| {
            let first = index * 64;
            let mut mask = if width - first >= 64 { u64::MAX } else { (1 << (width - first)) - 1 };
            if seat / 64 == index {
                mask &= !(1 << (seat % 64));
            }
            self.word(first).load(Ordering::Relaxed) & mask != 0
        })
    }

    /// Whether the worker of `seat` sleeps, or is about to.
    pub(crate) fn is_asleep(&self, seat: usize) -> bool {
        self.word(seat).load(Ordering::Relaxed) & 1 << (seat % 64) != 0
    }

    /// Wakes the worker of `seat` if it sleeps; gives back whether it did.
    pub(crate) fn wake(&self, seat: usize) -> bool {
        let bit = 1 << (seat % 64);
        if self.word(seat).load(Ordering::Relaxed) & bit == 0 || !self.clear_bit(seat) {
            return false;
        }
        self.bells[seat].ring();
        true
    }

    /// Where what is, in words, for who counts accesses.
    #[cfg(feature = "simulator")]
    pub(crate) fn parts(&self, parts: &mut crate::sync::counted::Parts) {
        self.bits.iter().for_each(|words| parts.add("sleepers' bits", &**words));
        for (seat, bell) in self.bells.iter().enumerate() {
            parts.add(format!("seat {seat}: bell"), &**bell);
        }
    }

    fn word(&self, seat: usize) -> &AtomicU64 {
        &self.bits[seat / (64 * WORDS)][seat / 64 % WORDS]
    }

    fn clear_bit(&self, seat: usize) -> bool {
        let bit = 1 << (seat % 64);
        self.word(seat).fetch_and(!bit, Ordering::Relaxed) & bit != 0
    }
}
