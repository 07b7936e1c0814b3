//! Loops that yield: where the values of the iterations go.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::loops::collect::{Collector, Part};
use crate::loops::source::Length;

/// The places for the values of a chunk.
pub struct Fill<'c, 'a, T> {
    part: Part<'c, 'a, T>,
    left: u64,
}

impl<'c, 'a, T> Fill<'c, 'a, T> {
    /// # Safety
    ///
    /// No position is in two fills.
    #[inline]
    pub(super) unsafe fn new(collector: &'c Collector<'a, T>, positions: Range<u64>) -> Self {
        let left = positions.end - positions.start;
        // SAFETY: as the caller promises.
        Self { part: unsafe { collector.part(positions) }, left }
    }

    /// Puts the value of the next iteration into its place.
    ///
    /// # Panics
    ///
    /// If there are no more iterations.
    #[inline]
    pub fn push(&mut self, value: T) {
        assert!(self.left > 0, "an iteration yielded two values");
        self.left -= 1;
        // SAFETY: there is a place for each position, and this is not called more often than there are positions.
        unsafe { self.part.push(value) };
    }
}

/// What a loop can yield into: `Vec<T>`, `Box<[T]>` and `[T; N]`.
///
/// # Safety
///
/// `collect` gives `Some` only if `run` returned true, and uses the places as values only then.
#[diagnostic::on_unimplemented(
    message = "a loop cannot yield its values into `{Self}`",
    label = "neither a `Vec`, a boxed slice nor an array of `{T}`",
    note = "write `let v: Vec<_> = for .. {{ .. }};`",
    note = "an iteration's value is the last expression of the body, with no semicolon behind it"
)]
pub unsafe trait Yield<T>: Sized {
    /// Makes the places, and has `run` fill them: all of them if it gives true.
    fn collect(length: Length, run: impl FnOnce(&Collector<'_, T>) -> bool) -> Option<Self>;
}

/// A loop was left, and none of the ways out was taken.
#[cold]
pub fn nothing_left() -> ! {
    unreachable!("a loop that yields was left for no reason")
}

/// Has `run` fill the places; true if they are all filled.
fn fill<T>(places: &mut [MaybeUninit<T>], run: impl FnOnce(&Collector<'_, T>) -> bool) -> bool {
    let collector = Collector::new(places);
    let complete = run(&collector);
    if complete {
        collector.finish();
    }
    complete
}

// SAFETY: the length is set only where `fill` has said that all places are filled.
unsafe impl<T> Yield<T> for Vec<T> {
    fn collect(length: Length, run: impl FnOnce(&Collector<'_, T>) -> bool) -> Option<Self> {
        let count = match length.last().map(|last| usize::try_from(last).ok()?.checked_add(1)) {
            None => 0,
            Some(Some(count)) => count,
            Some(None) => panic!("{length} values do not fit into a `Vec`"),
        };
        let mut values = Self::with_capacity(count);
        let complete = fill(&mut values.spare_capacity_mut()[..count], run);
        // SAFETY: there is room for `count` values, and they are all there.
        complete.then(|| unsafe {
            values.set_len(count);
            values
        })
    }
}

// SAFETY: as for `Vec`.
unsafe impl<T> Yield<T> for Box<[T]> {
    fn collect(length: Length, run: impl FnOnce(&Collector<'_, T>) -> bool) -> Option<Self> {
        Vec::collect(length, run).map(Vec::into_boxed_slice)
    }
}

// SAFETY: the places are taken for values only where `fill` has said that all are filled.
unsafe impl<T, const N: usize> Yield<T> for [T; N] {
    fn collect(length: Length, run: impl FnOnce(&Collector<'_, T>) -> bool) -> Option<Self> {
        assert!(
            length == Length::from(N),
            "a loop of {length} iterations yields into an array of {N} elements"
        );
        let mut values = [const { MaybeUninit::uninit() }; N];
        // SAFETY: each of them is filled.
        fill(&mut values, run).then(|| values.map(|value| unsafe { value.assume_init() }))
    }
}
