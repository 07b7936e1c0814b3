//! Rectangular nests: two sources of which each item of the one meets each of the other.

use super::{DetachedSource, Length, ParallelSource, RepeatableSource};

/// All pairs of an item of `outer` and an item of `inner`, in the order of two nested loops. Made by
/// [`ParallelSource::nest`].
#[derive(Clone, Copy, Debug)]
pub struct Nest<A, B> {
    outer: A,
    inner: B,
    length: Length,
}

impl<A: ParallelSource, B: ParallelSource> Nest<A, B> {
    /// # Panics
    ///
    /// If there are more than 2¹²⁸ pairs.
    #[track_caller]
    pub(crate) fn new(outer: A, inner: B) -> Self {
        let length = match (outer.length().last(), inner.length().last()) {
            // (a + 1) * (b + 1) - 1
            (Some(a), Some(b)) => a
                .checked_mul(b)
                .and_then(|product| product.checked_add(a)?.checked_add(b))
                .map(Length::from_last)
                .expect("a nest of loops has at most 2^128 iterations"),
            _ => Length::EMPTY,
        };
        Self { outer, inner, length }
    }
}

impl<A: RepeatableSource, B: RepeatableSource> Nest<A, B> {
    /// The positions `first..=last` as rows: for a loop over each, with nothing between its iterations.
    ///
    /// # Panics
    ///
    /// If these are not positions of the nest.
    pub fn rows(&self, first: u128, last: u128) -> Rows<A, B> {
        assert!(
            first <= last && Some(last) <= self.length.last(),
            "positions {first}..={last} of a nest of {}",
            self.length
        );
        let width_last = self.inner.length().last().unwrap_or(0);
        let (first_row, first_column) = divide(first, width_last);
        let (last_row, last_column) = divide(last, width_last);
        Rows {
            // SAFETY: 5. the position is a row and a column of the nest; 6. and 7. are not needed of a `RepeatableSource`.
            outer: unsafe { self.outer.chunk(first_row, last_row) },
            inner: self.inner.clone(),
            position: first,
            column: first_column,
            width_last,
            after: last_row - first_row,
            last_column,
        }
    }
}

impl<A: ParallelSource, B: ParallelSource> Nest<A, B> {
    /// The outer and the inner source.
    #[inline]
    pub(in crate::loops) fn sources(&self) -> (&A, &B) {
        (&self.outer, &self.inner)
    }

    /// The positions that a position has in the outer and in the inner source.
    #[inline]
    pub(in crate::loops) fn coordinates(&self, position: u128) -> (u128, u128) {
        divide(position, self.inner.length().last().unwrap_or(0))
    }
}

/// The row and the column of a position, where a row ends at column `width_last`.
fn divide(position: u128, width_last: u128) -> (u128, u128) {
    match (u64::try_from(position), u64::try_from(width_last)) {
        // The division of 64 bits is much faster.
        (Ok(position), Ok(width_last)) if width_last != u64::MAX => {
            let width = width_last + 1;
            (u128::from(position / width), u128::from(position % width))
        }
        _ => match width_last.checked_add(1) {
            Some(width) => (position / width, position % width),
            None => (0, position),
        },
    }
}

/// A part of one row of a nest.
#[derive(Clone, Debug)]
pub struct Row<T, C> {
    /// The item of the outer source.
    pub outer: T,
    /// The items of the inner source.
    pub inner: C,
    /// The position of the first of them in the nest.
    pub first: u128,
    /// The position of the last of them in the nest.
    pub last: u128,
}

/// The rows that a range of positions of a nest lies in. Made by [`Nest::rows`].
#[derive(Clone, Debug)]
pub struct Rows<A: ParallelSource, B> {
    outer: A::Chunk,
    inner: B,
    position: u128,
    column: u128,
    width_last: u128,
    after: u128,
    last_column: u128,
}

impl<A: RepeatableSource, B: RepeatableSource> Iterator for Rows<A, B> {
    type Item = Row<A::Item, B::Chunk>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let outer = self.outer.next()?;
        let end = if self.after == 0 { self.last_column } else { self.width_last };
        let first = self.position;
        let last = first + (end - self.column);
        // SAFETY: 5. both columns lie in a row, and the first of them is not after the other; 6. and 7. are not needed of a
        // `RepeatableSource`.
        let inner = unsafe { self.inner.chunk(self.column, end) };
        self.after = self.after.saturating_sub(1);
        self.column = 0;
        // Wraps only after the last row.
        self.position = last.wrapping_add(1);
        Some(Row { outer, inner, first, last })
    }
}

impl<A: RepeatableSource, B: RepeatableSource> Rows<A, B> {
    /// The items of the outer source, one for each row that the positions lie in, and the first of the columns.
    #[inline]
    pub(in crate::loops) fn into_outer(self) -> (A::Chunk, u128) {
        (self.outer, self.column)
    }
}

/// The pairs at a range of positions of a nest.
pub struct NestChunk<A: ParallelSource, B: ParallelSource> {
    rows: Rows<A, B>,
    row: Option<(A::Item, B::Chunk)>,
}

impl<A: RepeatableSource<Item: Clone>, B: RepeatableSource> Iterator for NestChunk<A, B> {
    type Item = (A::Item, B::Item);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((outer, inner)) = &mut self.row
                && let Some(item) = inner.next()
            {
                return Some((outer.clone(), item));
            }
            let row = self.rows.next()?;
            self.row = Some((row.outer, row.inner));
        }
    }

    #[inline]
    fn fold<T, F: FnMut(T, Self::Item) -> T>(self, init: T, mut f: F) -> T {
        let begun = self.row.into_iter();
        begun.chain(self.rows.map(|row| (row.outer, row.inner))).fold(
            init,
            |state, (outer, inner)| {
                inner.fold(state, |state, item| f(state, (outer.clone(), item)))
            },
        )
    }
}

// SAFETY:
// 1. The length is a plain value that nothing changes.
// 2. `rows` begins at the row and column of `first`, ends at those of `last`, and has every column of the rows between; the
//    chunk goes through each row in order.
// 3. By this promise of both sources; a chunk has its own copy of the inner one.
// 4. Both sources are repeatable, so that no item is owned by a position.
unsafe impl<A: RepeatableSource<Item: Clone>, B: RepeatableSource> ParallelSource for Nest<A, B> {
    type Item = (A::Item, B::Item);
    type Chunk = NestChunk<A, B>;

    #[inline]
    fn length(&self) -> Length {
        self.length
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> NestChunk<A, B> {
        NestChunk { rows: self.rows(first, last), row: None }
    }
}

// SAFETY: a chunk is made of chunks of the sources and of a copy of one of them.
unsafe impl<A: RepeatableSource<Item: Clone>, B: RepeatableSource> DetachedSource for Nest<A, B> {}

// SAFETY: a chunk is made of chunks of the sources and of a copy of one of them.
unsafe impl<A: RepeatableSource<Item: Clone>, B: RepeatableSource> RepeatableSource for Nest<A, B> {}
