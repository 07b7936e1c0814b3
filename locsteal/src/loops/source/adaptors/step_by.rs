//! `step_by`: every so manieth item of a source.

use std::iter;

use super::super::{
    DetachedSource, ExactSource, IndexedSource, Length, ParallelSource, RepeatableSource,
};

/// The first item of a source and then every `step`-th. Made by [`ParallelSource::step_by`].
#[derive(Clone, Copy, Debug)]
pub struct StepBy<S> {
    source: S,
    /// Not 0.
    step: usize,
}

impl<S> StepBy<S> {
    #[inline]
    #[track_caller]
    pub(crate) fn new(source: S, step: usize) -> Self {
        assert!(step != 0, "the step of a loop must not be 0");
        Self { source, step }
    }
}

// SAFETY:
// 1. By this promise of the source.
// 2. Position `p` is position `p * step` of the source, which exists for the positions that `length` allows. The chunk of the
//    source goes from that of `first` to that of `last`, so that stepping through it ends there.
// 3. and 4. By the same promises of the source: disjoint ranges of positions span disjoint ranges of the source. Items between
//    two steps are dropped by the chunk that moves past them, or are in no chunk.
unsafe impl<S: ParallelSource> ParallelSource for StepBy<S> {
    type Item = S::Item;
    type Chunk = iter::StepBy<S::Chunk>;

    #[inline]
    fn length(&self) -> Length {
        match self.source.length().last() {
            None => Length::EMPTY,
            Some(last) => Length::from_last(quotient(last, self.step)),
        }
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> Self::Chunk {
        let step = self.step as u128;
        // SAFETY: 5. and 6. by the points above; 7. since the source is a part of `self`.
        let items = unsafe { self.source.chunk(first * step, last * step) };
        // The one item of a chunk is not followed by a step, which may be a very large one: then the standard library's iterator
        // looks for an item after the last in a great many steps if its items are made by stepping themselves.
        items.step_by(if first == last { 1 } else { self.step })
    }
}

/// `last / step`, without the slow division of 128 bits where 64 do.
#[inline]
fn quotient(last: u128, step: usize) -> u128 {
    match u64::try_from(last) {
        Ok(last) => u128::from(last / step as u64),
        Err(_) => last / step as u128,
    }
}

// SAFETY: a chunk is made of a chunk of the source.
unsafe impl<S: DetachedSource> DetachedSource for StepBy<S> {}

// SAFETY: a chunk is made of a chunk of the source.
unsafe impl<S: RepeatableSource> RepeatableSource for StepBy<S> {}

impl<P, S: IndexedSource<P>> IndexedSource<P> for StepBy<S> {
    type Aligned<W: ExactSource> = StepBy<S::Aligned<W>>;

    #[inline]
    fn index(&self, position: u128) -> i128 {
        self.source.index(position * self.step as u128)
    }

    #[inline]
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W> {
        StepBy { source: self.source.align(whole), step: self.step }
    }
}
