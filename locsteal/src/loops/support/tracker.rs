//! Where a chunk's iterations have come to.

use std::cell::Cell;
use std::ops::Range;

use crate::sched::Ending;

/// Positions that are run one after another, by one participant.
pub(super) struct Turn<'a> {
    /// Where it says that the loop has been left.
    pub(super) ending: &'a Ending,
    /// The first position in the source.
    pub(super) first: u128,
    /// The positions, as the launcher counts. There are some.
    pub(super) positions: Range<u64>,
    /// The position that was running when the turn was left, by a panic or by leaving the loop; `None` if it ran to its end.
    pub(super) stopped: Cell<Option<u64>>,
}

/// What a chunk tells about how it ended.
pub(super) struct Tracker<'a> {
    turn: &'a Turn<'a>,
    short: Cell<Option<Short>>,
}

/// An array ends before the loop does.
#[derive(Clone, Copy)]
pub(super) struct Short {
    pub(super) name: &'static str,
    /// What the body would index it with.
    pub(super) index: i128,
    pub(super) len: usize,
    /// Where in the source.
    pub(super) at: &'static str,
}

impl<'a> Tracker<'a> {
    pub(super) fn new(turn: &'a Turn<'a>) -> Self {
        Self { turn, short: Cell::new(None) }
    }

    /// The position of the iteration that left the chunk; `None` if it ran to its end.
    pub(super) fn stopped(&self) -> Option<u64> {
        self.turn.stopped.get()
    }

    /// Positions at or above this one need not be started any more.
    #[inline]
    pub(super) fn bound(&self) -> u64 {
        self.turn.ending.bound()
    }

    /// The iteration at `position` leaves the chunk.
    #[cold]
    #[inline(never)]
    pub(super) fn stop(&self, position: u64) {
        self.turn.stopped.set(Some(position));
    }

    /// The chunk will end early, since an array does.
    #[cold]
    #[inline(never)]
    pub(super) fn fall_short(&self, short: Short) {
        self.short.set(Some(short));
    }

    /// The chunk has come to where an array ends.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&self) -> ! {
        match self.short.get() {
            Some(Short { name, index, len, at }) => out_of_bounds(name, index, len, at),
            None => unreachable!("a chunk ended early for no reason"),
        }
    }
}

/// The panic of an index that an array does not have.
pub(super) fn out_of_bounds(name: &str, index: i128, len: usize, at: &str) -> ! {
    if (0..len as i128).contains(&index) {
        // A loop that runs along a part of the array, which an iteration of the loop around it owns.
        panic!(
            "`{name}[{index}]` belongs to another iteration of the loop around this one, which owns a part of the {len} elements of `{name}`, at {at}"
        );
    }
    let is = if index < 0 { "would be" } else { "is" };
    panic!("index out of bounds: the len of `{name}` is {len} but the index {is} {index}, at {at}")
}
