//! The items of a chunk, one after another.

use std::marker::PhantomData;

use super::tracker::Tracker;
use crate::loops::own::ItemIndex;

/// The items of a chunk. Dropped before its end, it notes which iteration that was.
///
/// The position is in no memory while the loop runs: it follows from `next`, which is looked at only when unwinding.
pub struct Items<'a, C, const STRIP: u64> {
    /// `None` if there are no items.
    chunk: Option<C>,
    tracker: &'a Tracker<'a>,
    position: u64,
    count: u64,
    /// Where to ask again whether the loop has been left.
    strip: u64,
    next: u64,
    short: bool,
    ended: bool,
}

impl<'a, C: Iterator, const STRIP: u64> Items<'a, C, STRIP> {
    /// The items of a chunk of which the first stands at `position`, as the launcher counts. `short`: what follows them would
    /// index past an array's end.
    ///
    /// # Safety
    ///
    /// The chunk has `count` items; it is there if that is not 0.
    #[inline]
    pub(super) unsafe fn new(
        chunk: Option<C>,
        tracker: &'a Tracker<'a>,
        position: u64,
        count: u64,
        short: bool,
    ) -> Self {
        let strip = if STRIP == 0 { count } else { 0 };
        Self { chunk, tracker, position, count, strip, next: 0, short, ended: false }
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The items behind their indices.
    #[inline]
    pub fn indexed<Part>(self) -> Indexed<Self, Part> {
        Indexed { items: self, part: PhantomData }
    }

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

impl<C: Iterator, const STRIP: u64> Iterator for Items<'_, C, STRIP> {
    type Item = C::Item;

    #[inline]
    fn next(&mut self) -> Option<C::Item> {
        if STRIP == 0 || self.next < self.strip || (self.next < self.count && self.goes_on()) {
            // The chunk itself knows where it ends.
            if let Some(item) = self.chunk.as_mut().and_then(Iterator::next) {
                self.next += 1;
                return Some(item);
            }
        }
        if self.short && (STRIP == 0 || self.next == self.count) {
            // The iteration that fails is the next one.
            self.next += 1;
            self.tracker.fail();
        }
        self.ended = true;
        None
    }
}

impl<C, const STRIP: u64> Drop for Items<'_, C, STRIP> {
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
