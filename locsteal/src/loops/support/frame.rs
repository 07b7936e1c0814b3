//! A chunk of positions on its way through the chunk code.

use std::marker::PhantomData;
use std::ops::Range;
use std::panic::Location;

use super::tracker::{Short, Tracker};
use crate::loops::own::{Area, Elements, Indices, ItemIndex, Stride};
use crate::loops::source::ParallelSource;

/// A chunk of a loop over `S`, whose items hold their index at `Part`.
///
/// It can be shortened before it is run: where it is certain that each iteration indexes an array with the loop's index,
/// the iterations for which the array has no such element are cut off, and running the chunk then ends in the panic that
/// the first of them would have ended in. So the compiler knows that the index is in bounds.
pub struct Frame<'a, S, Part> {
    source: &'a S,
    tracker: &'a Tracker<'a>,
    /// The position of the first item in the source.
    first: u128,
    /// That position as the launcher counts.
    position: u64,
    /// How many items there are.
    count: u64,
    /// Whether there were more.
    short: bool,
    part: PhantomData<Part>,
}

impl<'a, S: ParallelSource, Part> Frame<'a, S, Part> {
    /// The items at these positions, counted from `base`. There are some.
    ///
    /// # Safety
    ///
    /// The positions are those of the source; none of them is given to two frames; the source stays where it is.
    #[inline]
    pub(super) unsafe fn new(
        source: &'a S,
        tracker: &'a Tracker<'a>,
        base: u128,
        positions: Range<u64>,
    ) -> Self {
        let first = base + u128::from(positions.start);
        let count = positions.end - positions.start;
        Self {
            source,
            tracker,
            first,
            position: positions.start,
            count,
            short: false,
            part: PhantomData,
        }
    }

    /// The positions, as the launcher counts.
    #[inline]
    pub(super) fn positions(&self) -> Range<u64> {
        self.position..self.position + self.count
    }

    /// The items.
    #[inline]
    pub fn items(self) -> Items<'a, S, 0> {
        self.into_items()
    }

    /// The items, of a loop that can be left: before each `STRIP` of them it is asked whether a lower iteration has left.
    #[inline]
    pub fn items_while<const STRIP: u64>(self) -> Items<'a, S, STRIP> {
        self.into_items()
    }

    /// The items behind their indices.
    #[inline]
    pub fn indexed(self) -> Indexed<Items<'a, S, 0>, Part> {
        Indexed { items: self.into_items(), part: PhantomData }
    }

    /// The items behind their indices, of a loop that can be left.
    #[inline]
    pub fn indexed_while<const STRIP: u64>(self) -> Indexed<Items<'a, S, STRIP>, Part> {
        Indexed { items: self.into_items(), part: PhantomData }
    }

    #[inline]
    fn into_items<const STRIP: u64>(self) -> Items<'a, S, STRIP> {
        let Self { source, tracker, first, position, count, short, .. } = self;
        let chunk = (count > 0).then(|| {
            // SAFETY: 5. and 6. as promised to `new`, which `self` stands for: it cannot be copied and is used up here, and it
            // only ever got shorter. 7. as the source is borrowed for longer than the result lives.
            unsafe { source.chunk(first, first + u128::from(count - 1)) }
        });
        let strip = if STRIP == 0 { count } else { 0 };
        Items { chunk, tracker, position, count, strip, next: 0, short, ended: false }
    }

    /// Something to read the array from, if that is a slice or derefs to one.
    #[inline]
    pub fn reading<'r, X: ?Sized>(&self, array: &'r X) -> super::Reading<'r, X, S, Part> {
        super::Reading::new(array)
    }
}

impl<'a, S: Indices<Part>, Part> Frame<'a, S, Part> {
    /// Whether there are no items.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The lowest index of the items.
    #[inline]
    pub(super) fn low(&self) -> i128 {
        match S::STRIDE {
            Stride::Up => self.source.index(self.first),
            Stride::Down => self.source.index(self.last()),
            Stride::Steps => self.source.index(self.first).min(self.source.index(self.last())),
        }
    }

    /// The highest index of the items.
    #[inline]
    pub(super) fn high(&self) -> i128 {
        self.low().saturating_add((self.span() - 1) as i128)
    }

    /// How many indices there are from the lowest to the highest.
    #[inline]
    pub(super) fn span(&self) -> u64 {
        match S::STRIDE {
            Stride::Up | Stride::Down => self.count,
            Stride::Steps if self.count == 0 => 0,
            Stride::Steps => {
                let span = self.source.index(self.first).abs_diff(self.source.index(self.last()));
                u64::try_from(span).unwrap_or(u64::MAX).saturating_add(1)
            }
        }
    }

    #[inline]
    fn last(&self) -> u128 {
        self.first + u128::from(self.count) - 1
    }

    /// Each iteration is certain to index an array that it owns by element.
    #[inline]
    #[track_caller]
    pub fn need<T>(&mut self, area: &Area, part: &[T]) {
        if part.len() as u64 != self.span() {
            let first = area.first() as i128;
            self.keep(
                first..first + part.len() as i128,
                area.name(),
                0,
                area.whole(),
                Location::caller(),
            );
        }
    }

    /// Each iteration is certain to index the array with its own index plus `offset`.
    #[inline]
    pub(super) fn reach(
        &mut self,
        name: &'static str,
        offset: isize,
        len: usize,
        location: &'static Location<'static>,
    ) {
        let offset = offset as i128;
        let (first, end) = (0 - offset, len as i128 - offset);
        if self.count != 0 && (self.low() < first || self.high() >= end) {
            self.keep(first..end, name, offset, len, location);
        }
    }

    /// Cuts off the items from the first one on whose index is not `valid`.
    // The frame itself is not lent to the cold code: its fields stay in registers.
    #[inline]
    fn keep(
        &mut self,
        valid: Range<i128>,
        name: &'static str,
        offset: i128,
        len: usize,
        location: &'static Location<'static>,
    ) {
        let count = how_many_fit(self.source, self.first, self.count, valid);
        if count < self.count {
            let index = self.source.index(self.first + u128::from(count)).saturating_add(offset);
            self.tracker.fall_short(Short { name, index, len, location });
            self.short = true;
            self.count = count;
        }
    }

    /// The elements that the iterations own, one each: after [`need`](Self::need).
    #[inline]
    pub fn elements<'p, T>(&self, area: Area, part: &'p mut [T]) -> Elements<'p, T> {
        if self.count == 0 {
            return area.elements(&mut []);
        }
        area.narrow(part, self.low() as usize, self.span() as usize)
    }
}

/// How many of the `count` items from `first` on have a valid index, up to the first one that has not.
#[cold]
#[inline(never)]
fn how_many_fit<S: Indices<Part>, Part>(
    source: &S,
    first: u128,
    count: u64,
    valid: Range<i128>,
) -> u64 {
    // Along the positions the index only grows or only falls: once it is out on the far side, it stays out.
    let fits = |k: u64| valid.contains(&source.index(first + u128::from(k)));
    if count == 0 || !fits(0) {
        return 0;
    }
    let (mut fit, mut out) = (1, count);
    while fit < out {
        let middle = fit + (out - fit) / 2;
        if fits(middle) { fit = middle + 1 } else { out = middle }
    }
    fit
}

/// The items of a chunk. Dropped before its end, it notes which iteration that was.
///
/// The position is in no memory while the loop runs: it follows from `next`, which is looked at only when unwinding.
pub struct Items<'a, S: ParallelSource, const STRIP: u64> {
    /// `None` if there are no items.
    chunk: Option<S::Chunk>,
    tracker: &'a Tracker<'a>,
    position: u64,
    count: u64,
    /// Where to ask again whether the loop has been left.
    strip: u64,
    next: u64,
    short: bool,
    ended: bool,
}

impl<S: ParallelSource, const STRIP: u64> Iterator for Items<'_, S, STRIP> {
    type Item = S::Item;

    #[inline]
    fn next(&mut self) -> Option<S::Item> {
        if self.next < self.strip || (STRIP != 0 && self.next < self.count && self.goes_on()) {
            self.next += 1;
            // SAFETY: there is a chunk, as `count` is not 0; it has `count` items (promise 2 of `ParallelSource`), of which
            // fewer have been taken.
            return Some(unsafe {
                self.chunk.as_mut().unwrap_unchecked().next().unwrap_unchecked()
            });
        }
        if self.short && self.next == self.count {
            // The iteration that fails is the next one.
            self.next += 1;
            self.tracker.fail();
        }
        self.ended = true;
        None
    }
}

impl<S: ParallelSource, const STRIP: u64> Items<'_, S, STRIP> {
    /// Whether the next strip is to be run.
    #[inline]
    fn goes_on(&mut self) -> bool {
        if self.position + self.next >= self.tracker.bound() {
            return false;
        }
        self.strip = self.count.min(self.next + STRIP);
        true
    }
}

impl<S: ParallelSource, const STRIP: u64> Drop for Items<'_, S, STRIP> {
    #[inline]
    fn drop(&mut self) {
        if !self.ended {
            self.tracker.stop(self.position + self.next.saturating_sub(1));
        }
    }
}

/// The items of a chunk behind their indices.
pub struct Indexed<I, Part> {
    items: I,
    part: PhantomData<Part>,
}

impl<Part, I: Iterator<Item: ItemIndex<Part>>> Iterator for Indexed<I, Part> {
    type Item = (usize, I::Item);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.items.next()?;
        Some((item.index(), item))
    }
}
