//! Running a marked loop: participants take chunks and run the chunk code on them.

use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use super::accumulate::Sums;
use super::frame::Frame;
use super::leave::Ended;
use super::tracker::Tracker;
use crate::loops::launch::{Entry, MAX_LEN, Plan, launch};
use crate::loops::own::{Area, Indices, Own};
use crate::loops::participant::Participant;
use crate::loops::site::Site;
use crate::loops::source::{IntoParallelSource, ParallelSource};
use crate::{Locality, Pool, Schedule};

/// A marked loop over `S` whose items hold their index at `Part`, before it is run.
#[must_use]
pub struct Loop<'a, S, Part> {
    site: &'static Site,
    source: S,
    plan: Plan,
    pool: Option<&'a Pool>,
    part: PhantomData<Part>,
}

/// A loop over something.
#[inline]
pub fn start<'a, Part, I: IntoParallelSource>(
    site: &'static Site,
    over: I,
) -> Loop<'a, I::Source, Part> {
    let source = over.into_parallel_source();
    let plan = Plan { memory: Some(site.memory()), ..Plan::default() };
    Loop { site, source, plan, pool: None, part: PhantomData }
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
    /// What all iterations accumulated; `None` if no iteration was run.
    pub sums: Option<R>,
}

/// The clauses.
impl<'a, S: ParallelSource, Part> Loop<'a, S, Part> {
    /// `schedule = ..`
    #[inline]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.plan.schedule = schedule;
        self
    }

    /// `locality = ..`
    #[inline]
    pub fn locality(mut self, locality: Locality) -> Self {
        self.plan.locality = locality;
        self
    }

    /// `grain = ..`
    #[inline]
    pub fn grain(mut self, grain: usize) -> Self {
        self.plan.grain = grain as u64;
        self
    }

    /// `threads = ..`
    #[inline]
    pub fn threads(mut self, threads: usize) -> Self {
        self.plan.threads = threads;
        self
    }

    /// `pool = ..`
    #[inline]
    pub fn pool<'b>(self, pool: &'b Pool) -> Loop<'b, S, Part>
    where
        'a: 'b,
    {
        Loop { pool: Some(pool), ..self }
    }
}

macro_rules! run {
    ($($run:ident($($own:ident: $element:ident),*) [$($bound:tt)*])*) => {
        /// Running it, with the arrays that its iterations own.
        impl<S: ParallelSource, Part> Loop<'_, S, Part> {$(
            /// Runs the loop: `locals` and `sums` make a participant's state, `code` runs a chunk.
            #[inline]
            #[allow(clippy::too_many_arguments, reason = "generated code does not mind")]
            pub fn $run<$($element,)* L, R, E>(
                self,
                $($own: Own<'_, $element>,)*
                locals: impl Fn() -> L + Sync,
                sums: impl Fn() -> R + Sync,
                code: impl Fn(Frame<'_, S, Part>, $(Area, &mut [$element],)* &mut L, &mut R) -> Ended<E> + Sync,
            ) -> Finished<E, R>
            where
                $($element: Send,)*
                R: Sums,
                E: Send,
                $($bound)*
            {
                self.drive(locals, sums, |frame, locals, sums| {
                    $(
                        // SAFETY: `drive` calls this with frames that have no position in common, and positions that differ
                        // have indices that differ (`Indices`), so that the ranges from the lowest to the highest index of
                        // two frames do not overlap: indices are in order along the positions.
                        let $own = unsafe { $own.part(frame.low()..=frame.high()) };
                    )*
                    code(frame, $($own.0, $own.1,)* locals, sums)
                })
            }
        )*}
    };
}

run! {
    run_0() []
    run_1(a: A) [S: Indices<Part>]
    run_2(a: A, b: B) [S: Indices<Part>]
    run_3(a: A, b: B, c: C) [S: Indices<Part>]
    run_4(a: A, b: B, c: C, d: D) [S: Indices<Part>]
    run_5(a: A, b: B, c: C, d: D, e: F) [S: Indices<Part>]
    run_6(a: A, b: B, c: C, d: D, e: F, f: G) [S: Indices<Part>]
    run_7(a: A, b: B, c: C, d: D, e: F, f: G, g: H) [S: Indices<Part>]
    run_8(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I) [S: Indices<Part>]
    run_9(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J) [S: Indices<Part>]
    run_10(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K) [S: Indices<Part>]
    run_11(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K, k: M) [S: Indices<Part>]
    run_12(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K, k: M, l: N) [S: Indices<Part>]
}

impl<S: ParallelSource, Part> Loop<'_, S, Part> {
    /// Calls `code` with frames of which no two have a position in common.
    #[inline]
    fn drive<L, R: Sums, E: Send>(
        self,
        locals: impl Fn() -> L + Sync,
        sums: impl Fn() -> R + Sync,
        code: impl Fn(Frame<'_, S, Part>, &mut L, &mut R) -> Ended<E> + Sync,
    ) -> Finished<E, R> {
        let pool = self.pool.unwrap_or_else(|| Pool::global());
        let mut finished = Finished { left: None, sums: None };
        let Some(last) = self.source.length().last() else { return finished };
        let mut base = 0;
        loop {
            // Most loops have one segment.
            let len = u64::try_from(last - base).ok().and_then(|span| span.checked_add(1));
            let len = len.map_or(MAX_LEN, |len| len.min(MAX_LEN));
            let segment = Segment {
                source: &self.source,
                base,
                locals: &locals,
                sums: &sums,
                code: &code,
                total: Mutex::new(finished.sums.take()),
                left: Mutex::new(None),
                part: PhantomData,
            };
            let outcome = launch(pool, &self.plan, len, &segment);
            if let Some((_, payload)) = outcome.panic {
                resume_unwind(payload);
            }
            finished.sums = segment.total.into_inner().unwrap_or_else(PoisonError::into_inner);
            if let Some(exit) = outcome.exit {
                let left = segment.left.into_inner().unwrap_or_else(PoisonError::into_inner);
                finished.left = left.and_then(|(position, how)| how.filter(|_| position == exit));
                return finished;
            }
            if u128::from(len) > last - base {
                return finished;
            }
            base += u128::from(len);
        }
    }
}

/// As many positions of a loop as can be launched at once.
struct Segment<'a, S, Part, Locals, Sums, R, E, Code> {
    source: &'a S,
    /// The first position.
    base: u128,
    locals: &'a Locals,
    sums: &'a Sums,
    code: &'a Code,
    /// What the participants that are done have accumulated.
    total: Mutex<Option<R>>,
    /// The lowest position that left the loop, and how.
    left: Mutex<Option<(u64, Option<E>)>>,
    part: PhantomData<fn() -> Part>,
}

impl<S, Part, L, R, E, Locals, MakeSums, Code> Entry
    for Segment<'_, S, Part, Locals, MakeSums, R, E, Code>
where
    S: ParallelSource,
    R: Sums,
    E: Send,
    Locals: Fn() -> L + Sync,
    MakeSums: Fn() -> R + Sync,
    Code: Fn(Frame<'_, S, Part>, &mut L, &mut R) -> Ended<E> + Sync,
{
    #[inline]
    fn run(&self, participant: &mut Participant<'_>) {
        let mut state = None;
        while let Some(chunk) = participant.next() {
            let tracker = Tracker::new(participant);
            // Only who has something to do makes itself a state.
            let (locals, sums) = state.get_or_insert_with(|| ((self.locals)(), (self.sums)()));
            // SAFETY: the launcher hands out each position of the segment once, and the segments of a loop have no position
            // in common. `drive` keeps the source where it is while the loop runs.
            let frame = unsafe {
                Frame::new(self.source, &tracker, self.base, chunk.start, chunk.end - chunk.start)
            };
            let ended = (self.code)(frame, locals, sums);
            if let Some(position) = tracker.stopped() {
                self.leave(position, ended);
                participant.exit_at(position);
            }
        }
        if let Some((_, sums)) = state
            && !R::NONE
        {
            let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *total {
                Some(total) => total.merge(sums),
                total => *total = Some(sums),
            }
        }
    }
}

impl<S, Part, Locals, MakeSums, R, E, Code> Segment<'_, S, Part, Locals, MakeSums, R, E, Code> {
    /// Notes that the iteration at `position` left the loop, unless a lower one has.
    #[cold]
    fn leave(&self, position: u64, ended: Ended<E>) {
        let how = match ended {
            Ended::Through => None,
            Ended::Left(how) => Some(how),
        };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let loser = match &mut *left {
            Some((lowest, _)) if *lowest <= position => how,
            slot => slot.replace((position, how)).and_then(|(_, how)| how),
        };
        drop(left);
        drop(loser);
    }
}
