//! The part of an array that one iteration owns.

use std::ops::{
    Index, IndexMut, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};
use std::slice::SliceIndex;

use super::{Area, ParallelArray};

/// The element that an iteration owns; `y[i]` with the loop's index.
// Not `Debug`: what would be shown is not the array.
#[allow(missing_debug_implementations, reason = "that")]
pub struct Element<'a, T> {
    /// The element, or nothing.
    pub window: &'a mut [T],
    index: usize,
    area: Area,
}

impl<'a, T> Element<'a, T> {
    #[inline]
    pub(super) fn new(window: &'a mut [T], index: usize, area: Area) -> Self {
        Self { window, index, area }
    }

    /// Which element of which array it is.
    #[inline]
    pub(super) fn place(&self) -> (usize, Area) {
        (self.index, self.area)
    }

    /// The length of the whole array.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "below")]
    pub fn len(&self) -> usize {
        self.area.whole()
    }

    /// Whether the whole array is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.area.whole() == 0
    }

    /// Where the window lies.
    #[inline]
    pub fn at(&self) -> At {
        At { first: self.index, size: self.window.len(), area: self.area, each: true }
    }
}

impl<T> Index<usize> for Element<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        &self.window[self.at().offset(index)]
    }
}

impl<T> IndexMut<usize> for Element<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let offset = self.at().offset(index);
        &mut self.window[offset]
    }
}

/// The chunk that an iteration owns: `own(c.chunks(m))`.
///
/// It offers what means the same of the chunk as of the array: what takes the array's ordinary indices, and its length.
#[allow(missing_debug_implementations, reason = "as of `Element`")]
pub struct Window<'a, T> {
    /// The chunk.
    pub window: &'a mut [T],
    first: usize,
    area: Area,
}

impl<'a, T> Window<'a, T> {
    #[inline]
    pub(super) fn new(window: &'a mut [T], first: usize, area: Area) -> Self {
        Self { window, first, area }
    }

    /// The length of the whole array.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "below")]
    pub fn len(&self) -> usize {
        self.area.whole()
    }

    /// Whether the whole array is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.area.whole() == 0
    }

    /// Where the window lies.
    #[inline]
    pub fn at(&self) -> At {
        At { first: self.first, size: self.window.len(), area: self.area, each: false }
    }

    /// The element with this index of the array, or the elements with these indices, if the array has them.
    ///
    /// # Panics
    ///
    /// If it has them, and they are not in the window.
    #[inline]
    #[track_caller]
    pub fn get<I>(&self, index: I) -> Option<&<I::Within as SliceIndex<[T]>>::Output>
    where
        I: WindowIndex<Within: SliceIndex<[T]>>,
    {
        index.is_in(self.len()).then(|| &self.window[self.at().place(index)])
    }

    /// The element with this index of the array, or the elements with these indices, if the array has them.
    ///
    /// # Panics
    ///
    /// If it has them, and they are not in the window.
    #[inline]
    #[track_caller]
    pub fn get_mut<I>(&mut self, index: I) -> Option<&mut <I::Within as SliceIndex<[T]>>::Output>
    where
        I: WindowIndex<Within: SliceIndex<[T]>>,
    {
        if !index.is_in(self.len()) {
            return None;
        }
        let within = self.at().place(index);
        Some(&mut self.window[within])
    }

    /// Swaps the elements with these indices of the array.
    ///
    /// # Panics
    ///
    /// If one of them is not in the window.
    #[inline]
    #[track_caller]
    pub fn swap(&mut self, a: usize, b: usize) {
        let (a, b) = (self.at().offset(a), self.at().offset(b));
        self.window.swap(a, b);
    }
}

impl<T> ParallelArray for Window<'_, T> {
    type Element = T;

    #[inline]
    fn elements(&mut self) -> &mut [T] {
        self.window
    }

    #[inline]
    fn extent(&self) -> Option<(usize, usize)> {
        Some((self.first, self.area.whole()))
    }
}

impl<T> Index<usize> for Window<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        &self.window[self.at().offset(index)]
    }
}

impl<T> IndexMut<usize> for Window<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let offset = self.at().offset(index);
        &mut self.window[offset]
    }
}

macro_rules! index_by_range {
    ($($range:ty),* $(,)?) => {$(
        impl<T> Index<$range> for Window<'_, T> {
            type Output = [T];

            #[inline]
            #[track_caller]
            fn index(&self, range: $range) -> &[T] {
                &self.window[self.at().range(range)]
            }
        }

        impl<T> IndexMut<$range> for Window<'_, T> {
            #[inline]
            #[track_caller]
            fn index_mut(&mut self, range: $range) -> &mut [T] {
                let range = self.at().range(range);
                &mut self.window[range]
            }
        }
    )*};
}

index_by_range!(
    Range<usize>,
    RangeInclusive<usize>,
    RangeFrom<usize>,
    RangeTo<usize>,
    RangeToInclusive<usize>,
    RangeFull,
);

/// Where an iteration's window lies in its array: turns the array's indices into the window's.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The index of the window's first element.
    first: usize,
    size: usize,
    area: Area,
    each: bool,
}

impl At {
    /// The indices of the window's elements in the array.
    #[inline]
    pub(in crate::loops) fn indices(self) -> Range<usize> {
        self.first..self.first + self.size
    }

    /// Some elements of the window, the first of which has the index `first` in the array.
    #[inline]
    pub(in crate::loops) fn narrow<T>(self, elements: &mut [T], first: usize) -> Window<'_, T> {
        Window::new(elements, first, self.area)
    }

    /// Where in the window the element with this index of the array stands.
    ///
    /// # Panics
    ///
    /// If it is not in the window.
    #[inline]
    #[track_caller]
    pub fn offset(self, index: usize) -> usize {
        let offset = index.wrapping_sub(self.first);
        if offset < self.size {
            offset
        } else {
            outside(self.area.name(), self.area.whole(), self.first, self.size, self.each, index)
        }
    }

    /// Where in the window that stands which has this index, or these indices, of the array.
    ///
    /// # Panics
    ///
    /// If it is not in the window.
    #[inline]
    #[track_caller]
    pub fn place<I: WindowIndex>(self, index: I) -> I::Within {
        index.within(self)
    }

    /// Where in the window the elements with these indices of the array stand; `..` is the whole array.
    ///
    /// # Panics
    ///
    /// If some of them are not in the window.
    #[inline]
    #[track_caller]
    pub fn range<R: WindowRange>(self, range: R) -> Range<usize> {
        let (start, end) = (range.first().unwrap_or(0), range.end().unwrap_or(self.area.whole()));
        let (from, to) = (start.wrapping_sub(self.first), end.wrapping_sub(self.first));
        if from <= to && to <= self.size {
            from..to
        } else {
            range_outside(self.area.name(), self.area.whole(), self.first, self.size, start, end)
        }
    }
}

/// The panic of an index that is not in the window.
// What it needs comes as plain values: a reference would keep them in memory while the loop runs.
#[cold]
#[inline(never)]
#[track_caller]
fn outside(
    name: &'static str,
    whole: usize,
    first: usize,
    size: usize,
    each: bool,
    index: usize,
) -> ! {
    if index >= whole {
        panic!("index out of bounds: the len of `{name}` is {whole} but the index is {index}");
    }
    let owned = owned(name, first, size, each);
    panic!(
        "`{name}[{index}]` belongs to another iteration: this one owns {owned}, of the {whole} elements of `{name}`"
    );
}

/// The panic of a range that is not in the window.
#[cold]
#[inline(never)]
#[track_caller]
fn range_outside(
    name: &'static str,
    whole: usize,
    first: usize,
    size: usize,
    start: usize,
    end: usize,
) -> ! {
    if start > end {
        panic!("`{name}[{start}..{end}]`: slice index starts at {start} but ends at {end}");
    }
    if end > whole {
        panic!("range end index {end} out of range for `{name}`, a slice of length {whole}");
    }
    let owned = owned(name, first, size, false);
    panic!(
        "`{name}[{start}..{end}]` belongs to other iterations: this one owns {owned}, of the {whole} elements of `{name}`"
    );
}

/// What the iteration owns, in words.
fn owned(name: &str, first: usize, size: usize, each: bool) -> String {
    let end = first.saturating_add(size);
    match (size, each) {
        (0, _) => format!("nothing of `{name}`"),
        (_, true) => format!("`{name}[{first}]`"),
        (_, false) => format!("`{name}[{first}..{end}]`"),
    }
}

/// An index, or a range of indices.
#[diagnostic::on_unimplemented(
    message = "elements that an iteration owns cannot be indexed by `{Self}`",
    label = "neither a `usize` nor a range of them",
    note = "an integer of another type can be converted: `c[k as usize]`"
)]
pub trait WindowIndex {
    /// The same in the window.
    type Within;

    /// Where it is in the window.
    fn within(self, at: At) -> Self::Within;

    /// Whether an array of this length has what it says.
    fn is_in(&self, len: usize) -> bool;
}

impl WindowIndex for usize {
    type Within = Self;

    #[inline]
    #[track_caller]
    fn within(self, at: At) -> Self {
        at.offset(self)
    }

    #[inline]
    fn is_in(&self, len: usize) -> bool {
        *self < len
    }
}

macro_rules! window_index_by_range {
    ($($range:ty),* $(,)?) => {$(
        impl WindowIndex for $range {
            type Within = Range<usize>;

            #[inline]
            #[track_caller]
            fn within(self, at: At) -> Range<usize> {
                at.range(self)
            }

            #[inline]
            fn is_in(&self, len: usize) -> bool {
                let end = WindowRange::end(self).unwrap_or(len);
                self.first().unwrap_or(0) <= end && end <= len
            }
        }
    )*};
}

window_index_by_range!(
    Range<usize>,
    RangeInclusive<usize>,
    RangeFrom<usize>,
    RangeTo<usize>,
    RangeToInclusive<usize>,
    RangeFull,
);

/// A range of indices.
pub trait WindowRange {
    /// The first index, if the range has one.
    fn first(&self) -> Option<usize>;

    /// One more than the last index, if the range has one.
    fn end(&self) -> Option<usize>;
}

impl WindowRange for Range<usize> {
    #[inline]
    fn first(&self) -> Option<usize> {
        Some(self.start)
    }

    #[inline]
    fn end(&self) -> Option<usize> {
        Some(self.end)
    }
}

impl WindowRange for RangeInclusive<usize> {
    #[inline]
    fn first(&self) -> Option<usize> {
        Some(*self.start())
    }

    #[inline]
    fn end(&self) -> Option<usize> {
        Some(self.end().saturating_add(1))
    }
}

impl WindowRange for RangeFrom<usize> {
    #[inline]
    fn first(&self) -> Option<usize> {
        Some(self.start)
    }

    #[inline]
    fn end(&self) -> Option<usize> {
        None
    }
}

impl WindowRange for RangeTo<usize> {
    #[inline]
    fn first(&self) -> Option<usize> {
        None
    }

    #[inline]
    fn end(&self) -> Option<usize> {
        Some(self.end)
    }
}

impl WindowRange for RangeToInclusive<usize> {
    #[inline]
    fn first(&self) -> Option<usize> {
        None
    }

    #[inline]
    fn end(&self) -> Option<usize> {
        Some(self.end.saturating_add(1))
    }
}

impl WindowRange for RangeFull {
    #[inline]
    fn first(&self) -> Option<usize> {
        None
    }

    #[inline]
    fn end(&self) -> Option<usize> {
        None
    }
}
