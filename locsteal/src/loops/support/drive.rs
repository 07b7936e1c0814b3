//! Running a marked loop: the clauses, and the methods that run it.

use std::marker::PhantomData;

use super::accumulate::Sums;
use super::chunks::{EachChunk, Filling};
use super::clauses::Clauses;
use super::code::{Arrays, ChunkCode, Prepared, YieldCode};
use super::equals::{AnyOrder, InOrder, Order};
use super::fill::Yield;
use crate::loops::progress::Progress;
use crate::loops::site::Site;
use crate::loops::source::{IntoParallelSource, ParallelSource};
use crate::panics::Sheltered;
use crate::{Locality, Pool, Schedule, Stats};

/// A marked loop over `S` whose items hold their index at `Part`, before it is run.
#[must_use]
pub struct Loop<'a, S, Part> {
    source: S,
    clauses: Clauses<'a>,
    part: PhantomData<Part>,
}

/// A loop over something.
#[inline]
pub fn start<'a, Part, I: IntoParallelSource>(
    site: &'static Site,
    over: I,
) -> Loop<'a, I::Source, Part> {
    Loop { source: over.into_parallel_source(), clauses: Clauses::new(site), part: PhantomData }
}

/// Who is told how far a loop has come, kept for the loop.
pub struct Listener<P>(Sheltered<P>);

impl<P: Progress> Listener<P> {
    /// Keeps it.
    pub fn new(progress: P) -> Self {
        Self(Sheltered::new(progress))
    }
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
    /// `schedule = ..`
    #[inline]
    pub fn schedule(self, schedule: Schedule) -> Self
    where
        S: ParallelSource,
    {
        Self { clauses: Clauses { schedule, ..self.clauses }, ..self }
    }

    /// `locality = ..`
    #[inline]
    pub fn locality(self, locality: Locality) -> Self
    where
        S: ParallelSource,
    {
        Self { clauses: Clauses { locality, ..self.clauses }, ..self }
    }

    /// `grain = ..`
    #[inline]
    pub fn grain(self, grain: usize) -> Self
    where
        S: ParallelSource,
    {
        Self { clauses: Clauses { grain: grain as u64, ..self.clauses }, ..self }
    }

    /// `threads = ..`
    #[inline]
    pub fn threads(self, threads: usize) -> Self
    where
        S: ParallelSource,
    {
        Self { clauses: Clauses { threads, ..self.clauses }, ..self }
    }

    /// `pool = ..`
    #[inline]
    pub fn pool(self, pool: &'a Pool) -> Self
    where
        S: ParallelSource,
    {
        Self { clauses: Clauses { pool: Some(pool), ..self.clauses }, ..self }
    }

    /// `progress = ..`
    #[inline]
    pub fn progress(self, listener: &'a Listener<impl Progress>) -> Self
    where
        S: ParallelSource,
    {
        Self { clauses: Clauses { progress: Some(listener.0.get()), ..self.clauses }, ..self }
    }

    /// `report = ..`
    #[inline]
    pub fn report(self, stats: &'a mut Stats) -> Self
    where
        S: ParallelSource,
    {
        Self { clauses: Clauses { report: Some(stats), ..self.clauses }, ..self }
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
        self.run_where(AnyOrder)
    }

    /// Runs the loop; what is accumulated is joined in the order of the iterations: `reduce(reproducible, ..)`, and reductions in
    /// loops that can be left.
    #[inline]
    pub fn run_in_order<E>(self) -> Finished<E, R>
    where
        S: ParallelSource + Sync,
        Owns: Arrays<S, Part>,
        R: Sums,
        E: Send,
        Locals: Sync,
        MakeSums: Sync,
        Code: ChunkCode<S, Part, Owns, L, R, E> + Sync,
    {
        self.run_where(InOrder)
    }

    /// Runs the loop; what is accumulated is joined in the order of the iterations if that is asked for: reductions to a least or
    /// greatest value, where equal values may differ.
    #[inline]
    pub fn run_where<O: Order, E>(self, _order: O) -> Finished<E, R>
    where
        S: ParallelSource + Sync,
        Owns: Arrays<S, Part>,
        R: Sums,
        E: Send,
        Locals: Sync,
        MakeSums: Sync,
        Code: ChunkCode<S, Part, Owns, L, R, E> + Sync,
    {
        let Self { launch: Loop { source, clauses, .. }, arrays, locals, sums, code } = self;
        EachChunk::new(source, arrays, locals, sums, code).finish::<O, _, _, _>(clauses)
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
        self.collect_where(AnyOrder)
    }

    /// The same as [`run_in_order`](Self::run_in_order) for a loop that yields.
    #[inline]
    pub fn collect_in_order<V, T, E>(self) -> (Option<V>, Finished<E, R>)
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
        self.collect_where(InOrder)
    }

    /// The same as [`run_where`](Self::run_where) for a loop that yields.
    #[inline]
    pub fn collect_where<O: Order, V, T, E>(self, _order: O) -> (Option<V>, Finished<E, R>)
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
        let Self { launch: Loop { source, clauses, .. }, arrays, locals, sums, code } = self;
        let mut finished = None;
        let values = V::collect(source.length(), |collector| {
            let code = Filling { collector, code };
            let chunks = EachChunk::new(source, arrays, locals, sums, code);
            finished.insert(chunks.finish::<O, _, _, _>(clauses)).left.is_none()
        });
        (values, finished.unwrap_or(Finished { left: None, sums: None }))
    }
}
