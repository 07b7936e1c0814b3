//! Loops whose iterations are combined into one value.

use std::iter;
use std::ops::{AddAssign, ControlFlow, MulAssign};

use super::Loop;
use crate::loops::reduce::{self, Leaves, Partials, Reduce};
use crate::loops::source::ParallelSource;
use crate::panics::{Sheltered, drop_quietly};

/// Running it for one value made of all iterations.
///
/// Partial results are combined in any order, so the combining function must be associative and commutative; with
/// [`reproducible`](Self::reproducible) they are combined in the order of the iterations.
impl<S: ParallelSource> Loop<'_, S> {
    /// Accumulates items with `fold`, beginning with what `identity` makes, and merges the partial results. `None` if there are no
    /// items.
    #[inline]
    fn accumulate<A: Send>(
        self,
        identity: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, S::Item) + Sync,
        merge: impl Fn(&mut A, A) + Sync,
    ) -> Option<A>
    where
        S: Sync,
    {
        if self.reproducible {
            return self.accumulate_in_order(identity, fold, merge);
        }
        let partials = Sheltered::new(Partials::new());
        let shared = partials.get();
        self.drive(|pieces| {
            let mut partial = None;
            while let Some(piece) = pieces.next() {
                let partial = partial.get_or_insert_with(&identity);
                piece.run(|item| fold(partial, item));
            }
            if let Some(partial) = partial {
                shared.add(partial, &merge);
            }
        });
        partials.into_inner().into_total()
    }

    #[inline]
    fn accumulate_in_order<A: Send>(
        self,
        identity: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, S::Item) + Sync,
        merge: impl Fn(&mut A, A) + Sync,
    ) -> Option<A>
    where
        S: Sync,
    {
        let mut total = None;
        self.drive_segments(|segment| {
            let leaves = Leaves::new(segment.launch.length());
            let run = segment.unit(leaves.unit()).run(|pieces| {
                let mut done = leaves.run();
                while let Some(piece) = pieces.next() {
                    let mut rest = Some(piece);
                    while let Some(piece) = rest {
                        let begin = piece.positions().start;
                        let (leaf, after) = piece.split_off(leaves.leaf_at(begin).end);
                        rest = after;
                        let mut value = identity();
                        leaf.run(|item| fold(&mut value, item));
                        done.push(begin, value, &merge);
                    }
                    done.hand_in(&merge);
                }
            });
            if let Err(payload) = run {
                drop_quietly(leaves);
                return Err(payload);
            }
            match (&mut total, leaves.into_total(None, &merge)) {
                (Some(total), Some(later)) => merge(total, later),
                (total, later) => *total = later,
            }
            Ok(ControlFlow::Continue(()))
        });
        total
    }

    /// Accumulates items with `fold`, beginning with what `identity` makes, and combines the partial results with `combine`.
    ///
    /// ```
    /// let text = ["stay", "near", "home", "base"];
    /// let longest = locsteal::source(&text).fold_reduce(
    ///     Vec::new,
    ///     |lengths: &mut Vec<usize>, word| lengths.push(word.len()),
    ///     |mine, mut other| mine.append(&mut other),
    /// );
    /// assert_eq!(longest, [4, 4, 4, 4]);
    /// ```
    #[inline]
    pub fn fold_reduce<A: Send>(
        self,
        identity: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, S::Item) + Sync,
        combine: impl Fn(&mut A, A) + Sync,
    ) -> A
    where
        S: Sync,
    {
        self.accumulate(&identity, fold, combine).unwrap_or_else(identity)
    }

    /// Combines what `map` makes of the items with `combine`, beginning with what `identity` makes.
    ///
    /// `identity()` must be neutral: how often it takes part depends on the run.
    ///
    /// ```
    /// let gcd = |a: u32, b: u32| {
    ///     let (mut a, mut b) = (a, b);
    ///     while b != 0 {
    ///         (a, b) = (b, a % b);
    ///     }
    ///     a
    /// };
    /// let numbers = [84, 126, 210];
    /// assert_eq!(locsteal::source(&numbers).map_reduce(|| 0, |n| *n, gcd), 42);
    /// ```
    #[inline]
    pub fn map_reduce<A: Send>(
        self,
        identity: impl Fn() -> A + Sync,
        map: impl Fn(S::Item) -> A + Sync,
        combine: impl Fn(A, A) -> A + Sync,
    ) -> A
    where
        S: Sync,
    {
        let merge = |mine: &mut Option<A>, other: Option<A>| {
            // `None` only after a panic in `combine`, and then nobody asks any more.
            if let (Some(a), Some(b)) = (mine.take(), other) {
                *mine = Some(combine(a, b));
            }
        };
        let fold = |partial: &mut Option<A>, item| {
            let value = map(item);
            merge(partial, Some(value));
        };
        self.accumulate(|| Some(identity()), fold, merge).flatten().unwrap_or_else(identity)
    }

    /// Lets `body` accumulate items into values of a type that says itself how to combine them. See [`Reduce`].
    ///
    /// ```
    /// use locsteal::reduce::{Max, Sum};
    ///
    /// let (sum, max) = locsteal::range(0..100).reduce(|(sum, max): &mut (Sum<u32>, Max<u32>), i| {
    ///     *sum += i;
    ///     max.see(i * 37 % 100);
    /// });
    /// assert_eq!((sum.0, max.0), (4950, Some(99)));
    /// ```
    #[inline]
    pub fn reduce<R: Reduce + Send>(self, body: impl Fn(&mut R, S::Item) + Sync) -> R
    where
        S: Sync,
    {
        self.fold_reduce(R::identity, body, R::combine)
    }

    /// The sum of what `map` makes of the items. Overflow is treated as by `+=`.
    #[inline]
    pub fn sum<T>(self, map: impl Fn(S::Item) -> T + Sync) -> T
    where
        T: iter::Sum<T> + AddAssign + Send,
        S: Sync,
    {
        let zero = || iter::empty::<T>().sum();
        self.fold_reduce(zero, |sum, item| *sum += map(item), |sum, other| *sum += other)
    }

    /// The product of what `map` makes of the items. Overflow is treated as by `*=`.
    #[inline]
    pub fn product<T>(self, map: impl Fn(S::Item) -> T + Sync) -> T
    where
        T: iter::Product<T> + MulAssign + Send,
        S: Sync,
    {
        let one = || iter::empty::<T>().product();
        self.fold_reduce(
            one,
            |product, item| *product *= map(item),
            |product, other| {
                *product *= other;
            },
        )
    }

    /// The smallest of what `map` makes of the items; `None` if there are none. A NaN is the smallest only if there is nothing
    /// else.
    #[inline]
    pub fn min<T: PartialOrd + Send>(self, map: impl Fn(S::Item) -> T + Sync) -> Option<T>
    where
        S: Sync,
    {
        self.reduce(|min: &mut reduce::Min<T>, item| min.see(map(item))).0
    }

    /// The largest of what `map` makes of the items; `None` if there are none. A NaN is the largest only if there is nothing else.
    #[inline]
    pub fn max<T: PartialOrd + Send>(self, map: impl Fn(S::Item) -> T + Sync) -> Option<T>
    where
        S: Sync,
    {
        self.reduce(|max: &mut reduce::Max<T>, item| max.see(map(item))).0
    }
}
