//! The adaptors of a loop, which are those of its source.

use super::Loop;
use crate::loops::source::{
    Cloned, Copied, Enumerate, IntoParallelSource, Nest, ParallelSource, RepeatableSource, Rev,
    Skip, StepBy, Take, Zip,
};

/// Adaptors.
impl<'a, S: ParallelSource> Loop<'a, S> {
    /// From the last item to the first.
    #[inline]
    pub fn rev(self) -> Loop<'a, Rev<S>>
    where
        S: ParallelSource<Chunk: DoubleEndedIterator>,
    {
        self.with_source(S::rev)
    }

    /// Only the first item and then every `step`-th.
    ///
    /// ```
    /// assert_eq!(locsteal::range(0..10).step_by(4).collect_vec(|i| i), [0, 4, 8]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    #[inline]
    #[track_caller]
    pub fn step_by(self, step: usize) -> Loop<'a, StepBy<S>> {
        assert!(step != 0, "{}: the step must not be 0", self.label());
        self.with_source(|source| source.step_by(step))
    }

    /// Without the first `count` items. If items are owned, those that are skipped are dropped after the loop.
    #[inline]
    pub fn skip(self, count: usize) -> Loop<'a, Skip<S>> {
        self.with_source(|source| source.skip(count))
    }

    /// Only the first `count` items, or all if there are not that many.
    #[inline]
    pub fn take(self, count: usize) -> Loop<'a, Take<S>> {
        self.with_source(|source| source.take(count))
    }

    /// Pairs of an item's position and the item.
    ///
    /// ```
    /// let mut squares = [0; 4];
    /// locsteal::source(&mut squares).enumerate().for_each(|(i, square)| *square = i * i);
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// ```
    #[inline]
    pub fn enumerate(self) -> Loop<'a, Enumerate<S>> {
        self.with_source(S::enumerate)
    }

    /// Pairs of the items that the loop and `other` have at the same position, as long as both have one.
    ///
    /// ```
    /// let (x, mut y) = (vec![1.0, 2.0], vec![10.0, 20.0]);
    /// locsteal::source(&mut y).zip(&x).for_each(|(y, x)| *y += 0.5 * x);
    /// assert_eq!(y, [10.5, 21.0]);
    /// ```
    #[inline]
    pub fn zip<B: IntoParallelSource>(self, other: B) -> Loop<'a, Zip<S, B::Source>> {
        self.with_source(|source| source.zip(other))
    }

    /// Copies of what the items refer to.
    #[inline]
    pub fn copied<'t, T: Copy + 't>(self) -> Loop<'a, Copied<S>>
    where
        S: ParallelSource<Item = &'t T>,
    {
        self.with_source(S::copied)
    }

    /// Clones of what the items refer to, each made when its iteration begins.
    #[inline]
    pub fn cloned<'t, T: Clone + 't>(self) -> Loop<'a, Cloned<S>>
    where
        S: ParallelSource<Item = &'t T>,
    {
        self.with_source(S::cloned)
    }

    /// All pairs of an item and one of `inner`, in the order of two nested loops, as one loop.
    ///
    /// ```
    /// let cells = locsteal::range(0..2).nest(0..3).collect_vec(|(row, column)| 10 * row + column);
    /// assert_eq!(cells, [0, 1, 2, 10, 11, 12]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are more than 2¹²⁸ pairs.
    #[inline]
    #[track_caller]
    pub fn nest<B>(self, inner: B) -> Loop<'a, Nest<S, B::Source>>
    where
        S: RepeatableSource<Item: Clone>,
        B: IntoParallelSource<Source: RepeatableSource>,
    {
        self.with_source(|source| source.nest(inner))
    }
}
