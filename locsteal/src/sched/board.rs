//! The shared state of one loop at a time: a line for each seat, and what all participants share.
//!
//! A board is made once and used by one loop after the other. Between two loops every block is empty and the ending
//! is open; the generation tells the loops apart.

use crossbeam_utils::CachePadded;

use super::block::{Block, Span};
use super::ending::Ending;
use super::partition::Deal;
use super::presence::{Departure, Generation, Phase, Presence};
use crate::sync::{AtomicU64, Ordering, alone_on_its_lines, each_alone_on_its_lines};

/// What others must know of a seat, in one cache line.
#[derive(Debug)]
pub(crate) struct SeatLine {
    pub(crate) presence: Presence,
    pub(crate) block: Block,
}

/// How a worker got into a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It begins its own block.
    Owner,
    /// Another has begun its block; it helps.
    Late,
    /// Another is beginning its block right now: ask again.
    NotNow,
    /// The loop is over, or somebody else sits in its seat.
    Never,
}

#[derive(Debug)]
pub(crate) struct Board {
    seats: Box<[CachePadded<SeatLine>]>,
    /// For each seat, in a line of its own.
    departures: Box<[CachePadded<Departure>]>,
    /// How many units have been taken from the front, in schedules that share one counter.
    counter: CachePadded<AtomicU64>,
    ending: CachePadded<Ending>,
}

alone_on_its_lines!(Board: counter, ending);
each_alone_on_its_lines!(Board: seats, departures);
// One transfer brings all that there is to know of a seat.
#[cfg(not(loom))]
const _: () = assert!(size_of::<SeatLine>() <= 64);

impl Board {
    pub(crate) fn new(seats: usize) -> Self {
        let line = || SeatLine { presence: Presence::new(), block: Block::new() };
        Self {
            seats: (0..seats).map(|_| CachePadded::new(line())).collect(),
            departures: (0..seats).map(|_| CachePadded::new(Departure::new())).collect(),
            counter: CachePadded::new(AtomicU64::new(0)),
            ending: CachePadded::new(Ending::new()),
        }
    }

    #[inline]
    pub(crate) fn seat(&self, seat: usize) -> &SeatLine {
        &self.seats[seat]
    }

    /// Whether the owner of `seat` has left.
    #[inline]
    pub(crate) fn departure(&self, seat: usize) -> &Departure {
        &self.departures[seat]
    }

    #[inline]
    pub(crate) fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Puts the shared counter back to the front; only before a loop is open.
    pub(crate) fn reset_counter(&self) {
        self.counter.store(0, Ordering::Relaxed);
    }

    /// Takes units from the shared counter, as many as `choose(taken, left)` says, never beyond `limit`.
    ///
    /// Relaxed: the counter hands over numbers only; see [`Block`].
    pub(crate) fn take_counted(&self, limit: u32, choose: impl Fn(u32, u32) -> u32) -> Span {
        let mut lo = self.counter.load(Ordering::Relaxed);
        loop {
            let Some(left) = u64::from(limit).checked_sub(lo).filter(|&left| left > 0) else {
                return Span::EMPTY;
            };
            let n = u64::from(choose(lo as u32, left as u32)).clamp(1, left);
            match self.counter.compare_exchange_weak(
                lo,
                lo + n,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Span::new(lo as u32, (lo + n) as u32),
                Err(now) => lo = now,
            }
        }
    }

    /// The owner of `seat` comes to the loop `generation`. `publishes`: it is going to publish its block.
    pub(crate) fn enter(&self, generation: Generation, seat: usize, publishes: bool) -> Entry {
        let presence = &self.seats[seat].presence;
        let mut seen = presence.read();
        loop {
            let (phase, entry) = match seen.phase(generation) {
                None if publishes => (Phase::Begun, Entry::Owner),
                None => (Phase::Present, Entry::Owner),
                Some(Phase::Rescued) => (Phase::Present, Entry::Late),
                Some(Phase::Taken) => return Entry::NotNow,
                Some(_) => return Entry::Never,
            };
            if presence.claim(seen, generation, phase) {
                return entry;
            }
            seen = presence.read();
        }
    }

    /// Whether [`enter`](Self::enter) would lead into the loop, now or soon.
    pub(crate) fn could_enter(&self, generation: Generation, seat: usize) -> bool {
        matches!(
            self.seats[seat].presence.read().phase(generation),
            None | Some(Phase::Taken | Phase::Rescued)
        )
    }

    /// Where what is, in words, for who counts accesses.
    #[cfg(feature = "simulator")]
    pub(crate) fn parts(&self, parts: &mut crate::sync::counted::Parts) {
        for (seat, line) in self.seats.iter().enumerate() {
            parts.add(format!("seat {seat}: presence"), &line.presence);
            parts.add(format!("seat {seat}: block"), &line.block);
        }
        for (seat, departure) in self.departures.iter().enumerate() {
            parts.add(format!("seat {seat}: departure"), &**departure);
        }
        parts.add("shared counter", &*self.counter);
        parts.add("ending", &*self.ending);
    }

    /// Makes the board ready for the next loop, once every participant has left.
    pub(crate) fn clear(&self, deal: &Deal) {
        if self.ending.is_early() {
            for seat in &self.seats[..deal.width()] {
                seat.block.set(Span::EMPTY);
            }
            self.ending.reset();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::LINES;

    #[test]
    fn seats_share_no_line_or_pair_of_lines() {
        let board = Board::new(3);
        let at = |seat: usize| std::ptr::from_ref(board.seat(seat)).addr();
        let departs_at = |seat: usize| std::ptr::from_ref(board.departure(seat)).addr();
        for seat in 0..3 {
            assert_eq!(at(seat), at(0) + seat * LINES);
            assert_eq!(departs_at(seat), departs_at(0) + seat * LINES);
            assert!(at(seat).is_multiple_of(LINES) && departs_at(seat).is_multiple_of(LINES));
        }
    }

    #[test]
    fn a_seat_is_entered_once() {
        let first = Generation::default().next();
        let second = first.next();
        let board = Board::new(1);
        assert_eq!(board.enter(first, 0, true), Entry::Owner);
        assert_eq!(board.enter(first, 0, true), Entry::Never);
        board.seat(0).presence.publish(first, Phase::Present);
        assert!(!board.departure(0).leave(first));
        assert_eq!(board.enter(first, 0, true), Entry::Never);
        assert_eq!(board.enter(second, 0, false), Entry::Owner);
        assert_eq!(board.enter(first, 0, true), Entry::Never, "the first loop is over");
    }

    #[test]
    fn the_counter_gives_each_unit_once() {
        let board = Board::new(1);
        let mut next = 0;
        while let span = board.take_counted(100, |_, left| left / 3)
            && !span.is_empty()
        {
            assert_eq!(span.lo, next);
            next = span.hi;
        }
        assert_eq!(next, 100);
        assert!(board.take_counted(100, |_, _| u32::MAX).is_empty());
    }
}
