//! Running a marked loop: participants take chunks and run the chunk code on them.

use std::marker::PhantomData;
use std::mem::needs_drop;
use std::ops::ControlFlow;

use super::accumulate::Sums;
use super::code::{Arrays, ChunkCode, Prepared, YieldCode};
use super::fill::{Fill, Yield};
use super::frame::Frame;
use super::leave::Ended;
use super::tracker::Tracker;
use crate::loops::builder::{self, Launch, search::Lowest};
use crate::loops::drive::{Payload, Piece, Pieces};
use crate::loops::participant::Participant;
use crate::loops::progress::Progress;
use crate::loops::reduce::{Leaves, Partials};
use crate::loops::site::Site;
use crate::loops::source::{IntoParallelSource, ParallelSource};
use crate::sched::Ending;
use crate::{Locality, Pool, Schedule, Stats};

/// A marked loop over `S` whose items hold their index at `Part`, before it is run.
#[must_use]
pub struct Loop<'a, S, Part> {
    inner: builder::Loop<'a, S>,
    /// Whether what is accumulated is joined in the order of the iterations.
    ordered: bool,
    part: PhantomData<Part>,
}

/// A loop over something.
#[inline]
pub fn start<'a, Part, I: IntoParallelSource>(
    site: &'static Site,
    over: I,
) -> Loop<'a, I::Source, Part> {
    let inner = builder::source(over).name(site.label()).remembering(site);
    Loop { inner, ordered: false, part: PhantomData }
}

/// `schedule = static(size)`
pub const fn static_chunk(size: usize) -> Schedule {
    Schedule::StaticChunk(size as u64)
}

/// `schedule = dynamic(size)`
pub const fn dynamic_chunk(size: usize) -> Schedule {
    Schedule::DynamicChunk(size as u64)
}

/// What a loop that was not ended by a panic gives back.
pub struct Finished<E, R> {
    /// What the lowest iteration that left the loop took along; `None` if it was a `break`, or none left.
    pub left: Option<E>,
    /// What was accumulated: by all iterations, or by those below the one that left and that one. `None` if none was run.
    pub sums: Option<R>,
}

/// The clauses.
impl<'a, S, Part> Loop<'a, S, Part> {
    #[inline]
    fn map(self, change: impl FnOnce(builder::Loop<'a, S>) -> builder::Loop<'a, S>) -> Self {
        Self { inner: change(self.inner), ..self }
    }

    /// `schedule = ..`
    #[inline]
    pub fn schedule(self, schedule: Schedule) -> Self
    where
        S: ParallelSource,
    {
        self.map(|inner| inner.schedule(schedule))
    }

    /// `locality = ..`
    #[inline]
    pub fn locality(self, locality: Locality) -> Self
    where
        S: ParallelSource,
    {
        self.map(|inner| inner.locality(locality))
    }

    /// `grain = ..`
    #[inline]
    pub fn grain(self, grain: usize) -> Self
    where
        S: ParallelSource,
    {
        self.map(|inner| inner.grain(grain))
    }

    /// `threads = ..`
    #[inline]
    pub fn threads(self, threads: usize) -> Self
    where
        S: ParallelSource,
    {
        self.map(|inner| inner.threads(threads))
    }

    /// `pool = ..`
    #[inline]
    pub fn pool(self, pool: &'a Pool) -> Self
    where
        S: ParallelSource,
    {
        self.map(|inner| inner.pool(pool))
    }

    /// `progress = ..`
    #[inline]
    pub fn progress(self, listener: impl Progress + 'a) -> Self
    where
        S: ParallelSource,
    {
        self.map(|inner| inner.progress(listener))
    }

    /// `report = ..`
    #[inline]
    pub fn report(self, stats: &'a mut Stats) -> Self
    where
        S: ParallelSource,
    {
        self.map(|inner| inner.report(stats))
    }

    /// `reduce(reproducible, ..)`, and reductions in loops that can be left.
    #[inline]
    pub fn ordered(self) -> Self {
        Self { ordered: true, ..self }
    }
}

impl<S, Part, Owns, Locals, MakeSums, Code>
    Prepared<Loop<'_, S, Part>, Owns, Locals, MakeSums, Code>
{
    /// Reductions to a least or greatest value, where equal values may differ.
    #[inline]
    pub fn ordered_where(self, ordered: bool) -> Self {
        Self { launch: Loop { ordered, ..self.launch }, ..self }
    }
}

impl<S, Part, Owns, L, R, Locals, MakeSums, Code>
    Prepared<Loop<'_, S, Part>, Owns, Locals, MakeSums, Code>
where
    Locals: Fn() -> L,
    MakeSums: Fn() -> R,
{
    /// Runs the loop.
    #[inline]
    pub fn run<E>(self) -> Finished<E, R>
    where
        S: ParallelSource + Sync,
        Owns: Arrays<S, Part>,
        R: Sums,
        E: Send,
        Locals: Sync,
        MakeSums: Sync,
        Code: ChunkCode<S, Part, Owns, L, R, E> + Sync,
    {
        let Self { launch, arrays, locals, sums, code } = self;
        arrays.check(launch.inner.items());
        launch.drive(locals, sums, |frame, locals, sums| {
            // SAFETY: they have been checked, and `drive` calls this with frames that have no position in common.
            unsafe { code.run(frame, &arrays, locals, sums) }
        })
    }

    /// Runs a loop that yields. The values are `None` if it was left.
    #[inline]
    pub fn collect<V, T, E>(self) -> (Option<V>, Finished<E, R>)
    where
        S: ParallelSource + Sync,
        Owns: Arrays<S, Part>,
        V: Yield<T>,
        T: Send,
        R: Sums,
        E: Send,
        Locals: Sync,
        MakeSums: Sync,
        Code: YieldCode<S, Part, Owns, T, L, R, E> + Sync,
    {
        let Self { launch, arrays, locals, sums, code } = self;
        arrays.check(launch.inner.items());
        let length = launch.inner.items().length();
        let mut finished = None;
        let values = V::collect(length, |collector| {
            let finished = finished.insert(launch.drive(locals, sums, |frame, locals, sums| {
                // SAFETY: frames have no position in common.
                let fill = unsafe { Fill::new(collector, frame.positions()) };
                // SAFETY: as in `run`.
                unsafe { code.run(frame, &arrays, fill, locals, sums) }
            }));
            finished.left.is_none()
        });
        (values, finished.unwrap_or(Finished { left: None, sums: None }))
    }
}

impl<S: ParallelSource + Sync, Part> Loop<'_, S, Part> {
    /// Calls `code` with frames of which no two have a position in common.
    #[inline]
    fn drive<L, R: Sums, E: Send>(
        self,
        locals: impl Fn() -> L + Sync,
        sums: impl Fn() -> R + Sync,
        code: impl Fn(Frame<'_, S, Part>, &mut L, &mut R) -> Ended<E> + Sync,
    ) -> Finished<E, R> {
        let Self { mut inner, ordered, .. } = self;
        let ordered = ordered && !R::NONE;
        // A source with drops of its own is left to the launcher, which sees to what happens when one of them panics.
        if !ordered
            && !needs_drop::<S>()
            && let Some(len) = inner.plain()
        {
            return run_plain(inner.items(), len, &locals, &sums, &code);
        }
        let mut finished: Finished<E, R> = Finished { left: None, sums: None };
        inner.drive_segments(|launch| {
            let chunks = Chunks {
                locals: &locals,
                sums: &sums,
                code: &code,
                left: Lowest::new(),
                part: PhantomData,
            };
            // Asked for first and by itself: so what is not used is not compiled.
            let (exit, total) = if R::NONE {
                chunks.run_in_any_order(launch)?
            } else if ordered {
                chunks.run_in_order(launch)?
            } else {
                chunks.run_in_any_order(launch)?
            };
            match (&mut finished.sums, total) {
                (Some(total), Some(later)) => total.merge(later),
                (total, later @ Some(_)) => *total = later,
                (_, None) => {}
            }
            let Some(exit) = exit else { return Ok(ControlFlow::Continue(())) };
            finished.left = chunks.left.into_value(u128::from(exit));
            Ok(ControlFlow::Break(()))
        });
        finished
    }
}

/// Runs a loop of `len` positions as one chunk, on the calling thread.
#[inline]
fn run_plain<S: ParallelSource, Part, L, R, E>(
    source: &S,
    len: u64,
    locals: &impl Fn() -> L,
    sums: &impl Fn() -> R,
    code: &impl Fn(Frame<'_, S, Part>, &mut L, &mut R) -> Ended<E>,
) -> Finished<E, R> {
    let ending = Ending::new();
    let participant = Participant::alone(len, &ending);
    let tracker = Tracker::new(&participant);
    let (mut locals, mut sums) = (locals(), sums());
    // SAFETY: these are all positions of the source, handed out once, and it stays where it is.
    let frame = unsafe { Frame::new(source, &tracker, 0, 0..len) };
    let ended = code(frame, &mut locals, &mut sums);
    let left = match ended {
        Ended::Left(how) => Some(how),
        Ended::Through => None,
    };
    Finished { left, sums: Some(sums) }
}

/// What is done with the chunks of a segment.
struct Chunks<'c, S, Part, Locals, MakeSums, Code, E> {
    locals: &'c Locals,
    sums: &'c MakeSums,
    code: &'c Code,
    /// What the lowest iteration that left took along.
    left: Lowest<E>,
    part: PhantomData<fn(&S) -> Part>,
}

/// The position at which a segment was left, and what was accumulated in it.
type Run<R> = Result<(Option<u64>, Option<R>), Payload>;

impl<S, Part, L, R, E, Locals, MakeSums, Code> Chunks<'_, S, Part, Locals, MakeSums, Code, E>
where
    S: ParallelSource + Sync,
    R: Sums,
    E: Send,
    Locals: Fn() -> L + Sync,
    MakeSums: Fn() -> R + Sync,
    Code: Fn(Frame<'_, S, Part>, &mut L, &mut R) -> Ended<E> + Sync,
{
    #[inline]
    fn run_in_any_order(&self, launch: Launch<'_, S>) -> Run<R> {
        let partials = Partials::new();
        let exit = launch.run(|pieces| {
            let mut state = None;
            while let Some(piece) = pieces.next() {
                // Only who has something to do makes itself a state.
                let (locals, sums) = state.get_or_insert_with(|| ((self.locals)(), (self.sums)()));
                self.run_chunk(piece, locals, sums);
            }
            if let Some((_, sums)) = state
                && !R::NONE
            {
                partials.add(sums, R::merge);
            }
        })?;
        Ok((exit, partials.into_total()))
    }

    #[inline]
    fn run_in_order(&self, launch: Launch<'_, S>) -> Run<R> {
        let leaves = Leaves::new(launch.length());
        let exit = launch.unit(leaves.unit()).run(|pieces| self.run_leaves(&leaves, pieces))?;
        Ok((exit, leaves.into_total(exit, R::merge)))
    }

    fn run_leaves(&self, leaves: &Leaves<R>, pieces: &mut Pieces<'_, '_, S>) {
        let mut state = None;
        let mut done = leaves.run();
        'pieces: while let Some(piece) = pieces.next() {
            let locals = state.get_or_insert_with(self.locals);
            let mut rest = Some(piece);
            while let Some(piece) = rest {
                let begin = piece.positions().start;
                let (leaf, after) = piece.split_off(leaves.leaf_at(begin).end);
                rest = after;
                let mut sums = (self.sums)();
                if let Some(position) = self.run_chunk(leaf, locals, &mut sums) {
                    done.exit(position, sums, &R::merge);
                    continue 'pieces;
                }
                done.push(begin, sums, &R::merge);
            }
            done.hand_in(&R::merge);
        }
    }

    /// Runs a chunk; gives the position at which it was left, if it was.
    #[inline]
    fn run_chunk(&self, piece: Piece<'_, '_, S>, locals: &mut L, sums: &mut R) -> Option<u64> {
        let (source, participant, base, positions) = piece.dismantle();
        let tracker = Tracker::new(participant);
        // SAFETY: a piece is the right to run its positions once, and borrows the source for longer than the frame lives.
        let frame = unsafe { Frame::new(source, &tracker, base, positions) };
        let ended = (self.code)(frame, locals, sums);
        let position = tracker.stopped()?;
        if let Ended::Left(how) = ended {
            self.left.give(u128::from(position), how);
        }
        participant.exit_at(position);
        Some(position)
    }
}
