//! A chunk of positions on its way through the chunk code.

use std::marker::PhantomData;
use std::ops::Range;

use super::items::{Indexed, Items};
use super::tracker::{Short, Tracker, Turn};
use crate::loops::own::{Area, Elements, Indices, Stride};
use crate::loops::source::{ParallelSource, RepeatableSource};

/// A chunk of a loop over `S`, whose items hold their index at `Part`.
///
/// It can be shortened before it is run: where it is certain that each iteration indexes an array with the loop's index,
/// the iterations for which the array has no such element are cut off, and running the chunk then ends in the panic that
/// the first of them would have ended in. So the compiler knows that the index is in bounds.
pub struct Frame<'a, S, Part> {
    pub(super) source: &'a S,
    pub(super) tracker: &'a Tracker<'a>,
    /// The position of the first item in the source.
    pub(super) first: u128,
    /// That position as the launcher counts.
    position: u64,
    /// How many items there are.
    pub(super) count: u64,
    /// The position of the last item in the source, if there is one. Computed in one place, so that the compiler sees that what
    /// is cut out of arrays begins where the items do.
    pub(super) last: u128,
    /// Whether there were more.
    short: bool,
    part: PhantomData<Part>,
}

impl<'a, S, Part> Frame<'a, S, Part> {
    /// The items of a turn.
    ///
    /// # Safety
    ///
    /// The positions are those of the source; none of them is given to two frames; the source stays where it is.
    #[inline]
    pub(super) unsafe fn new(source: &'a S, tracker: &'a Tracker<'a>, turn: &'a Turn<'a>) -> Self {
        let Range { start, end } = turn.positions;
        let (first, count) = (turn.first, end - start);
        Self {
            source,
            tracker,
            first,
            position: start,
            count,
            last: first.wrapping_add(u128::from(count.wrapping_sub(1))),
            short: false,
            part: PhantomData,
        }
    }

    /// A part of a row of a nest, whose innermost loop is over `source`: `count` positions from `first` on, the first of which is
    /// `position` as the launcher counts.
    ///
    /// # Safety
    ///
    /// These are positions of the source, and `count` is not 0.
    #[inline]
    pub(super) unsafe fn of_row(
        source: &'a S,
        tracker: &'a Tracker<'a>,
        first: u128,
        count: u64,
        position: u64,
    ) -> Self
    where
        // Whose positions may be in any number of frames.
        S: RepeatableSource,
    {
        let last = first.wrapping_add(u128::from(count.wrapping_sub(1)));
        Self { source, tracker, first, position, count, last, short: false, part: PhantomData }
    }

    /// The positions, as the launcher counts.
    #[inline]
    pub(super) fn positions(&self) -> Range<u64> {
        self.position..self.position + self.count
    }

    /// The position of the last item in the source. There is one.
    #[inline]
    pub(super) fn last(&self) -> u128 {
        self.last
    }

    /// The positions of the first and of the last item in the source.
    #[inline]
    pub(in crate::loops) fn ends(&self) -> (u128, u128) {
        (self.first, self.last())
    }

    /// What the items are of.
    #[inline]
    pub(in crate::loops) fn source(&self) -> &'a S {
        self.source
    }

    /// Something to read the array from, if that is a slice or stands for one.
    #[inline]
    pub fn reading<'r, X: ?Sized>(&self, array: &'r X) -> super::Reading<'r, X, S, Part> {
        super::Reading::new(array)
    }
}

// The bounds stand at the methods: a source that has no indices is one error for the compiler then.
impl<'a, S, Part> Frame<'a, S, Part> {
    /// The items. `STRIP`: of a loop that can be left, before how many of them to ask whether a lower iteration has; 0: never.
    #[inline]
    pub(super) fn items<const STRIP: u64>(self) -> Items<'a, S::Chunk, STRIP>
    where
        S: ParallelSource,
    {
        let Self { source, tracker, first, position, count, last, short, .. } = self;
        let chunk = (count > 0).then(|| {
            // SAFETY: 5. and 6. as promised to `new`, which `self` stands for: it cannot be copied and is used up here, and it
            // only ever got shorter. Or 5. as promised to `of_row`, of a source that needs no 6. 7. as the source is borrowed for
            // longer than the result lives.
            unsafe { source.chunk(first, last) }
        });
        // SAFETY: promise 2 of `ParallelSource`.
        unsafe { Items::new(chunk, tracker, position, count, short) }
    }

    /// The items of a row.
    #[inline]
    pub(super) fn items_along<const STRIP: u64>(
        self,
    ) -> Items<'a, impl Iterator<Item = S::Item>, STRIP>
    where
        S: Indices<Part>,
    {
        let Self { source, tracker, first, position, count, last, short, .. } = self;
        let chunk = (count > 0).then(|| {
            // SAFETY: as in `items`.
            unsafe { source.row(first, last) }
        });
        // SAFETY: promise 2 of `ParallelSource`.
        unsafe { Items::new(chunk, tracker, position, count, short) }
    }

    /// The lowest index of the items; anything if there are none.
    #[inline]
    pub(in crate::loops) fn low(&self) -> i128
    where
        S: Indices<Part>,
    {
        match S::STRIDE {
            Stride::Up => self.source.index(self.first),
            Stride::Down => self.source.index(self.first).saturating_sub(self.count as i128 - 1),
            Stride::Steps if self.count == 0 => self.source.index(self.first),
            Stride::Steps => self.source.index(self.first).min(self.source.index(self.last())),
        }
    }

    /// The lowest index of the items as they have it.
    #[inline]
    pub(super) fn low_item(&self) -> usize
    where
        S: Indices<Part>,
    {
        self.source.low_item(self.first, self.last())
    }

    /// The highest index of the items.
    #[inline]
    pub(in crate::loops) fn high(&self) -> i128
    where
        S: Indices<Part>,
    {
        self.low().saturating_add((self.span() - 1) as i128)
    }

    /// How many indices there are from the lowest to the highest.
    #[inline]
    pub(super) fn span(&self) -> u64
    where
        S: Indices<Part>,
    {
        if self.count == 0 { 0 } else { self.source.span(self.first, self.last()) }
    }

    /// Each iteration is certain to index an array that it owns by element, as the body does `at` this place.
    #[inline]
    pub fn need<T>(&mut self, area: &Area, part: &[T], at: &'static str)
    where
        S: Indices<Part>,
    {
        let first = area.first() as i128;
        self.keep(first..first + part.len() as i128, area.name(), 0, area.whole(), at);
    }

    /// Each iteration is certain to index the array with its own index plus `offset`.
    #[inline]
    pub(super) fn reach(&mut self, name: &'static str, offset: isize, len: usize, at: &'static str)
    where
        S: Indices<Part>,
    {
        let offset = offset as i128;
        self.keep(0 - offset..len as i128 - offset, name, offset, len, at);
    }

    /// Cuts off the items from the first one on whose index is not `valid`.
    // The number of items that are kept is a minimum, without a branch: so whatever is as long as the chunk stays the same value
    // for the compiler. And the frame itself is not lent to the cold code: its fields stay in registers.
    #[inline]
    fn keep(
        &mut self,
        valid: Range<i128>,
        name: &'static str,
        offset: i128,
        len: usize,
        at: &'static str,
    ) where
        S: Indices<Part>,
    {
        let room = match S::STRIDE {
            Stride::Up => {
                let first = self.source.index(self.first);
                if first < valid.start { 0 } else { (valid.end - first).max(0) as u64 }
            }
            Stride::Down | Stride::Steps => {
                how_many_fit(self.source, self.first, self.count, valid)
            }
        };
        self.cut(room, name, offset, len, at);
    }

    /// Cuts off the items but for the first `room`. The next one would use the element of the array whose index is its own plus
    /// `offset`.
    #[inline]
    pub(super) fn cut(
        &mut self,
        room: u64,
        name: &'static str,
        offset: i128,
        len: usize,
        at: &'static str,
    ) where
        S: Indices<Part>,
    {
        if room < self.count {
            let index = self.source.index(self.first + u128::from(room)).saturating_add(offset);
            self.tracker.fall_short(Short { name, index, len, at });
        }
        self.short |= room < self.count;
        self.count = self.count.min(room);
        self.last = self.first.wrapping_add(u128::from(self.count.wrapping_sub(1)));
    }

    /// After all that is needed: there are items, or the first one fails at once.
    #[inline]
    pub fn settle(&self) {
        if self.count == 0 {
            self.tracker.stop(self.position);
            self.tracker.fail();
        }
    }

    /// The elements that the iterations own, one each: after [`need`](Self::need) and [`settle`](Self::settle).
    #[inline]
    pub fn elements<'p, T>(&self, area: Area, part: &'p mut [T]) -> Elements<'p, T>
    where
        S: Indices<Part>,
    {
        let low = self.low_item();
        let skip = low.wrapping_sub(area.first());
        let part = &mut part[skip..][..self.span() as usize];
        area.narrow(part, low, S::STRIDE == Stride::Steps)
    }
}

/// The items of a chunk.
#[inline]
pub fn items<const STRIP: u64, S: ParallelSource, Part>(
    frame: Frame<'_, S, Part>,
) -> Items<'_, S::Chunk, STRIP> {
    frame.items()
}

/// The items of a chunk behind their indices.
#[inline]
pub fn indexed<const STRIP: u64, S: ParallelSource, Part>(
    frame: Frame<'_, S, Part>,
) -> Indexed<Items<'_, S::Chunk, STRIP>, Part> {
    frame.items::<STRIP>().indexed()
}

/// How many of the `count` items from `first` on have a valid index, up to the first one that has not.
#[inline]
pub(super) fn how_many_fit<S: Indices<Part>, Part>(
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
