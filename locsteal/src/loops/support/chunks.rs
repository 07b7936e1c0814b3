//! Running the chunks of a marked loop, on the participants that there are.
//!
//! Of a loop, only [`Chunks`] is its own: what stands in this file is compiled once for all loops of a program that have the same
//! types of private state, accumulated values and exits, which nearly all have. So it sees a loop through a table of functions, and
//! calls one for each chunk. What a chunk does stands in one function, for loops that are launched and for those that are not.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::needs_drop;
use std::ops::{ControlFlow, Range};
use std::panic::resume_unwind;

use super::accumulate::Sums;
use super::clauses::Clauses;
use super::code::{Arrays, ChunkCode, YieldCode};
use super::drive::Finished;
use super::equals::{AnyOrder, Order};
use super::fill::Fill;
use super::frame::Frame;
use super::leave::Ended;
use super::tracker::{Tracker, Turn};
use crate::ahead::Ahead;
use crate::loops::auto::Decision;
use crate::loops::builder::search::Lowest;
use crate::loops::collect::Collector;
use crate::loops::drive::Turns;
use crate::loops::launch::Settled;
use crate::loops::participant::Participant;
use crate::loops::reduce::{Leaves, Partials};
use crate::loops::source::{Length, ParallelSource};
use crate::panics::{Payload, drop_quietly};
use crate::sched::Ending;

/// The chunks of a loop, whose participants have an `L` each, accumulate into an `R`, and may leave the loop with an `E`.
pub(super) trait Chunks<L, R, E>: Sync {
    /// How many positions there are.
    fn length(&self) -> Length;

    /// Makes what a participant has for itself, and what it accumulates into.
    fn state(&self) -> (L, R);

    /// Makes what a leaf accumulates into.
    fn sums(&self) -> R;

    /// Runs a turn.
    ///
    /// # Safety
    ///
    /// The arrays have been checked. The turn's positions are those of the loop, and no position is in two calls.
    unsafe fn run(&self, turn: &Turn<'_>, locals: &mut L, sums: &mut R) -> Ended<E>;
}

/// A loop over a source, but for its clauses.
pub(super) struct EachChunk<S, Part, Owns, Locals, MakeSums, Code> {
    source: S,
    arrays: Owns,
    locals: Locals,
    sums: MakeSums,
    code: Code,
    part: PhantomData<fn() -> Part>,
}

impl<S, Part, Owns, Locals, MakeSums, Code> EachChunk<S, Part, Owns, Locals, MakeSums, Code> {
    #[inline]
    pub(super) fn new(source: S, arrays: Owns, locals: Locals, sums: MakeSums, code: Code) -> Self {
        Self { source, arrays, locals, sums, code, part: PhantomData }
    }

    /// Runs the loop.
    // As little as can be: all of it is compiled for each loop. Of `self` nothing is taken apart, which would have each part dropped
    // by itself where something panics.
    #[inline]
    pub(super) fn finish<O: Order, L, R: Sums, E: Send>(
        self,
        clauses: Clauses<'_>,
    ) -> Finished<E, R>
    where
        S: ParallelSource,
        Owns: Arrays<S, Part>,
        Self: Chunks<L, R, E>,
    {
        self.arrays.check(&self.source);
        if const { needs_drop::<S>() } {
            return self.finish_and_drop::<O, L, R, E>(clauses);
        }
        if !R::NONE && O::KEPT {
            return run_or_unwind::<O, _, _, _>(&self, clauses, None);
        }
        let mut decided = None;
        if clauses.may_be_plain() {
            let len = self.source.length().saturating_u64();
            match clauses.settle(len) {
                Settled::Plain => return run_plain(&self, len),
                Settled::Launch(decision) => decided = decision,
            }
        }
        run_or_unwind::<AnyOrder, _, _, _>(&self, clauses, decided)
    }

    /// Runs the loop over a source that has drops of its own. It is launched in any case, which sees to what happens when one of them
    /// panics.
    fn finish_and_drop<O: Order, L, R: Sums, E: Send>(self, clauses: Clauses<'_>) -> Finished<E, R>
    where
        Self: Chunks<L, R, E>,
    {
        match launch::<O, _, _, _>(&self, clauses, None) {
            Ok(finished) => finished,
            Err(payload) => {
                // Here and not while unwinding, where a drop that panics would end the process.
                drop_quietly(self.source);
                resume_unwind(payload)
            }
        }
    }
}

/// The code of a chunk in a loop that yields, and the places for what it yields.
pub(super) struct Filling<'c, 'a, T, Code> {
    pub(super) collector: &'c Collector<'a, T>,
    pub(super) code: Code,
}

impl<S, Part, Owns, T, L, R, E, Code> ChunkCode<S, Part, Owns, L, R, E> for Filling<'_, '_, T, Code>
where
    Code: YieldCode<S, Part, Owns, T, L, R, E>,
{
    #[inline]
    unsafe fn run(
        &self,
        frame: Frame<'_, S, Part>,
        arrays: &Owns,
        locals: &mut L,
        sums: &mut R,
    ) -> Ended<E> {
        // SAFETY: frames have no position in common, as the caller promises.
        let fill = unsafe { Fill::new(self.collector, frame.positions()) };
        // SAFETY: as the caller promises.
        unsafe { self.code.run(frame, arrays, fill, locals, sums) }
    }
}

impl<S, Part, Owns, L, R, E, Locals, MakeSums, Code> Chunks<L, R, E>
    for EachChunk<S, Part, Owns, Locals, MakeSums, Code>
where
    S: ParallelSource + Sync,
    Owns: Arrays<S, Part>,
    Locals: Fn() -> L + Sync,
    MakeSums: Fn() -> R + Sync,
    Code: ChunkCode<S, Part, Owns, L, R, E> + Sync,
{
    fn length(&self) -> Length {
        self.source.length()
    }

    #[inline]
    fn state(&self) -> (L, R) {
        ((self.locals)(), (self.sums)())
    }

    fn sums(&self) -> R {
        (self.sums)()
    }

    // Not inlined: so the body of a loop is compiled once.
    #[inline(never)]
    unsafe fn run(&self, turn: &Turn<'_>, locals: &mut L, sums: &mut R) -> Ended<E> {
        let tracker = Tracker::new(turn);
        // SAFETY: these are positions of the source, handed out once, as the caller promises; the source is borrowed.
        let frame = unsafe { Frame::new(&self.source, &tracker, turn) };
        // SAFETY: the arrays have been checked, as the caller promises, and no position is in two frames.
        unsafe { self.code.run(frame, &self.arrays, locals, sums) }
    }
}

/// Launches a loop, whose arrays have been checked.
///
/// # Errors
///
/// The payload of a panic.
fn launch<O: Order, L, R: Sums, E: Send>(
    chunks: &dyn Chunks<L, R, E>,
    clauses: Clauses<'_>,
    decided: Option<Decision>,
) -> Result<Finished<E, R>, Payload> {
    // Asked for first and by itself: so what is not used is not compiled.
    if R::NONE {
        run_in_any_order(chunks, clauses, decided)
    } else if O::KEPT {
        run_in_order(chunks, clauses)
    } else {
        run_in_any_order(chunks, clauses, decided)
    }
}

/// The same, where a panic goes on.
fn run_or_unwind<O: Order, L, R: Sums, E: Send>(
    chunks: &dyn Chunks<L, R, E>,
    clauses: Clauses<'_>,
    decided: Option<Decision>,
) -> Finished<E, R> {
    launch::<O, _, _, _>(chunks, clauses, decided).unwrap_or_else(|payload| resume_unwind(payload))
}

/// Runs a loop of `len` positions as one turn, on the calling thread.
#[inline]
fn run_plain<L, R, E>(chunks: &impl Chunks<L, R, E>, len: u64) -> Finished<E, R> {
    let ending = Ending::new();
    let turn = Turn { ending: &ending, first: 0, positions: 0..len, stopped: Cell::new(None) };
    let (mut locals, mut sums) = chunks.state();
    // SAFETY: these are all positions of the loop, run once; the caller has checked the arrays.
    let ended = unsafe { chunks.run(&turn, &mut locals, &mut sums) };
    let left = match ended {
        Ended::Left(how) => Some(how),
        Ended::Through => None,
    };
    Finished { left, sums: Some(sums) }
}

/// Launches a loop; what participants have accumulated is joined as they end.
fn run_in_any_order<L, R: Sums, E: Send>(
    chunks: &dyn Chunks<L, R, E>,
    clauses: Clauses<'_>,
    decided: Option<Decision>,
) -> Result<Finished<E, R>, Payload> {
    let mut finished = Finished { left: None, sums: None };
    let ended =
        clauses.segments(decided, Ahead::of(chunks)).drive(chunks.length(), &mut |launch| {
            let (partials, left) = (Partials::new(), Lowest::new());
            let run = launch.run(|turns| {
                let Some(mut positions) = turns.next() else { return };
                // Only who has something to do makes itself a state.
                let (mut locals, mut sums) = chunks.state();
                loop {
                    run_turn(chunks, turns, positions, &mut locals, &mut sums, &left);
                    match turns.next() {
                        Some(next) => positions = next,
                        None => break,
                    }
                }
                if !R::NONE {
                    partials.add(sums, R::merge);
                }
            });
            match run {
                Ok(exit) => Ok(finished.segment_ended(partials.into_total(), exit, left)),
                Err(payload) => {
                    drop_quietly(partials);
                    drop_quietly(left);
                    Err(payload)
                }
            }
        });
    finished.unless(ended)
}

/// Launches a loop; what participants have accumulated is joined in the order of the iterations.
fn run_in_order<L, R: Sums, E: Send>(
    chunks: &dyn Chunks<L, R, E>,
    clauses: Clauses<'_>,
) -> Result<Finished<E, R>, Payload> {
    let mut finished = Finished { left: None, sums: None };
    let ended = clauses.segments(None, Ahead::of(chunks)).drive(chunks.length(), &mut |launch| {
        let (leaves, left) = (Leaves::new(launch.length()), Lowest::new());
        let launch = launch.unit(leaves.unit());
        match launch.run(|turns| run_leaves(chunks, turns, &leaves, &left)) {
            Ok(exit) => Ok(finished.segment_ended(leaves.into_total(exit, R::merge), exit, left)),
            Err(payload) => {
                drop_quietly(leaves);
                drop_quietly(left);
                Err(payload)
            }
        }
    });
    finished.unless(ended)
}

fn run_leaves<L, R: Sums, E: Send>(
    chunks: &dyn Chunks<L, R, E>,
    turns: &mut Turns<'_, '_>,
    leaves: &Leaves<R>,
    left: &Lowest<E>,
) {
    let Some(mut positions) = turns.next() else { return };
    let (mut locals, mut sums) = chunks.state();
    let mut done = leaves.run();
    loop {
        let begin = positions.start;
        let leaf = begin..leaves.leaf_at(begin).end.min(positions.end);
        positions.start = leaf.end;
        match run_turn(chunks, turns, leaf, &mut locals, &mut sums, left) {
            None => {
                done.push(begin, sums, &R::merge);
                if positions.is_empty() {
                    done.hand_in(&R::merge);
                }
            }
            Some(position) => {
                done.exit(position, sums, &R::merge);
                positions.start = positions.end;
            }
        }
        if positions.is_empty() {
            match turns.next() {
                Some(next) => positions = next,
                None => break,
            }
        }
        sums = chunks.sums();
    }
}

/// Runs positions of a turn, once; gives the position at which the loop was left, if it was.
#[inline]
fn run_turn<L, R, E>(
    chunks: &dyn Chunks<L, R, E>,
    turns: &Turns<'_, '_>,
    positions: Range<u64>,
    locals: &mut L,
    sums: &mut R,
    left: &Lowest<E>,
) -> Option<u64> {
    /// Tells the participant where a panic came from.
    struct Telling<'a, 'p>(&'a Participant<'p>, Turn<'a>);
    impl Drop for Telling<'_, '_> {
        fn drop(&mut self) {
            if let Some(position) = self.1.stopped.get() {
                self.0.panicked_at(position);
            }
        }
    }
    let (participant, base) = turns.place();
    let first = base + u128::from(positions.start);
    let turn = Turn { ending: participant.ending(), first, positions, stopped: Cell::new(None) };
    let telling = Telling(participant, turn);
    // SAFETY: the arrays have been checked before the launch. A turn's positions are of a segment of the loop, which is launched once, and given once in it; the callers run each of
    // them once.
    let ended = unsafe { chunks.run(&telling.1, locals, sums) };
    let position = telling.1.stopped.get()?;
    if let Ended::Left(how) = ended {
        left.give(u128::from(position), how);
    }
    participant.exit_at(position);
    Some(position)
}

impl<E, R: Sums> Finished<E, R> {
    /// This, unless a panic has stopped the loop.
    fn unless(self, ended: Result<(), Payload>) -> Result<Self, Payload> {
        match ended {
            Ok(()) => Ok(self),
            Err(payload) => {
                drop_quietly(self.left);
                drop_quietly(self.sums);
                Err(payload)
            }
        }
    }

    /// A segment has ended, and was left at `exit`, if it was.
    fn segment_ended(
        &mut self,
        sums: Option<R>,
        exit: Option<u64>,
        left: Lowest<E>,
    ) -> ControlFlow<()> {
        match (&mut self.sums, sums) {
            (Some(total), Some(later)) => total.merge(later),
            (total, later @ Some(_)) => *total = later,
            (_, None) => {}
        }
        let Some(exit) = exit else { return ControlFlow::Continue(()) };
        self.left = left.into_value(u128::from(exit));
        ControlFlow::Break(())
    }
}
