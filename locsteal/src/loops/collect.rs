//! Memory that a loop's iterations fill, each its own place.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, needs_drop};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crossbeam_utils::CachePadded;

use super::source::{PositionSet, drop_elements};
use crate::sync::alone_on_its_lines;

/// Places for the values of a loop's iterations.
///
/// Dropped before [`finish`](Self::finish), it drops the values that were made.
#[derive(Debug)]
pub struct Collector<'a, T> {
    start: *mut T,
    len: usize,
    /// How many values were made. Every participant adds to it; nothing that all of them read stands beside it.
    count: CachePadded<AtomicUsize>,
    /// Where; absent where dropping a value does nothing.
    made: Option<PositionSet>,
    places: PhantomData<&'a mut [MaybeUninit<T>]>,
}

alone_on_its_lines!(Collector<'static, u8>: count);

// SAFETY: through a shared `Collector` a thread can only add values, which moves them to whoever owns it; that is sound for
// `T: Send`. No value is shared.
unsafe impl<T: Send> Sync for Collector<'_, T> {}

impl<'a, T> Collector<'a, T> {
    /// None of the places holds a value.
    pub(crate) fn new(places: &'a mut [MaybeUninit<T>]) -> Self {
        let made = needs_drop::<T>().then(|| PositionSet::new(places.len()));
        Self {
            start: places.as_mut_ptr().cast(),
            len: places.len(),
            count: CachePadded::new(AtomicUsize::new(0)),
            made,
            places: PhantomData,
        }
    }

    /// The places `positions`, to be filled in order by one participant.
    ///
    /// # Safety
    ///
    /// No position is in two parts.
    ///
    /// # Panics
    ///
    /// If there are no such places.
    #[inline]
    pub(crate) unsafe fn part(&self, positions: Range<u64>) -> Part<'_, 'a, T> {
        assert!(positions.start <= positions.end && positions.end <= self.len as u64);
        let first = positions.start as usize;
        let len = (positions.end - positions.start) as usize;
        // SAFETY: the places are within the slice that the collector was made of, and no other part has any of them, as the
        // caller promises.
        let places = unsafe { std::slice::from_raw_parts_mut(self.start.add(first).cast(), len) };
        Part { collector: self, first, places, filled: 0 }
    }

    /// Leaves the values to whoever owns the places.
    ///
    /// # Panics
    ///
    /// If a value is missing.
    pub(crate) fn finish(mut self) {
        let count = *self.count.get_mut();
        assert!(count == self.len, "a loop made {count} of {} values", self.len);
        self.made = None;
    }
}

impl<T> Drop for Collector<'_, T> {
    fn drop(&mut self) {
        if let Some(made) = &mut self.made {
            // SAFETY: these are the places that were filled, the set names each once, and nobody uses them as values, since
            // `finish` was not called.
            unsafe { drop_elements(self.start, made.positions(true)) };
        }
    }
}

/// Some of the places of a [`Collector`]. Dropped, be it by a panic, it tells the collector how many of them it has filled.
pub(crate) struct Part<'c, 'a, T> {
    collector: &'c Collector<'a, T>,
    first: usize,
    places: &'c mut [MaybeUninit<T>],
    filled: usize,
}

impl<T> Part<'_, '_, T> {
    /// Fills the next place.
    ///
    /// # Safety
    ///
    /// There is one: this is called at most once for each position of the part.
    #[inline]
    pub(crate) unsafe fn push(&mut self, value: T) {
        debug_assert!(self.filled < self.places.len());
        // SAFETY: as the caller promises.
        unsafe { self.places.get_unchecked_mut(self.filled) }.write(value);
        self.filled += 1;
    }
}

impl<T> Drop for Part<'_, '_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.filled > 0 {
            self.collector.count.fetch_add(self.filled, Relaxed);
            if let Some(made) = &self.collector.made {
                made.insert(self.first, self.first + self.filled - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn values_stand_at_their_places() {
        let mut values: Vec<String> = Vec::with_capacity(10);
        let collector = Collector::new(&mut values.spare_capacity_mut()[..10]);
        thread::scope(|scope| {
            for positions in [7..10_u64, 0..4, 4..7] {
                let collector = &collector;
                scope.spawn(move || {
                    // SAFETY: the parts are disjoint.
                    let mut part = unsafe { collector.part(positions.clone()) };
                    for position in positions {
                        // SAFETY: once for each position.
                        unsafe { part.push(position.to_string()) };
                    }
                });
            }
        });
        collector.finish();
        // SAFETY: `finish` returned.
        unsafe { values.set_len(10) };
        assert!(values.into_iter().eq((0..10).map(|position| position.to_string())));
    }

    #[test]
    fn values_that_are_not_wanted_are_dropped_once() {
        let value = Arc::new(());
        let mut places: Vec<MaybeUninit<Arc<()>>> =
            (0..700).map(|_| MaybeUninit::uninit()).collect();
        let collector = Collector::new(&mut places);
        for (positions, count) in [(0..300, 300), (300..301, 0), (301..600, 17)] {
            // SAFETY: the parts are disjoint.
            let mut part = unsafe { collector.part(positions) };
            for _ in 0..count {
                // SAFETY: no more often than there are positions.
                unsafe { part.push(Arc::clone(&value)) };
            }
        }
        assert_eq!(Arc::strong_count(&value), 1 + 317);
        let caught = catch_unwind(AssertUnwindSafe(|| collector.finish()));
        assert!(caught.is_err(), "values are missing");
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn values_of_no_size_are_counted_too() {
        let mut places = [MaybeUninit::<()>::uninit(); 3];
        let collector = Collector::new(&mut places);
        // SAFETY: the only part.
        let mut part = unsafe { collector.part(0..3) };
        for _ in 0..3 {
            // SAFETY: once for each position.
            unsafe { part.push(()) };
        }
        drop(part);
        collector.finish();
    }
}
