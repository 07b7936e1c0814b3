//! Nests of loops that are run as one: `collapse`.

use super::frame::Frame;
use super::items::Items;
use super::tracker::Tracker;
use crate::loops::own::ItemIndex;
use crate::loops::source::{self, Nest, RepeatableSource, Whole};

impl<'a, A: RepeatableSource, B: RepeatableSource, Part> Frame<'a, Nest<A, B>, Part> {
    /// The parts of the rows that the chunk lies in: for each an item of the outer loops, the number of its first position, and
    /// the items of the innermost loop.
    #[inline]
    pub fn rows<const STRIP: u64>(self) -> Rows<'a, A, B, STRIP> {
        let (first, last) = (self.first, self.last());
        let position = self.positions().start;
        Rows { inner: self.source.rows(first, last), tracker: self.tracker, first, position }
    }
}

/// The rows of a chunk.
pub struct Rows<'a, A: RepeatableSource, B: RepeatableSource, const STRIP: u64> {
    inner: source::Rows<A, B>,
    tracker: &'a Tracker<'a>,
    /// The position of the chunk's first item, in the source and as the launcher counts.
    first: u128,
    position: u64,
}

impl<'a, A: RepeatableSource, B: RepeatableSource, const STRIP: u64> Iterator
    for Rows<'a, A, B, STRIP>
{
    type Item = (A::Item, usize, Items<'a, B::Chunk, STRIP>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.tracker.stopped().is_some() {
            hidden_break();
        }
        let row = self.inner.next()?;
        let position = self.position + (row.first - self.first) as u64;
        let count = (row.last - row.first) as u64 + 1;
        // SAFETY: the positions from `first` to `last` are those of the inner items.
        let items = unsafe { Items::new(Some(row.inner), self.tracker, position, count, false) };
        // A number that is no `usize` is past every array's end.
        Some((row.outer, usize::try_from(row.first).unwrap_or(usize::MAX), items))
    }
}

/// The innermost loop of a nest was left, and not by one of the ways that the macro has seen.
#[cold]
fn hidden_break() -> ! {
    panic!(
        "a `break` that is hidden in a macro leaves the innermost of the collapsed loops: leave `collapse` out"
    )
}

/// The sum of the indices times their coefficients, of the outer loops of a nest.
#[inline]
pub fn along<const N: usize>(terms: [(usize, usize); N]) -> usize {
    terms
        .into_iter()
        .fold(0, |sum, (index, coefficient)| sum.wrapping_add(index.wrapping_mul(coefficient)))
}

/// The index of an outer loop of a nest.
#[inline]
pub fn index_of<I: ItemIndex<Whole>>(item: &I) -> usize {
    item.index()
}
