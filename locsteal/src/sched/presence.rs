//! Who is at a seat, as one word: the loop it speaks of, and the seat's phase in that loop; and whether its owner has left,
//! as another.
//!
//! The word is never reset between loops: a word that speaks of an earlier loop means "not begun", so a launch writes
//! nothing per seat. All that must be decided once (does the owner begin this block, or does another rescue it; does a
//! late owner still come in, or has the caller closed the loop) is decided by a compare-exchange on this word.
//!
//! That the owner has left is said in a line of its own, which is all that the caller reads of a worker that came in time. So
//! the line that it comes in by stays in the worker's cache from loop to loop.

use crate::sync::{AtomicU64, Ordering};

/// Tells the loops apart that use a board one after the other. Counts round after 2^48 loops, which at ten million
/// loops a second is most of a year; for a mistake a thread would have to pause for half of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generation(u64);

impl Generation {
    pub(crate) const BITS: u32 = 48;
    const MASK: u64 = (1 << Self::BITS) - 1;

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::MASK)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn next(self) -> Self {
        Self::from_bits(self.0 + 1)
    }

    const fn is_after(self, other: Self) -> bool {
        let ahead = self.0.wrapping_sub(other.0) & Self::MASK;
        ahead != 0 && ahead < 1 << (Self::BITS - 1)
    }
}

/// Where a seat stands in the loop that its word speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// The owner has claimed its block and is about to publish it.
    Begun,
    /// The owner is inside the loop, or was and has left for good (see [`Departure`]).
    Present,
    /// Another participant has claimed the block and is about to publish what it does not run at once.
    Taken,
    /// The block was begun by another; the owner may still come in.
    Rescued,
    /// Nobody can come in any more.
    Shut,
}

/// A value of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    const PHASE_BITS: u32 = 3;

    const fn new(generation: Generation, phase: Phase) -> Self {
        Self(generation.0 << Self::PHASE_BITS | phase as u64)
    }

    /// The phase in the loop `generation`; `None` if nobody has begun there. A word that speaks of a later loop says
    /// that this one is over, and the seat shut.
    #[inline]
    pub(crate) const fn phase(self, generation: Generation) -> Option<Phase> {
        let speaks_of = self.0 >> Self::PHASE_BITS;
        if speaks_of != generation.0 {
            let over = Generation::from_bits(speaks_of).is_after(generation);
            return if over { Some(Phase::Shut) } else { None };
        }
        Some(match self.0 & 7 {
            0 => Phase::Begun,
            1 => Phase::Present,
            2 => Phase::Taken,
            3 => Phase::Rescued,
            _ => Phase::Shut,
        })
    }
}

/// The word.
#[derive(Debug)]
pub(crate) struct Presence(AtomicU64);

impl Presence {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Stamp::new(Generation::default(), Phase::Shut).0))
    }

    /// Acquire: pairs with [`publish`](Self::publish), so that who sees a block published sees the word of that block.
    #[inline]
    pub(crate) fn read(&self) -> Stamp {
        Stamp(self.0.load(Ordering::Acquire))
    }

    /// Moves the word from what was read to `phase` of loop `generation`; false if somebody was faster.
    ///
    /// Release: a rescuer or late owner that sees the new phase sees what came before it. Acquire: pairs with
    /// [`publish`](Self::publish) of a rescuer, for the late owner that goes on with the block.
    #[inline]
    pub(crate) fn claim(&self, seen: Stamp, generation: Generation, phase: Phase) -> bool {
        let new = Stamp::new(generation, phase);
        self.0.compare_exchange(seen.0, new.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Goes on to `phase` when the one who calls has claimed the word and nobody else may move it: from `Begun` and
    /// from `Taken`, and for the caller's own seat before the loop is open.
    ///
    /// Release: pairs with the acquire of [`read`](Self::read): the block was set before.
    #[inline]
    pub(crate) fn publish(&self, generation: Generation, phase: Phase) {
        self.0.store(Stamp::new(generation, phase).0, Ordering::Release);
    }
}

/// Whether a seat's owner has left, or its leaving is awaited, and in which loop. A word that speaks of an earlier loop says
/// neither.
#[derive(Debug)]
pub(crate) struct Departure(AtomicU64);

impl Departure {
    const AWAITED: u64 = 1;
    const LEFT: u64 = 2;

    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    const fn word(generation: Generation, what: u64) -> u64 {
        generation.0 << 2 | what
    }

    /// The owner leaves; true if the caller sleeps until then and must be woken.
    ///
    /// Release: pairs with [`has_left`](Self::has_left) by the caller, who takes all that the owner did from here.
    #[inline]
    pub(crate) fn leave(&self, generation: Generation) -> bool {
        let was = self.0.swap(Self::word(generation, Self::LEFT), Ordering::Release);
        was == Self::word(generation, Self::AWAITED)
    }

    /// Whether the owner has left.
    ///
    /// Acquire: pairs with [`leave`](Self::leave).
    #[inline]
    pub(crate) fn has_left(&self, generation: Generation) -> bool {
        self.0.load(Ordering::Acquire) == Self::word(generation, Self::LEFT)
    }

    /// Asks the owner, who is inside, to wake the caller when it leaves; false if it has left.
    pub(crate) fn await_leave(&self, generation: Generation) -> bool {
        let awaited = Self::word(generation, Self::AWAITED);
        let seen = self.0.load(Ordering::Relaxed);
        // The owner changes it once, to say that it has left; after that the caller looks for itself.
        seen == awaited
            || (seen != Self::word(generation, Self::LEFT)
                && self
                    .0
                    .compare_exchange(seen, awaited, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_of_earlier_loops_say_nothing_and_those_of_later_ones_that_it_is_over() {
        for now in [0, 1, 7, Generation::MASK - 1, Generation::MASK] {
            let now = Generation::from_bits(now);
            let stamp = Stamp::new(now, Phase::Rescued);
            assert_eq!(stamp.phase(now), Some(Phase::Rescued));
            assert_eq!(stamp.phase(now.next()), None);
            assert_eq!(stamp.phase(now.next().next()), None);
            assert_eq!(Stamp::new(now.next(), Phase::Present).phase(now), Some(Phase::Shut));
        }
    }

    #[test]
    fn every_phase_comes_back() {
        let generation = Generation::from_bits(5);
        for phase in [Phase::Begun, Phase::Present, Phase::Taken, Phase::Rescued, Phase::Shut] {
            assert_eq!(Stamp::new(generation, phase).phase(generation), Some(phase));
        }
    }

    #[test]
    fn a_departure_counts_for_its_own_loop_alone() {
        let first = Generation::default().next();
        let second = first.next();
        let departure = Departure::new();
        assert!(!departure.has_left(Generation::default()) && !departure.has_left(first));
        assert!(!departure.leave(first), "nobody waits");
        assert!(departure.has_left(first) && !departure.await_leave(first));
        assert!(!departure.has_left(second));
        assert!(departure.await_leave(second) && departure.await_leave(second));
        assert!(!departure.has_left(second));
        assert!(departure.leave(second), "the caller is to be woken");
        assert!(departure.has_left(second) && !departure.await_leave(second));
    }
}
