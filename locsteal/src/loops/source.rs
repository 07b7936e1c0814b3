//! What a parallel loop can run over: sources with a known length and access by position.
//!
//! A serial loop asks an iterator for one item after another. A parallel loop gives each participant a contiguous
//! range of *positions*, and the source makes an ordinary iterator over the items there: a chunk. Inside a chunk the
//! loop is a serial loop, so whatever the compiler does for the serial loop it does for the chunk.

mod adaptors;
mod backward;
mod countable;
mod deque;
mod disjoint;
mod indexed;
mod iterators;
mod length;
#[cfg(feature = "ndarray")]
pub mod ndarray;
mod nest;
mod owned;
mod position_set;
mod ranges;
mod slices;
mod slices_mut;
mod stepped;
#[cfg(test)]
mod tests;
mod words;

pub use adaptors::{Cloned, Copied, Enumerate, EnumerateChunk, Rev, Skip, StepBy, Take, Zip};
pub use backward::{BackwardChunk, BackwardSource};
pub use countable::{Countable, InclusiveChunk, Integer, WideChunk};
pub use deque::DequeSource;
pub use indexed::{ExactSource, First, IndexedSource, OutOfBounds, Second, Shifted, Whole};
pub use iterators::{Seek, SeekSource};
pub use length::Length;
pub use nest::{Nest, NestChunk, Row, Rows};
pub use owned::{OwnedArray, OwnedChunk, OwnedVec};
pub use ranges::{RangeInclusiveSource, RangeSource};
pub use slices::{ChunksExactSource, ChunksSource, ParallelSlice, SliceSource, WindowsSource};
pub use slices_mut::{ChunksExactMutSource, ChunksMutSource, ParallelSliceMut, SliceMutSource};
pub use stepped::{SteppedChunk, SteppedSource};
pub use words::Word;

pub(crate) use owned::drop_elements;
pub(crate) use position_set::PositionSet;

/// A sequence of items that is split by position: its length is known, and any part of it can be reached at once.
///
/// Positions count the iterations of the loop from 0; they are `u128`, since `0..=u64::MAX` has 2⁶⁴ of them.
/// The adaptors of this trait ([`enumerate`](Self::enumerate), [`zip`](Self::zip), ..) mean what those of
/// [`Iterator`] mean.
///
/// # Safety
///
/// An implementation promises:
///
/// 1. **Length.** [`length`](Self::length) gives the same answer as long as the source is not changed through `&mut`.
/// 2. **Items.** The iterator that `chunk(first, last)` returns yields exactly `last - first + 1` items, those of the
///    positions `first..=last` in this order, and then `None`; by whichever of its methods it is asked, and if it is a
///    [`DoubleEndedIterator`] or an [`ExactSizeIterator`], also by those of these traits.
/// 3. **Sharing.** If the type is [`Sync`], chunks of disjoint ranges may be made, used and dropped on several threads at the
///    same time, each on the thread that made it. (A loop that is to run needs a source that is; asking for it there and not
///    here lets the compiler name the type in the way, such as an `Rc`.)
/// 4. **Ownership.** An item that owns something is handed out by the chunk or dropped with it, never both; items of
///    positions that were in no chunk are dropped with the source or not at all.
///
/// Whoever calls [`chunk`](Self::chunk) promises:
///
/// 5. **Bounds.** `first <= last`, and `last` is a position of the source.
/// 6. **Once.** No position is in two chunks, over the whole life of the source, unless the source is a
///    [`RepeatableSource`].
/// 7. **Place.** As long as a chunk lives the source is neither moved, dropped nor borrowed mutably. (Items may live on:
///    what they borrow, they borrow from what the source was made of.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be split by position",
    label = "a parallel loop cannot run over this",
    note = "collect it into a `Vec` first: `let items: Vec<_> = ...collect();`, then loop over `&items`, \
            `&mut items` or `items`",
    note = "integer ranges with an end, slices, arrays, `Vec`, and `enumerate`, `zip`, `skip`, `take`, `step_by`, `rev`, `copied`, \
            `cloned` of them can be split; other types join by implementing `locsteal::ParallelSource`"
)]
pub unsafe trait ParallelSource {
    /// What an iteration gets.
    type Item;

    /// The serial iterator over a contiguous range of positions.
    ///
    /// It stays on the thread that made it.
    type Chunk: Iterator<Item = Self::Item>;

    /// How many items there are.
    fn length(&self) -> Length;

    /// The items of the positions `first..=last`, in order.
    ///
    /// # Safety
    ///
    /// The promises 5 to 7 of the trait.
    unsafe fn chunk(&self, first: u128, last: u128) -> Self::Chunk;

    /// The items from the last to the first.
    #[inline]
    fn rev(self) -> Rev<Self>
    where
        Self: Sized + ParallelSource<Chunk: DoubleEndedIterator>,
    {
        Rev::new(self)
    }

    /// The first item and then every `step`-th.
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    #[inline]
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self>
    where
        Self: Sized,
    {
        StepBy::new(self, step)
    }

    /// The items but for the first `count`.
    ///
    /// If items are owned, those that are skipped are dropped with the source, after the loop.
    #[inline]
    fn skip(self, count: usize) -> Skip<Self>
    where
        Self: Sized,
    {
        Skip::new(self, count)
    }

    /// The first `count` items, or all if there are not that many.
    #[inline]
    fn take(self, count: usize) -> Take<Self>
    where
        Self: Sized,
    {
        Take::new(self, Length::from(count))
    }

    /// Pairs of an item's position and the item.
    #[inline]
    fn enumerate(self) -> Enumerate<Self>
    where
        Self: Sized,
    {
        Enumerate::new(self)
    }

    /// Pairs of the items that `self` and `other` have at the same position, as long as both have one.
    #[inline]
    fn zip<B: IntoParallelSource>(self, other: B) -> Zip<Self, B::Source>
    where
        Self: Sized,
    {
        Zip::new(self, other.into_parallel_source())
    }

    /// Copies of what the items refer to.
    #[inline]
    fn copied<'a, T: Copy + 'a>(self) -> Copied<Self>
    where
        Self: Sized + ParallelSource<Item = &'a T>,
    {
        Copied::new(self)
    }

    /// Clones of what the items refer to, each made when its iteration begins.
    #[inline]
    fn cloned<'a, T: Clone + 'a>(self) -> Cloned<Self>
    where
        Self: Sized + ParallelSource<Item = &'a T>,
    {
        Cloned::new(self)
    }

    /// All pairs of an item of `self` and an item of `inner`, in the order of two nested loops.
    ///
    /// # Panics
    ///
    /// If there are more than 2¹²⁸ pairs.
    #[inline]
    #[track_caller]
    fn nest<B: IntoParallelSource<Source: RepeatableSource>>(
        self,
        inner: B,
    ) -> Nest<Self, B::Source>
    where
        Self: RepeatableSource,
    {
        Nest::new(self, inner.into_parallel_source())
    }
}

/// A source whose chunks refer only to what the source was made of, such as a slice, and not to the source itself.
///
/// # Safety
///
/// The promises 1 to 4 of [`ParallelSource`] hold without 7: a chunk may outlive the source.
#[diagnostic::on_unimplemented(
    message = "the chunks of `{Self}` cannot be handed out",
    label = "they point into the source itself",
    note = "loop over `&items` or `&mut items` instead of `items`"
)]
pub unsafe trait DetachedSource: ParallelSource {}

/// A source whose positions may be in any number of chunks, such as a range or a slice that is only read.
///
/// # Safety
///
/// The promises 1 to 4 of [`ParallelSource`] hold without 6 (nor 7): a chunk makes its items anew, from something that is only
/// read. A clone has as many items as the original.
#[diagnostic::on_unimplemented(
    message = "the items of `{Self}` can be had only once",
    label = "a loop of a nest runs over the same items again and again",
    note = "loop over a range of integers, or over `&items`"
)]
pub unsafe trait RepeatableSource: DetachedSource + Clone {}

/// What can be turned into a [`ParallelSource`], as [`IntoIterator`] is what can be turned into an iterator.
///
/// Implemented for every source, for integer ranges, for slices, arrays, `Vec`, boxed slices and `VecDeque` (by `&`,
/// `&mut` and by value), and for those iterators of the standard library that can be split.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be split by position",
    label = "a parallel loop cannot run over this",
    note = "collect it into a `Vec` first: `let items: Vec<_> = ...collect();`, then loop over `&items`, \
            `&mut items` or `items`",
    note = "integer ranges with an end, slices, arrays, `Vec`, and `enumerate`, `zip`, `skip`, `take`, `step_by`, `rev`, `copied`, \
            `cloned` of them can be split; other types join by implementing `locsteal::ParallelSource`"
)]
pub trait IntoParallelSource {
    /// What an iteration gets.
    type Item;

    /// The source that `self` becomes.
    type Source: ParallelSource<Item = Self::Item>;

    /// Makes the source.
    fn into_parallel_source(self) -> Self::Source;
}

#[diagnostic::do_not_recommend]
impl<S: ParallelSource> IntoParallelSource for S {
    type Item = S::Item;
    type Source = S;

    fn into_parallel_source(self) -> S {
        self
    }
}
