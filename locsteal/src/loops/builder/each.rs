//! Running a loop for what its body does.

use super::Loop;
use crate::loops::source::{DetachedSource, ParallelSource};

/// Running it for its effects.
impl<S: ParallelSource> Loop<'_, S> {
    /// Calls `body` with each item.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let sum = AtomicU32::new(0);
    /// locsteal::range(1..=4).for_each(|i| {
    ///     sum.fetch_add(i, Ordering::Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 10);
    /// ```
    #[inline]
    pub fn for_each(self, body: impl Fn(S::Item) + Sync)
    where
        S: Sync,
    {
        self.drive(|pieces| {
            while let Some(piece) = pieces.next() {
                piece.run(&body);
            }
        });
    }

    /// Calls `body` with each item and with a state that belongs to the participant. `init` makes the state, at most once for
    /// each participant, when its first iteration begins; it is dropped when the participant has nothing more to do.
    ///
    /// ```
    /// let words = ["lap", "pal", "top"];
    /// locsteal::source(&words).for_each_local(String::new, |buffer, word| {
    ///     buffer.clear();
    ///     buffer.extend(word.chars().rev());
    ///     assert_eq!(buffer.len(), 3);
    /// });
    /// ```
    #[inline]
    pub fn for_each_local<L>(
        self,
        init: impl Fn() -> L + Sync,
        body: impl Fn(&mut L, S::Item) + Sync,
    ) where
        S: Sync,
    {
        self.drive(|pieces| {
            let mut state = None;
            while let Some(piece) = pieces.next() {
                let state = state.get_or_insert_with(&init);
                piece.run(|item| body(state, item));
            }
        });
    }

    /// Calls `body` with each chunk that a participant takes: for a range a range, for a slice an iterator over a part of it.
    ///
    /// How the items are divided into chunks depends on the schedule and on the run.
    ///
    /// ```
    /// use std::ops::Range;
    ///
    /// let x: Vec<u64> = (0..1000).collect();
    /// let y = std::sync::Mutex::new(0);
    /// locsteal::range(0..x.len()).for_each_chunk(|part: Range<usize>| {
    ///     let sum: u64 = x[part].iter().sum();
    ///     *y.lock().unwrap() += sum;
    /// });
    /// assert_eq!(y.into_inner().unwrap(), 499_500);
    /// ```
    #[inline]
    pub fn for_each_chunk(self, body: impl Fn(S::Chunk) + Sync)
    where
        S: DetachedSource,
        S: Sync,
    {
        self.drive(|pieces| {
            while let Some(piece) = pieces.next() {
                body(piece.into_chunk());
            }
        });
    }
}
