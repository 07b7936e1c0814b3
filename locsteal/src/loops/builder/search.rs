//! Loops that end early.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::{Attempt, Loop};
use crate::loops::source::ParallelSource;
use crate::panics::Sheltered;

/// What the lowest position that left a loop has given.
pub(in crate::loops) struct Lowest<E>(Mutex<Option<(u128, E)>>);

impl<E> Lowest<E> {
    pub(in crate::loops) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Keeps `value` if no lower position has given one.
    pub(in crate::loops) fn give(&self, position: u128, value: E) {
        // Nothing panics while the lock is held: a value's drop, which is the user's code, comes after it.
        let mut lowest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let loser = match &*lowest {
            Some((kept, _)) if *kept <= position => Some((position, value)),
            _ => lowest.replace((position, value)),
        };
        drop(lowest);
        drop(loser);
    }

    /// What was given for `position`.
    pub(in crate::loops) fn into_value(self, position: u128) -> Option<E> {
        let lowest = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        lowest.filter(|(kept, _)| *kept == position).map(|(_, value)| value)
    }
}

/// Running it until an iteration ends it.
///
/// If several iterations do, the lowest one counts, and every iteration below it has been run: the result is that of the serial
/// loop. Iterations above it may have been run as well, but none is started any more once it is known.
impl<S: ParallelSource> Loop<'_, S> {
    /// Runs `body` until it breaks.
    #[inline]
    pub(super) fn until<E: Send>(
        self,
        body: impl Fn(u128, S::Item) -> ControlFlow<E> + Sync,
    ) -> Option<E>
    where
        S: Sync,
    {
        let lowest = Sheltered::new(Lowest::new());
        let shared = lowest.get();
        let exit = self.drive(|pieces| {
            while let Some(piece) = pieces.next() {
                let base = piece.first() - u128::from(piece.positions().start);
                let mut position = piece.first();
                let ended = piece.run_until(|item| {
                    let flow = body(position, item);
                    position += 1;
                    flow
                });
                if let Err(Some((at, value))) = ended {
                    shared.give(base + u128::from(at), value);
                }
            }
        });
        exit.and_then(|position| lowest.into_inner().into_value(position))
    }

    /// Calls `body` with each item until one says `Err`, `None` or `Break`, and returns what it said; `Ok(())`, `Some(())` or
    /// `Continue(())` if none did.
    ///
    /// ```
    /// let parsed = ["1", "2", "x", "4", "y"];
    /// let result = locsteal::source(&parsed).try_for_each(|text| {
    ///     text.parse::<i32>().map(drop).map_err(|_| *text)
    /// });
    /// assert_eq!(result, Err("x"));
    /// ```
    #[inline]
    pub fn try_for_each<R>(self, body: impl Fn(S::Item) -> R + Sync) -> R::With<()>
    where
        R: Attempt<Output = (), Exit: Send>,
        S: Sync,
    {
        match self.until(|_, item| body(item).branch()) {
            None => R::from_output(()),
            Some(exit) => R::from_exit(exit),
        }
    }

    /// The first item of which `predicate` is true.
    ///
    /// ```
    /// let primes = [2, 3, 5, 7, 11, 13];
    /// assert_eq!(locsteal::source(&primes).find_first(|p| **p > 5), Some(&7));
    /// ```
    #[inline]
    pub fn find_first(self, predicate: impl Fn(&S::Item) -> bool + Sync) -> Option<S::Item>
    where
        S: ParallelSource<Item: Send>,
        S: Sync,
    {
        self.find_map_first(|item| predicate(&item).then_some(item))
    }

    /// What `map` gives for the first item for which it gives something.
    ///
    /// ```
    /// let fields = ["width", "=", "80", "24"];
    /// assert_eq!(locsteal::source(&fields).find_map_first(|text| text.parse().ok()), Some(80));
    /// ```
    #[inline]
    pub fn find_map_first<T: Send>(self, map: impl Fn(S::Item) -> Option<T> + Sync) -> Option<T>
    where
        S: Sync,
    {
        self.until(|_, item| match map(item) {
            Some(found) => ControlFlow::Break(found),
            None => ControlFlow::Continue(()),
        })
    }

    /// Whether `predicate` is true of an item. The loop ends when one is found, be it the first or not.
    ///
    /// ```
    /// assert!(locsteal::range(0..1000).any(|i| i * i == 961));
    /// ```
    #[inline]
    pub fn any(self, predicate: impl Fn(S::Item) -> bool + Sync) -> bool
    where
        S: Sync,
    {
        self.find_map_first(|item| predicate(item).then_some(())).is_some()
    }

    /// Whether `predicate` is true of all items. The loop ends when one is found of which it is not.
    ///
    /// ```
    /// assert!(locsteal::range(0..1000).all(|i| i < 1000));
    /// ```
    #[inline]
    pub fn all(self, predicate: impl Fn(S::Item) -> bool + Sync) -> bool
    where
        S: Sync,
    {
        !self.any(|item| !predicate(item))
    }
}
