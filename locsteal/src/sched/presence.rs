//! Who is at a seat, as one word: the loop it speaks of, and the seat's phase in that loop.
//!
//! The word is never reset between loops: a word that speaks of an earlier loop means "not begun", so a launch writes
//! nothing per seat. All that must be decided once (does the owner begin this block, or does another rescue it; does a
//! late owner still come in, or has the caller closed the loop) is decided by a compare-exchange on this word.

use crate::sync::{AtomicU64, Ordering};

/// Where a seat stands in the loop that its word speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// The owner has claimed its block and is about to publish it.
    Begun,
    /// The owner is inside the loop.
    Present,
    /// Another participant has claimed the block and is about to publish what it does not run at once.
    Taken,
    /// The block was begun by another; the owner may still come in.
    Rescued,
    /// The owner was inside and has left for good.
    Left,
    /// Nobody can come in any more.
    Shut,
}

/// A value of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    const PHASE_BITS: u32 = 4;
    /// Set by the caller when it sleeps until this seat's owner leaves.
    const AWAITED: u64 = 1 << 3;

    const fn new(generation: u64, phase: Phase) -> Self {
        Self(generation << Self::PHASE_BITS | phase as u64)
    }

    /// The phase in the loop `generation`, `None` if nobody has begun there.
    #[inline]
    pub(crate) const fn phase(self, generation: u64) -> Option<Phase> {
        if self.0 >> Self::PHASE_BITS != generation {
            return None;
        }
        Some(match self.0 & 7 {
            0 => Phase::Begun,
            1 => Phase::Present,
            2 => Phase::Taken,
            3 => Phase::Rescued,
            4 => Phase::Left,
            _ => Phase::Shut,
        })
    }
}

/// The word.
#[derive(Debug)]
pub(crate) struct Presence(AtomicU64);

impl Presence {
    /// Generations are below this one.
    pub(crate) const GENERATIONS: u64 = 1 << (64 - Stamp::PHASE_BITS);

    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Stamp::new(0, Phase::Shut).0))
    }

    /// Acquire: pairs with the release of [`leave`](Self::leave), so that who sees a seat left sees all that its owner
    /// did; and with [`publish`](Self::publish), so that who sees a block published sees the word of that block.
    #[inline]
    pub(crate) fn read(&self) -> Stamp {
        Stamp(self.0.load(Ordering::Acquire))
    }

    /// Moves the word from what was read to `phase` of loop `generation`; false if somebody was faster.
    ///
    /// Release: a rescuer or late owner that sees the new phase sees what came before it. Acquire: pairs with
    /// [`publish`](Self::publish) of a rescuer, for the late owner that goes on with the block.
    #[inline]
    pub(crate) fn claim(&self, seen: Stamp, generation: u64, phase: Phase) -> bool {
        let new = Stamp::new(generation, phase);
        self.0.compare_exchange(seen.0, new.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Goes on to `phase` when the one who calls has claimed the word and nobody else may move it: from `Begun` and
    /// from `Taken`, and for the caller's own seat before the loop is open.
    ///
    /// Release: pairs with the acquire of [`read`](Self::read): the block was set before.
    #[inline]
    pub(crate) fn publish(&self, generation: u64, phase: Phase) {
        self.0.store(Stamp::new(generation, phase).0, Ordering::Release);
    }

    /// The owner leaves; true if the caller sleeps until then and must be woken.
    ///
    /// Release: pairs with [`read`](Self::read) by the caller, who takes all that the owner did from here.
    #[inline]
    pub(crate) fn leave(&self, generation: u64) -> bool {
        let was = self.0.swap(Stamp::new(generation, Phase::Left).0, Ordering::AcqRel);
        was & Stamp::AWAITED != 0
    }

    /// Asks the owner to wake the caller when it leaves; false if it is not there (any more).
    pub(crate) fn await_leave(&self, generation: u64) -> bool {
        let present = Stamp::new(generation, Phase::Present).0;
        match self.0.compare_exchange(
            present,
            present | Stamp::AWAITED,
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            Ok(_) => true,
            Err(now) => now == present | Stamp::AWAITED,
        }
    }
}
