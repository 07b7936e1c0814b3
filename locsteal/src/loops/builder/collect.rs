//! Loops that yield a value for each iteration.

use std::ops::ControlFlow;

use super::{Attempt, Loop};
use crate::loops::collect::Collector;
use crate::loops::source::ParallelSource;
use crate::panics::Sheltered;

/// Running it for a value of each iteration.
///
/// Each value is written to its place in the vector by the participant that made it, so that memory is first touched by whoever
/// will come back to it under a static schedule. If the loop is left early or a panic stops it, the values that were made are
/// dropped, each once.
impl<S: ParallelSource> Loop<'_, S> {
    /// The vector of what `map` makes of the items, in order.
    ///
    /// ```
    /// let lengths = locsteal::source(&["a", "bb", ""]).collect_vec(|word| word.len());
    /// assert_eq!(lengths, [1, 2, 0]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the vector would be larger than `isize::MAX` bytes.
    pub fn collect_vec<T: Send>(self, map: impl Fn(S::Item) -> T + Sync) -> Vec<T>
    where
        S: Sync,
    {
        let mut values = Vec::new();
        self.collect_into(&mut values, map);
        values
    }

    /// Replaces what is in `values` with what `map` makes of the items, in order. The memory is used again if it is enough.
    ///
    /// If a panic stops the loop, `values` is left empty.
    ///
    /// # Panics
    ///
    /// If the vector would be larger than `isize::MAX` bytes.
    pub fn collect_into<T: Send>(self, values: &mut Vec<T>, map: impl Fn(S::Item) -> T + Sync)
    where
        S: Sync,
    {
        values.clear();
        let count = self.count();
        values.reserve_exact(count);
        let collector = Collector::new(&mut values.spare_capacity_mut()[..count]);
        self.drive(|pieces| {
            while let Some(piece) = pieces.next() {
                let positions = piece.positions();
                // SAFETY: a piece is the right to run its positions, and there is one for each. There is one segment, as there are
                // not more positions than a vector has elements.
                let mut part = unsafe { collector.part(positions) };
                // SAFETY: a piece has one item for each position.
                piece.run(|item| unsafe { part.push(map(item)) });
            }
        });
        collector.finish();
        // SAFETY: the capacity is enough, and `finish` returns only if all elements are there.
        unsafe { values.set_len(count) };
    }

    /// The vector of what `map` makes of the items, in order, if it makes something of all of them; otherwise the error of the
    /// lowest item.
    ///
    /// ```
    /// fn sizes<'a>(texts: &[&'a str]) -> Result<Vec<u32>, &'a str> {
    ///     locsteal::source(texts).try_collect_vec(|text| text.parse().map_err(|_| *text))
    /// }
    ///
    /// assert_eq!(sizes(&["3", "5", "8"]), Ok(vec![3, 5, 8]));
    /// assert_eq!(sizes(&["3", "five", "eight"]), Err("five"));
    /// ```
    ///
    /// # Panics
    ///
    /// If the vector would be larger than `isize::MAX` bytes.
    pub fn try_collect_vec<R>(self, map: impl Fn(S::Item) -> R + Sync) -> R::With<Vec<R::Output>>
    where
        R: Attempt<Output: Send, Exit: Send>,
        S: Sync,
    {
        let count = self.count();
        let mut values = Vec::with_capacity(count);
        let collector = Collector::new(&mut values.spare_capacity_mut()[..count]);
        let lowest = Sheltered::new(super::search::Lowest::new());
        let shared = lowest.get();
        let exit = self.drive(|pieces| {
            while let Some(piece) = pieces.next() {
                let positions = piece.positions();
                // SAFETY: as in `collect_into`.
                let mut part = unsafe { collector.part(positions) };
                let ended = piece.run_until(|item| match map(item).branch() {
                    ControlFlow::Continue(value) => {
                        // SAFETY: as in `collect_into`.
                        unsafe { part.push(value) };
                        ControlFlow::Continue(())
                    }
                    ControlFlow::Break(exit) => ControlFlow::Break(exit),
                });
                if let Err(Some((position, exit))) = ended {
                    shared.give(u128::from(position), exit);
                }
            }
        });
        if let Some(exit) = exit.and_then(|position| lowest.into_inner().into_value(position)) {
            drop(collector);
            return R::from_exit(exit);
        }
        collector.finish();
        // SAFETY: as in `collect_into`.
        unsafe { values.set_len(count) };
        R::from_output(values)
    }

    /// The number of items, as far as a vector can have that many.
    fn count(&self) -> usize {
        let length = self.source.length();
        match length.last().map(|last| usize::try_from(last).ok()?.checked_add(1)) {
            None => 0,
            Some(Some(count)) => count,
            Some(None) => panic!("{}: {length} values do not fit into a vector", self.label()),
        }
    }
}
