//! What the iterations of a chunk own: by index, by the indices of a nest, or by number.

use std::ops::Range;

use super::array::{Several, Share};
use super::{Area, Indices, Own};
use crate::loops::source::{
    IndexedSource, Integer, Nest, ParallelSource, RangeInclusiveSource, RangeSource,
    RepeatableSource,
};
use crate::loops::support::Frame;

/// An array that is borrowed for a loop.
pub trait Owned {
    /// Of the array.
    type Element;
}

impl<T, Each> Owned for Own<'_, T, Each> {
    type Element = T;
}

impl<T, const N: usize> Owned for Grid<'_, T, N> {
    type Element = T;
}

impl<T> Owned for Numbered<'_, T> {
    type Element = T;
}

/// An array whose parts the iterations of a loop over `S` own.
pub trait Owning<S, Part>: Owned + Sync {
    /// Makes sure that no two iterations own the same element.
    ///
    /// # Panics
    ///
    /// If two would.
    fn check(&self, source: &S);

    /// What the iterations of a chunk own, and where in the array that is.
    ///
    /// # Safety
    ///
    /// The source has been checked. No position is in frames of two calls.
    #[allow(clippy::mut_from_ref, reason = "no two calls give the same part")]
    unsafe fn part(&self, frame: &Frame<'_, S, Part>) -> (Area, &mut [Self::Element]);
}

impl<T: Send, Each: Share + Sync, S: Indices<Part>, Part> Owning<S, Part> for Own<'_, T, Each> {
    #[inline]
    fn check(&self, _: &S) {}

    #[inline]
    unsafe fn part(&self, frame: &Frame<'_, S, Part>) -> (Area, &mut [T]) {
        // SAFETY: positions that differ have indices that differ, and indices are in order along the positions (`Indices`): so
        // the ranges from the lowest to the highest index of two chunks do not overlap.
        unsafe { Own::part(self, frame.low()..=frame.high()) }
    }
}

/// An array of which iteration `(i, j, ..)` of a nest owns the element `i * c[0] + j * c[1] + ..`.
#[derive(Debug)]
pub struct Grid<'a, T, const N: usize> {
    own: Own<'a, T>,
    coefficients: [usize; N],
}

impl<'a, T, const N: usize> Grid<'a, T, N> {
    pub(super) fn new(own: Own<'a, T>, coefficients: [usize; N]) -> Self {
        Self { own, coefficients }
    }
}

impl<T: Send, S: Coordinates, Part, const N: usize> Owning<S, Part> for Grid<'_, T, N> {
    fn check(&self, source: &S) {
        if source.spread(&self.coefficients).is_none() {
            let name = self.own.name();
            panic!(
                "iterations that differ would own the same element of `{name}`: its index {:?} times the loops' indices does not \
                 leave enough room for the inner loops",
                self.coefficients,
            );
        }
    }

    unsafe fn part(&self, frame: &Frame<'_, S, Part>) -> (Area, &mut [T]) {
        let (first, last) = frame.ends();
        let flat = |position| frame.source().flat(position, &self.coefficients);
        // SAFETY: `check` has seen to it that indices grow along the positions (`Coordinates`).
        unsafe { self.own.part(flat(first)..=flat(last)) }
    }
}

/// An array of which the iteration at position `p` owns the `p`-th chunk.
#[derive(Debug)]
pub struct Numbered<'a, T>(Own<'a, T, Several>);

impl<'a, T> Numbered<'a, T> {
    pub(super) fn new(own: Own<'a, T, Several>) -> Self {
        Self(own)
    }
}

impl<T: Send, S: ParallelSource, Part> Owning<S, Part> for Numbered<'_, T> {
    fn check(&self, _: &S) {}

    unsafe fn part(&self, frame: &Frame<'_, S, Part>) -> (Area, &mut [T]) {
        let (first, last) = frame.ends();
        let index = |position: u128| i128::try_from(position).unwrap_or(i128::MAX);
        // SAFETY: the index is the position.
        unsafe { self.0.part(index(first)..=index(last)) }
    }
}

/// A range of integers, or a nest of such ranges: its items are made of the indices of the loops.
///
/// # Safety
///
/// If [`spread`](Self::spread) gives a result for some coefficients, then [`flat`](Self::flat) with these coefficients gives
/// the same answer for the same position, and larger ones for larger positions.
#[diagnostic::on_unimplemented(
    message = "an iteration of this nest has no indices that say which element it owns",
    label = "not a range of integers",
    note = "with `collapse`, iterations own elements of an array where all the loops are ranges of integers, such as `0..n`"
)]
pub unsafe trait Coordinates: ParallelSource {
    /// The sum of the indices that the item at `position` has, each times its coefficient; anything if there is no
    /// [`spread`](Self::spread).
    fn flat(&self, position: u128, coefficients: &[usize]) -> i128;

    /// How the sums lie; `None` if they do not grow along the positions, or if one of them, or a part of it, is no `i128`.
    fn spread(&self, coefficients: &[usize]) -> Option<Spread>;
}

/// The sums that the positions of a nest have.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The smallest difference that there is between those of two positions.
    step: i128,
    lowest: i128,
    highest: i128,
}

macro_rules! range_coordinates {
    ($source:ident $(, $bound:ty: $what:path)?) => {
        // SAFETY: the index grows by one from position to position, so that the sum, which is one product, grows by the
        // coefficient; that is not 0. Where `spread` gives a result, neither the indices nor the products saturate: those of the
        // first and of the last position do not, and the others lie between.
        unsafe impl<T: Integer> Coordinates for $source<T>
        where
            $($bound: $what,)?
        {
            fn flat(&self, position: u128, coefficients: &[usize]) -> i128 {
                self.index(position).saturating_mul(coefficients.first().map_or(0, |c| *c as i128))
            }

            fn spread(&self, coefficients: &[usize]) -> Option<Spread> {
                let [coefficient] = *coefficients else { return None };
                if coefficient == 0 {
                    return None;
                }
                let coefficient = coefficient as i128;
                let last = self.length().last().unwrap_or(0);
                let (low, high) = (self.index(0), self.index(last));
                // An index that is no `i128` is shown as a smaller one.
                if high.checked_sub(low) != Some(i128::try_from(last).ok()?) {
                    return None;
                }
                Some(Spread {
                    step: if last == 0 { i128::MAX } else { coefficient },
                    lowest: low.checked_mul(coefficient)?,
                    highest: high.checked_mul(coefficient)?,
                })
            }
        }
    };
}

range_coordinates!(RangeSource, Range<T>: DoubleEndedIterator<Item = T>);
range_coordinates!(RangeInclusiveSource);

// SAFETY: within a row the sum grows as that of the inner source does. From the end of a row to the beginning of the next it
// grows by what it grows in the outer source, at least `outer.step`, less what it grew in the row, at most `fall`. Sums do not
// saturate: the lowest and the highest do not, and the others lie between.
unsafe impl<A, B> Coordinates for Nest<A, B>
where
    A: Coordinates + RepeatableSource<Item: Clone>,
    B: Coordinates + RepeatableSource,
{
    fn flat(&self, position: u128, coefficients: &[usize]) -> i128 {
        let (outer, inner) = self.sources();
        let (row, column) = self.coordinates(position);
        let (left, right) = coefficients.split_at(coefficients.len().saturating_sub(1));
        outer.flat(row, left).saturating_add(inner.flat(column, right))
    }

    fn spread(&self, coefficients: &[usize]) -> Option<Spread> {
        let (outer, inner) = self.sources();
        let (left, right) = coefficients.split_at(coefficients.len().checked_sub(1)?);
        let (outer, inner) = (outer.spread(left)?, inner.spread(right)?);
        let fall = inner.highest.checked_sub(inner.lowest)?;
        let between = outer.step - fall;
        (between > 0).then_some(Spread {
            step: between.min(inner.step),
            lowest: outer.lowest.checked_add(inner.lowest)?,
            highest: outer.highest.checked_add(inner.highest)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::source::IntoParallelSource;

    #[test]
    fn sums_that_grow_have_a_spread() {
        let table = (2..5_usize).into_parallel_source().nest(0..10_usize);
        let spread = table.spread(&[10, 1]).unwrap();
        assert_eq!((spread.step, spread.lowest, spread.highest), (1, 20, 49));
        assert!(table.spread(&[9, 1]).is_none());
        assert!(table.spread(&[10, 0]).is_none());
        let sums = (0..30).map(|position| table.flat(position, &[10, 1]));
        assert!(sums.eq(20..50));
    }

    #[test]
    fn sums_that_saturate_have_no_spread() {
        // All rows would have the sums 0 and 1.
        let high = (u128::MAX - 4..u128::MAX).into_parallel_source();
        assert!(high.nest(-i128::MAX..2 - i128::MAX).spread(&[2, 1]).is_none());
        let low = (i128::MIN..i128::MIN + 4).into_parallel_source();
        assert!(low.spread(&[3]).is_none());
        assert!(low.nest(0..2).spread(&[1, 1]).is_none());
        assert!(low.nest(0..2).spread(&[2, 1]).is_none());
        let straddling = (i128::MAX as u128 - 1..i128::MAX as u128 + 3).into_parallel_source();
        assert!(straddling.spread(&[1]).is_none());
    }
}
