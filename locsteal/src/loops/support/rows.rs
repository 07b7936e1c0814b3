//! Nests of loops that are run as one: `collapse`.

use std::ops::Range;

use super::frame::{Frame, how_many_fit};
use super::items::{Indexed, Items};
use super::read::{Other, Slice, View};
use super::tracker::Tracker;
use crate::loops::own::{Area, Elements, Indices, ItemIndex, Stride};
use crate::loops::source::{Nest, RepeatableSource, Whole};

impl<'a, A: RepeatableSource, B: RepeatableSource, Part> Frame<'a, Nest<A, B>, Part> {
    /// The parts of the rows that the chunk lies in: for each an item of the outer loops, the number of its first position, and
    /// a frame of the innermost loop.
    #[inline]
    pub fn rows(self) -> Rows<'a, A, B> {
        let positions = self.positions();
        let (outer, column) = self.source.rows(self.first, self.last()).into_outer();
        let (_, inner) = self.source.sources();
        let width_last = inner.length().last().unwrap_or(0);
        Rows {
            outer,
            inner,
            tracker: self.tracker,
            column,
            // Of rows that are longer than a chunk can be, a chunk has no end.
            rest: counted(width_last - column),
            width: counted(width_last),
            position: positions.start,
            after: positions.end,
            // A number that is no `usize` is past every array's end.
            number: usize::try_from(self.first).unwrap_or(usize::MAX),
        }
    }
}

/// How many positions there are up to the last one.
fn counted(last: u128) -> u64 {
    u64::try_from(last).unwrap_or(u64::MAX).saturating_add(1)
}

/// The rows of a chunk.
pub struct Rows<'a, A: RepeatableSource, B: RepeatableSource> {
    /// An item for each row.
    outer: A::Chunk,
    inner: &'a B,
    tracker: &'a Tracker<'a>,
    /// Where the next row begins.
    column: u128,
    /// How long the next row is, and each one after it, as far as the chunk reaches.
    rest: u64,
    width: u64,
    /// The positions that are left, as the launcher counts.
    position: u64,
    after: u64,
    /// The number of the next position in the nest.
    number: usize,
}

impl<'a, A: RepeatableSource, B: RepeatableSource> Iterator for Rows<'a, A, B> {
    type Item = (A::Item, usize, Frame<'a, B, Whole>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.tracker.stopped().is_some() {
            hidden_break();
        }
        let outer = self.outer.next()?;
        let count = self.rest.min(self.after - self.position);
        // SAFETY: from this column on the row has `rest` positions, and `count` is no more. It is not 0: a row is not empty, and
        // `outer` has an item for each row in which positions of the chunk lie, so that some are left.
        let row =
            unsafe { Frame::of_row(self.inner, self.tracker, self.column, count, self.position) };
        let number = self.number;
        self.column = 0;
        self.rest = self.width;
        self.position += count;
        self.number = number.saturating_add(count as usize);
        Some((outer, number, row))
    }
}

// What follows is of the frame of a row, which is made anew for each row: so it counts as the machine does where it can. The
// positions of a row are a range of the innermost source.
impl<S> Frame<'_, S, Whole> {
    /// After all that is needed: there are items, or the first one fails at once.
    #[inline]
    pub fn settle_along(&mut self) {
        // From what the compiler sees that as many iterations are run as elements are taken.
        self.last = self.first.wrapping_add(u128::from(self.count.wrapping_sub(1)));
        self.settle();
    }

    /// Each iteration is certain to use the element of an array of `len` elements whose index is its own plus `offset`, of which
    /// those from `begin` on are at hand.
    #[inline]
    fn reach_along(
        &mut self,
        name: &'static str,
        offset: isize,
        begin: usize,
        at_hand: usize,
        len: usize,
        at: &'static str,
    ) where
        S: Indices<Whole, Item: ItemIndex<Whole>>,
    {
        let rises = matches!(S::STRIDE, Stride::Up);
        // Of a row that was cut to nothing, only where indices rise can the lowest be asked for.
        let low = if rises { self.low_item() } else { 0 };
        let skip = low.wrapping_add_signed(offset).wrapping_sub(begin);
        // What is no index is a large one.
        let fits = rises
            && (S::Item::EXACT || isize::try_from(low).is_ok())
            && skip <= at_hand
            && self.count <= (at_hand - skip) as u64;
        if !fits {
            let (begin, offset) = (begin as i128, offset as i128);
            let valid = begin - offset..begin - offset + at_hand as i128;
            let room = room(self.source, self.first, self.count, valid);
            self.cut(room, name, offset, len, at);
        }
    }

    /// Each iteration is certain to index an array that it owns by element, with its own index plus `base`.
    #[inline]
    pub fn need_along<T>(&mut self, area: &Area, part: &[T], base: usize, at: &'static str)
    where
        S: Indices<Whole, Item: ItemIndex<Whole>>,
    {
        let (begin, at_hand, len) = (area.first(), part.len(), area.whole());
        self.reach_along(area.name(), base as isize, begin, at_hand, len, at);
    }

    /// How many indices there are from the lowest to the highest.
    #[inline]
    fn span_along(&self) -> usize
    where
        S: Indices<Whole, Item: ItemIndex<Whole>>,
    {
        match S::STRIDE {
            Stride::Up | Stride::Down => self.count as usize,
            Stride::Steps => self.span() as usize,
        }
    }

    /// The elements that the iterations own, one each, at their own index plus `base`: after [`need_along`](Self::need_along) and
    /// [`settle_along`](Self::settle_along).
    #[inline]
    pub fn elements_along<'p, T>(
        &self,
        area: Area,
        part: &'p mut [T],
        base: usize,
    ) -> Elements<'p, T>
    where
        S: Indices<Whole, Item: ItemIndex<Whole>>,
    {
        let low = base.wrapping_add(self.low_item());
        let skip = low.wrapping_sub(area.first());
        area.narrow(&mut part[skip..][..self.span_along()], low, S::STRIDE == Stride::Steps)
    }
}

/// The items of a row.
#[inline]
pub fn items_along<'a, const STRIP: u64, S: Indices<Whole>>(
    row: Frame<'a, S, Whole>,
) -> Items<'a, impl Iterator<Item = S::Item>, STRIP> {
    row.items_along()
}

/// The items of a row behind their indices.
#[inline]
pub fn indexed_along<'a, const STRIP: u64, S: Indices<Whole, Item: ItemIndex<Whole>>>(
    row: Frame<'a, S, Whole>,
) -> Indexed<Items<'a, impl Iterator<Item = S::Item>, STRIP>, Whole> {
    row.items_along().indexed()
}

/// How many items from the first on have a valid index.
#[cold]
#[inline(never)]
fn room<S: Indices<Whole>>(source: &S, first: u128, count: u64, valid: Range<i128>) -> u64 {
    how_many_fit(source, first, count, valid)
}

impl<'r, T> Slice<'r, T> {
    /// Each iteration of a row is certain to read the element whose index is its own plus `offset`.
    #[inline]
    pub fn need_along<S: Indices<Whole, Item: ItemIndex<Whole>>>(
        &self,
        row: &mut Frame<'_, S, Whole>,
        name: &'static str,
        offset: isize,
        at: &'static str,
    ) {
        row.reach_along(name, offset, 0, self.len(), self.len(), at);
    }

    /// What the row reads: after [`need_along`](Self::need_along) with the same offset.
    ///
    /// # Panics
    ///
    /// If the slice does not have it all.
    #[inline]
    pub fn view_along<S: Indices<Whole, Item: ItemIndex<Whole>>>(
        &self,
        row: &Frame<'_, S, Whole>,
        offset: isize,
    ) -> View<'r, T> {
        let view = self.view_from(row.low_item(), offset, row.span_along());
        view.expect("`need_along` has seen to it that the elements are there")
    }
}

impl<'r, X: ?Sized> Other<'r, X> {
    /// Does nothing.
    #[allow(clippy::unused_self, reason = "as for a slice")]
    #[inline]
    pub fn need_along<S>(
        &self,
        _row: &mut Frame<'_, S, Whole>,
        _name: &'static str,
        _offset: isize,
        _at: &'static str,
    ) {
    }

    /// The thing itself.
    #[inline]
    pub fn view_along<S>(&self, _row: &Frame<'_, S, Whole>, _offset: isize) -> &'r X {
        self.array()
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
