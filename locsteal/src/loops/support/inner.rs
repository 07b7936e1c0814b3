//! Serial loops inside of a body.
//!
//! Where each iteration of an inner `for j in a..b` is certain to use `x[e + j]`, with `e` fixed, the loop is treated as a chunk is:
//! it is cut to what the array has, and takes a slice exactly as long as it is itself.

use std::ops::Range;

use super::Distance;
use super::read::{Other, ReadAny, ReadSlice, Slice, SliceLike, View};
use crate::loops::own::{At, ItemIndex, Window};
use crate::loops::source::{Integer, Whole};

/// A serial loop over a range, before it runs.
pub struct Inner<T> {
    start: T,
    count: u64,
    lack: Option<Lack>,
}

/// An array that ends before the loop does.
#[derive(Clone, Copy)]
enum Lack {
    Slice { name: &'static str, index: i128, len: usize, at: &'static str },
    Window { window: At, index: i128 },
}

impl<T: Integer + ItemIndex<Whole>> Inner<T> {
    /// The loop over `range`.
    #[inline]
    pub fn new(range: Range<T>) -> Self {
        let count = if range.start < range.end {
            u64::try_from(range.start.steps_to(range.end)).unwrap_or(u64::MAX)
        } else {
            0
        };
        Self { start: range.start, count, lack: None }
    }

    /// Whether there are no iterations.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The index plus `shift` of the first iteration, as the body computes it.
    #[inline]
    fn first(&self, shift: isize) -> usize {
        self.start.index().wrapping_add_signed(shift)
    }

    /// Cuts off the iterations from the first one on whose index plus `shift` is not `valid`.
    #[inline]
    fn keep(&mut self, valid: Range<i128>, shift: isize, lack: impl FnOnce(i128) -> Lack) {
        let first = self.start.saturating_i128().saturating_add(shift as i128);
        let room = if first < valid.start { 0 } else { (valid.end - first).max(0) as u64 };
        if room < self.count {
            self.lack = Some(lack(first + i128::from(room)));
        }
        self.count = self.count.min(room);
    }

    /// Each iteration is certain to use the element of a window whose index is the loop's plus `shift`.
    #[inline]
    pub fn need_window(&mut self, window: At, shift: isize) {
        let indices = window.indices();
        self.keep(indices.start as i128..indices.end as i128, shift, |index| Lack::Window {
            window,
            index,
        });
    }

    /// The part of a window that the loop uses: after [`need_window`](Self::need_window) with the same shift.
    #[inline]
    pub fn narrow<'w, E>(&self, elements: &'w mut [E], window: At, shift: isize) -> Window<'w, E> {
        let first = self.first(shift);
        let skip = if self.count == 0 { 0 } else { first.wrapping_sub(window.indices().start) };
        window.narrow(&mut elements[skip..][..self.count as usize], first)
    }

    /// The iterations.
    #[inline]
    pub fn iterations(self) -> Iterations<T>
    where
        Range<T>: Iterator<Item = T>,
    {
        // Not more than there were, so that the end exists.
        let end = self.start.forward(u128::from(self.count));
        Iterations { values: self.start..end, lack: self.lack }
    }
}

/// The iterations of a serial loop.
pub struct Iterations<T> {
    values: Range<T>,
    lack: Option<Lack>,
}

impl<T> Iterator for Iterations<T>
where
    Range<T>: Iterator<Item = T>,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let value = self.values.next();
        if value.is_none()
            && let Some(lack) = self.lack
        {
            fail(lack);
        }
        value
    }
}

#[cold]
#[inline(never)]
fn fail(lack: Lack) -> ! {
    match lack {
        Lack::Slice { name, index, len, at } => super::tracker::out_of_bounds(name, index, len, at),
        Lack::Window { window, index } => {
            window.offset(usize::try_from(index).unwrap_or(usize::MAX));
            unreachable!("the index is not in the window")
        }
    }
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

impl<'r, X: SliceLike + ?Sized> ReadSlice for RowReading<'r, X> {
    type Array = Slice<'r, X::Element>;

    #[inline]
    fn array(&self) -> Self::Array {
        Slice::new(self.0.slice())
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
    /// Each iteration is certain to read the element whose index is the loop's plus `shift`.
    #[inline]
    pub fn need_row<T: Integer + ItemIndex<Whole>>(
        &self,
        inner: &mut Inner<T>,
        shift: isize,
        name: &'static str,
        at: &'static str,
    ) {
        let len = self.len();
        inner.keep(0..len as i128, shift, |index| Lack::Slice { name, index, len, at });
    }

    /// What the loop reads: after [`need_row`](Self::need_row) with the same shift.
    #[inline]
    pub fn row<T: Integer + ItemIndex<Whole>>(
        &self,
        inner: &Inner<T>,
        shift: isize,
    ) -> View<'r, E> {
        self.view_from(inner.first(shift), inner.count as usize)
    }
}

impl<'r, X: ?Sized> Other<'r, X> {
    /// Does nothing.
    #[inline]
    #[allow(clippy::unused_self, reason = "as for a slice")]
    pub fn need_row<T>(
        &self,
        _inner: &mut Inner<T>,
        _shift: isize,
        _name: &'static str,
        _at: &'static str,
    ) {
    }

    /// The thing itself.
    #[inline]
    pub fn row<T>(&self, _inner: &Inner<T>, _shift: isize) -> &'r X {
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
