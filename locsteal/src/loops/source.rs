//! What a parallel loop can run over: sources with a known length and access by position.
//!
//! A serial loop asks an iterator for one item after another. A parallel loop gives each participant a contiguous
//! range of *positions*, and the source makes an ordinary iterator over the items there: a chunk. Inside a chunk the
//! loop is a serial loop, so whatever the compiler does for the serial loop it does for the chunk.

mod length;

pub use length::Length;

use std::error::Error;
use std::fmt;

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
///    positions `first..=last` in this order, and then `None`.
/// 3. **Sharing.** Chunks of disjoint ranges may be made, used and dropped on several threads at the same time, each
///    on the thread that made it.
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
    note = "integer ranges, slices, arrays, `Vec`, and `enumerate`, `zip`, `skip`, `take`, `step_by`, `rev`, `copied`, \
            `cloned` of them can be split; other types join by implementing `locsteal::ParallelSource`"
)]
pub unsafe trait ParallelSource: Sync {
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
}

/// A source whose positions may be in any number of chunks.
///
/// # Safety
///
/// Promise 6 of [`ParallelSource`] is not needed for the other promises to hold: each chunk makes its items anew, from
/// something that is only read.
pub unsafe trait RepeatableSource: ParallelSource {}

/// What can be turned into a [`ParallelSource`], as [`IntoIterator`] is what can be turned into an iterator.
///
/// Implemented for every source, for integer ranges, for slices, arrays, `Vec`, boxed slices and `VecDeque` (by `&`,
/// `&mut` and by value), and for those iterators of the standard library that can be split.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be split by position",
    label = "a parallel loop cannot run over this",
    note = "collect it into a `Vec` first: `let items: Vec<_> = ...collect();`, then loop over `&items`, \
            `&mut items` or `items`",
    note = "integer ranges, slices, arrays, `Vec`, and `enumerate`, `zip`, `skip`, `take`, `step_by`, `rev`, `copied`, \
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

impl<S: ParallelSource> IntoParallelSource for S {
    type Item = S::Item;
    type Source = S;

    fn into_parallel_source(self) -> S {
        self
    }
}

/// Which part of an item is the index that names what the iteration owns: the item itself.
#[derive(Clone, Copy, Debug)]
pub enum Whole {}

/// Which part of an item is the index: within the first half of a pair, the part that `P` says.
#[derive(Clone, Copy, Debug)]
pub struct First<P = Whole>(std::marker::PhantomData<P>);

/// Which part of an item is the index: within the second half of a pair, the part that `P` says.
#[derive(Clone, Copy, Debug)]
pub struct Second<P = Whole>(std::marker::PhantomData<P>);

/// A source whose items hold an index, so that the iteration with index `i` can own the `i`-th part of something else.
///
/// `Part` says where in the item the index stands: an integer range is an `IndexedSource<Whole>`,
/// `xs.iter().enumerate()` an `IndexedSource<First>`, and `(0..n).rev().zip(xs)` too.
///
/// No two items of a source hold the same index.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which element an iteration owns",
    label = "the items of this have no index there",
    note = "loop over a range of integers, or over `.enumerate()`"
)]
pub trait IndexedSource<Part = Whole>: ParallelSource {
    /// What [`align`](Self::align) makes of `W`.
    type Aligned<W: ParallelSource>: ParallelSource<Item = W::Item>;

    /// Picks from `whole` what the iterations own: at the position where `self` has an item with index `i`, the result has
    /// the item that `whole` has at position `i`.
    ///
    /// The result is as long as `self`. So `self.zip(self.align(whole)?)` gives each iteration its own part.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] if an index of `self` is not a position of `whole`.
    fn align<W: ParallelSource>(&self, whole: W) -> Result<Self::Aligned<W>, OutOfBounds>;
}

/// An iteration's index is not a position of what it should own a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// The index that is farthest out; `i128::MAX` if it is larger than that.
    pub index: i128,
    /// How many parts there are.
    pub length: Length,
}

impl fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the loop reaches index {}, but the length is {}", self.index, self.length)
    }
}

impl Error for OutOfBounds {}
