//! Which part of something else an iteration owns: sources whose items hold an index.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use super::{DetachedSource, Length, ParallelSource};

/// A source that can be shared and whose chunks can be run through from both ends and know how many items they have left, as
/// those of slices can. Implemented for every source of which that is true.
pub trait ExactSource:
    ParallelSource<Chunk: DoubleEndedIterator + ExactSizeIterator> + Sync
{
}

impl<S> ExactSource for S where
    S: ParallelSource<Chunk: DoubleEndedIterator + ExactSizeIterator> + Sync
{
}

/// Where in an item the index stands that says what the iteration owns: the item is the index.
#[derive(Clone, Copy, Debug)]
pub enum Whole {}

/// Where in an item the index stands: in the first half of a pair, there at `P`.
#[derive(Clone, Copy, Debug)]
pub struct First<P = Whole>(PhantomData<P>);

/// Where in an item the index stands: in the second half of a pair, there at `P`.
#[derive(Clone, Copy, Debug)]
pub struct Second<P = Whole>(PhantomData<P>);

/// A source whose items hold an index, so that the iteration with index `i` can own the `i`-th part of something else.
///
/// `Part` says where in the item the index stands: an integer range is an `IndexedSource<Whole>`,
/// `xs.iter().enumerate()` and `(0..n).rev().zip(xs)` are an `IndexedSource<First>`, since their items are pairs that begin
/// with it.
///
/// No two items of a source hold the same index, and from one position to the next the index only grows, or only
/// shrinks.
#[diagnostic::on_unimplemented(
    message = "an iteration over `{Self}` has no index that says which element it owns",
    label = "no index there",
    note = "loop over a range of integers, or over `.enumerate()`"
)]
pub trait IndexedSource<Part = Whole>: ParallelSource {
    /// What [`align`](Self::align) makes of `W`.
    type Aligned<W: ExactSource>: ExactSource<Item = W::Item>;

    /// The index that the item at `position` holds, or `i128::MAX` if it is larger than that.
    fn index(&self, position: u128) -> i128;

    /// Picks from `whole` what the iterations own: where `self` has an item with index `i`, the result has the item that
    /// `whole` has at position `i`. The result is as long as `self`.
    ///
    /// An index that is not a position of `whole` makes the chunk that would hold it panic;
    /// [`checked_align`](Self::checked_align) finds it before the loop.
    fn align<W: ExactSource>(&self, whole: W) -> Self::Aligned<W>;

    /// Like [`align`](Self::align), but checks all indices first.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] if an index of `self` is not a position of `whole`.
    fn checked_align<W: ExactSource>(&self, whole: W) -> Result<Self::Aligned<W>, OutOfBounds> {
        self.check_indices(whole.length())?;
        Ok(self.align(whole))
    }

    /// Whether all indices are below `length`.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] if one is not.
    fn check_indices(&self, length: Length) -> Result<(), OutOfBounds> {
        if let Some(last) = self.length().last() {
            for index in [self.index(0), self.index(last)] {
                if u128::try_from(index).ok() > length.last() || index < 0 {
                    return Err(OutOfBounds { index, length });
                }
            }
        }
        Ok(())
    }
}

/// An iteration's index is not a position of what the iteration should own a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// The index, or `i128::MAX` if it is larger than that.
    pub index: i128,
    /// How many parts there are.
    pub length: Length,
}

impl fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, length } = self;
        write!(f, "the loop's index reaches {index}, but the length is {length}")
    }
}

impl Error for OutOfBounds {}

/// A part of a source whose positions are those of the whole source less a shift.
#[derive(Clone, Copy, Debug)]
pub struct Shifted<W> {
    whole: W,
    shift: i128,
    length: Length,
}

impl<W: ParallelSource> Shifted<W> {
    /// Has at position `p` what `whole` has at `p + shift`. A chunk that asks for what `whole` does not have panics.
    #[inline]
    pub(super) fn new(whole: W, shift: i128, length: Length) -> Self {
        Self { whole, shift, length }
    }
}

// SAFETY:
// 1. The length is a plain value that nothing changes.
// 2. By this promise of `whole`, asked for as many items; where `whole` does not have them, `chunk` does not return.
// 3. and 4. By the same promises of `whole`.
unsafe impl<W: ParallelSource> ParallelSource for Shifted<W> {
    type Item = W::Item;
    type Chunk = W::Chunk;

    #[inline]
    fn length(&self) -> Length {
        self.length
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> W::Chunk {
        // `None` for an index that is below zero or does not fit, and is less than any last position then.
        let first_index = first.checked_add_signed(self.shift);
        let last_index = last.checked_add_signed(self.shift);
        match (first_index, last_index) {
            (Some(first), Some(last)) if Some(last) <= self.whole.length().last() => {
                // SAFETY: 5. is what was just checked, and adding the same number keeps the order; 6. since shifting maps no
                // two positions to one; 7. since `whole` is a part of `self`.
                unsafe { self.whole.chunk(first, last) }
            }
            _ => out_of_bounds(self.shift, first, last, self.whole.length()),
        }
    }
}

// SAFETY: a chunk is a chunk of `whole`.
unsafe impl<W: DetachedSource> DetachedSource for Shifted<W> {}

#[cold]
fn out_of_bounds(shift: i128, first: u128, last: u128, length: Length) -> ! {
    let index =
        |position: u128| i128::try_from(position).unwrap_or(i128::MAX).saturating_add(shift);
    let index = if index(first) < 0 { index(first) } else { index(last) };
    panic!("{}", OutOfBounds { index, length })
}
