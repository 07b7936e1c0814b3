//! Running code on the chunks of a source.
//!
//! A loop is launched in segments, since a launch has at most [`MAX_LEN`] positions; nearly every loop is one segment. Each
//! participant gets [`Pieces`], which hand out the positions of its chunks.

use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

use super::launch::{Entry, MAX_LEN, Plan, launch};
use super::participant::Participant;
use super::progress::Meter;
use super::source::{DetachedSource, Length, ParallelSource};
use crate::panics::Payload;
use crate::pool::Pool;

/// A part of a loop's positions that is launched at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The first position.
    base: u128,
    /// How many there are.
    len: u64,
}

/// The parts of a loop of this length.
pub(crate) fn segments(length: Length) -> impl Iterator<Item = Segment> {
    let mut next = length.last().map(|_| 0);
    std::iter::from_fn(move || {
        let base: u128 = next?;
        let last = length.last()?;
        let len = MAX_LEN.min(Length::from_last(last - base).saturating_u64());
        next = Some(base + u128::from(len)).filter(|base| *base <= last);
        Some(Segment { base, len })
    })
}

impl Segment {
    /// All of a loop of this length, if that is one segment, as nearly always.
    pub(crate) fn whole(length: Length) -> Option<Self> {
        let len = length.saturating_u64();
        (1..=MAX_LEN).contains(&len).then_some(Self { base: 0, len })
    }

    /// The first position.
    pub(crate) fn first(&self) -> u128 {
        self.base
    }

    /// How many positions there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Has `work` run on each participant, with the positions that fall to it. The result is the position at which the loop was
    /// left, if it was.
    ///
    /// # Errors
    ///
    /// The payload of a panic.
    #[inline]
    pub(crate) fn run(
        &self,
        pool: &Pool,
        plan: &Plan<'_>,
        meter: Option<&Meter<'_>>,
        work: impl Fn(&mut Turns<'_, '_>) + Sync,
    ) -> Result<Option<u64>, Payload> {
        let meter = meter.map(|meter| (meter, meter.step(plan.unit)));
        let entry = Work { base: self.base, meter, code: work };
        let outcome = launch(pool, plan, self.len, &entry);
        match outcome.panic {
            None => Ok(outcome.exit),
            Some((_, payload)) => Err(payload),
        }
    }
}

struct Work<'a, Code> {
    base: u128,
    meter: Option<(&'a Meter<'a>, u64)>,
    code: Code,
}

impl<Code: Fn(&mut Turns<'_, '_>) + Sync> Entry for Work<'_, Code> {
    fn run(&self, participant: &mut Participant<'_>) {
        (self.code)(&mut Turns {
            base: self.base,
            meter: self.meter,
            participant,
            chunk: 0..0,
            given: 0..0,
        });
    }
}

/// A participant's way through a loop: the positions that it is to run, turn by turn.
pub(crate) struct Turns<'a, 'p> {
    base: u128,
    /// With the number of positions after which to report.
    meter: Option<(&'a Meter<'a>, u64)>,
    participant: &'a mut Participant<'p>,
    /// What is left of the chunk that the participant has taken.
    chunk: Range<u64>,
    /// The positions of the last turn, if they are still to be reported.
    given: Range<u64>,
}

impl<'p> Turns<'_, 'p> {
    /// The next positions to run within the segment, not none; `None` once the loop holds no more work for this participant. No
    /// position is given twice in a launch.
    ///
    /// Those before must have been run, unless the loop has been left.
    // Not inlined: it is compiled once, and what it costs is little beside what a chunk costs anyway.
    pub(crate) fn next(&mut self) -> Option<Range<u64>> {
        if let Some((meter, _)) = self.meter {
            let Range { start, end } = std::mem::replace(&mut self.given, 0..0);
            // Where the loop has been left, nothing above is certain to have been run.
            let ended = end.min(self.participant.bound()).saturating_sub(start);
            if ended > 0 {
                meter.add(ended);
            }
        }
        if self.chunk.start >= self.chunk.end.min(self.participant.bound()) {
            self.chunk = self.participant.next()?;
        }
        let mut positions = self.chunk.clone();
        if let Some((_, step)) = self.meter {
            // Steps end at their multiples, so that they respect the plan's unit wherever the chunk begins.
            let step_end = (positions.start / step + 1).saturating_mul(step);
            positions.end = positions.end.min(step_end);
            self.given = positions.clone();
        }
        self.chunk.start = positions.end;
        Some(positions)
    }

    /// The participant, and the first position of the segment in the whole loop.
    #[inline]
    pub(crate) fn place(&self) -> (&Participant<'p>, u128) {
        (self.participant, self.base)
    }
}

/// A participant's way through the pieces of a source.
pub(crate) struct Pieces<'t, 'a, 'p, S> {
    source: &'t S,
    turns: &'t mut Turns<'a, 'p>,
}

impl<'t, 'a, 'p, S: ParallelSource> Pieces<'t, 'a, 'p, S> {
    /// # Safety
    ///
    /// No position of the source has been handed out before, unless it is a [`RepeatableSource`](super::source::RepeatableSource),
    /// and the turns are of a launch that is for this source alone.
    #[inline]
    pub(crate) unsafe fn new(source: &'t S, turns: &'t mut Turns<'a, 'p>) -> Self {
        Self { source, turns }
    }

    /// The next positions to run; `None` once the loop holds no more work for this participant.
    ///
    /// The piece before must have been run, unless the loop has been left.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Piece<'_, 'p, S>> {
        let positions = self.turns.next()?;
        let (participant, base) = self.turns.place();
        Some(Piece { source: self.source, base, participant, positions, once: PhantomData })
    }
}

/// The right to run some positions, once.
///
/// It cannot be copied, and is made by [`Pieces`] from what the launcher has handed out: so no position is in two pieces.
pub(crate) struct Piece<'a, 'p, S> {
    source: &'a S,
    base: u128,
    participant: &'a Participant<'p>,
    /// Relative to the base, and not empty.
    positions: Range<u64>,
    once: PhantomData<*mut ()>,
}

impl<'a, 'p, S: ParallelSource> Piece<'a, 'p, S> {
    /// The positions within the segment.
    #[inline]
    pub(crate) fn positions(&self) -> Range<u64> {
        self.positions.clone()
    }

    /// The first position in the whole source.
    #[inline]
    pub(crate) fn first(&self) -> u128 {
        self.base + u128::from(self.positions.start)
    }

    /// Takes away the positions below `end`, as a piece of its own. Both it and what is left must not be empty, or all is taken
    /// away.
    #[inline]
    pub(crate) fn split_off(self, end: u64) -> (Self, Option<Self>) {
        let Range { start, end: all } = self.positions;
        let end = end.min(all);
        debug_assert!(start < end, "{start}..{end}");
        let rest = (end < all).then_some(Self { positions: end..all, ..self });
        (Self { positions: start..end, ..self }, rest)
    }

    /// # Safety
    ///
    /// The result is dropped before the borrow of the source ends.
    #[inline]
    unsafe fn chunk(&self) -> S::Chunk {
        let last = self.base + u128::from(self.positions.end - 1);
        // SAFETY: 5. the positions are of a segment of the source, and not none. 6. No position is in two pieces, and the methods
        // that call this use up the piece. 7. As the caller promises: the source is borrowed until then.
        unsafe { self.source.chunk(self.first(), last) }
    }

    /// The items themselves.
    #[inline]
    pub(crate) fn into_chunk(self) -> S::Chunk
    where
        S: DetachedSource,
    {
        // SAFETY: promise 7 is not needed of a `DetachedSource`.
        unsafe { self.chunk() }
    }

    /// Calls `body` with each item.
    #[inline]
    pub(crate) fn run(self, mut body: impl FnMut(S::Item)) {
        let mut running = Running { participant: self.participant, position: self.positions.start };
        // SAFETY: the chunk is used up here.
        unsafe { self.chunk() }.for_each(|item| {
            body(item);
            running.position += 1;
        });
        std::mem::forget(running);
    }

    /// Calls `body` with each item, until one leaves the loop or an iteration below has left it. The result is what the
    /// iteration that left gave, and its position; the launcher has been told.
    ///
    /// `Err(None)` if not all items were run since an iteration below has left.
    #[inline]
    pub(crate) fn run_until<E>(
        self,
        mut body: impl FnMut(S::Item) -> ControlFlow<E>,
    ) -> Result<(), Option<(u64, E)>> {
        let mut running = Running { participant: self.participant, position: self.positions.start };
        // SAFETY: the chunk is used up here.
        let mut chunk = unsafe { self.chunk() };
        let ended = loop {
            if running.position >= self.participant.bound() {
                break if running.position < self.positions.end { Err(None) } else { Ok(()) };
            }
            let Some(item) = chunk.next() else { break Ok(()) };
            if let ControlFlow::Break(value) = body(item) {
                self.participant.exit_at(running.position);
                break Err(Some((running.position, value)));
            }
            running.position += 1;
        };
        // While `running` is there, since this is where the drops of what was not run belong.
        drop(chunk);
        std::mem::forget(running);
        ended
    }
}

/// The position that is running. Dropped while a panic unwinds, it says which one that was.
struct Running<'a, 'p> {
    participant: &'a Participant<'p>,
    position: u64,
}

impl Drop for Running<'_, '_> {
    fn drop(&mut self) {
        self.participant.panicked_at(self.position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_a_loop_of_any_length() {
        let lengths = |length| segments(length).map(|s| (s.first(), s.len())).collect::<Vec<_>>();
        let longest = u128::from(MAX_LEN);
        assert_eq!(lengths(Length::EMPTY), []);
        assert_eq!(lengths(Length::from(5_usize)), [(0, 5)]);
        assert_eq!(lengths(Length::from(MAX_LEN)), [(0, MAX_LEN)]);
        assert_eq!(lengths(Length::from(MAX_LEN + 1)), [(0, MAX_LEN), (longest, 1)]);
        let full: Vec<_> = (0..4).map(|k| (k * longest, MAX_LEN)).collect();
        assert_eq!(lengths(Length::from_last(u128::from(u64::MAX))), full);
        let mut many = segments(Length::from_last(u128::MAX));
        assert_eq!(many.next().map(|s| (s.first(), s.len())), Some((0, MAX_LEN)));
    }
}
