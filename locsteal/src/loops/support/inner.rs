//! Serial loops inside of a body.
//!
//! Where each iteration of an inner `for j in a..b` uses `x[e + j]`, with `e` fixed, and none leaves the loop, the loop takes a
//! slice exactly as long as it is itself: so the compiler needs no check per element. An array that does not have it all makes
//! the loop fail before it begins.

use std::ops::Range;

use super::Distance;
use super::read::{Other, ReadAny, ReadSlice, Slice, SliceLike, View};
use crate::loops::own::{At, ItemIndex, Window};
use crate::loops::source::{Integer, Whole};

/// A serial loop over a range, before it runs.
pub struct Inner<T> {
    range: Range<T>,
}

impl<T: Integer + ItemIndex<Whole>> Inner<T> {
    /// The loop over `range`.
    #[inline]
    pub fn new(range: Range<T>) -> Self {
        Self { range }
    }

    /// Whether there are no iterations.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// How many iterations there are. There are some.
    #[inline]
    fn count(&self) -> usize {
        // More iterations than `usize` counts are more than any array has elements.
        self.range.start.saturating_steps_to(self.range.end)
    }

    /// The index plus `shift` of the first iteration, as the body computes it.
    #[inline]
    fn first(&self, shift: isize) -> usize {
        self.range.start.index().wrapping_add_signed(shift)
    }

    /// The part of a window that the loop uses, at its own index plus `shift`.
    ///
    /// # Panics
    ///
    /// If the window does not have it all.
    #[inline]
    pub fn narrow<'w, E>(&self, elements: &'w mut [E], window: At, shift: isize) -> Window<'w, E> {
        let first = self.first(shift);
        let indices = window.indices();
        let skip = first.wrapping_sub(indices.start);
        match elements.get_mut(skip..).and_then(|rest| rest.get_mut(..self.count())) {
            Some(row) => window.narrow(row, first),
            None => {
                outside(window, if first < indices.start { first } else { first.max(indices.end) })
            }
        }
    }

    /// The iterations: as many as the rows are long, counted alike, so that the compiler sees that no index leaves them.
    #[inline]
    pub fn iterations(self) -> impl Iterator<Item = T> {
        let (first, count) = (self.range.start, self.count());
        (0..count).map(move |k| first.forward(k as u128))
    }
}

/// The loop uses an element that the window does not have.
#[cold]
#[inline(never)]
fn outside(window: At, index: usize) -> ! {
    window.offset(index);
    unreachable!("the index is not in the window")
}

/// Something that is indexed in a serial loop inside of a body.
pub struct RowReading<'r, X: ?Sized>(&'r X);

impl<'r, X: ?Sized> RowReading<'r, X> {
    /// Of this.
    #[inline]
    pub fn new(array: &'r X) -> Self {
        Self(array)
    }
}

impl<'r, X: SliceLike<'r> + ?Sized> ReadSlice for RowReading<'r, X> {
    type Array = X::Array;

    #[inline]
    fn array(&self) -> Self::Array {
        self.0.slice()
    }
}

impl<'r, X: ?Sized> ReadAny for &RowReading<'r, X> {
    type Array = Other<'r, X>;

    #[inline]
    fn array(&self) -> Self::Array {
        Other::new(self.0)
    }
}

impl<'r, E> Slice<'r, E> {
    /// What the loop reads, at its own index plus `shift`.
    ///
    /// # Panics
    ///
    /// If the slice does not have it all.
    #[inline]
    pub fn row<T: Integer + ItemIndex<Whole>>(
        &self,
        inner: &Inner<T>,
        shift: isize,
        name: &'static str,
        at: &'static str,
    ) -> View<'r, E> {
        let first = inner.first(shift);
        match self.view_from(inner.range.start.index(), shift, inner.count()) {
            Some(view) => view,
            None => too_short(name, first, self.len(), at),
        }
    }
}

#[cold]
#[inline(never)]
fn too_short(name: &str, first: usize, len: usize, at: &str) -> ! {
    // Where the sum is negative, it has wrapped.
    let index =
        if first > isize::MAX as usize { first as isize as i128 } else { first.max(len) as i128 };
    super::tracker::out_of_bounds(name, index, len, at)
}

impl<'r, X: ?Sized> Other<'r, X> {
    /// The thing itself.
    #[inline]
    pub fn row<T>(
        &self,
        _inner: &Inner<T>,
        _shift: isize,
        _name: &'static str,
        _at: &'static str,
    ) -> &'r X {
        self.array()
    }
}

/// The sum of distances: what is added to a loop's index.
#[inline]
pub fn add<D: Distance>(sum: isize, distance: D) -> isize {
    sum.wrapping_add(distance.distance())
}

/// The sum less a distance.
#[inline]
pub fn subtract<D: Distance>(sum: isize, distance: D) -> isize {
    sum.wrapping_sub(distance.distance())
}
