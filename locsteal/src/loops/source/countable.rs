//! The types whose ranges can be looped over: integers and `char`.

use std::fmt::Debug;
use std::iter::FusedIterator;
use std::ops::{Range, RangeInclusive};

mod sealed {
    pub trait Sealed {}
}

/// A type whose values stand in a row, each a known number of steps from any other: the integers and `char`.
///
/// Sealed: the ranges of other types cannot be iterated over on stable Rust.
#[diagnostic::on_unimplemented(
    message = "a range of `{Self}` cannot be split by position",
    label = "not an integer",
    note = "loop over a range of integers, and compute the `{Self}` from the integer"
)]
pub trait Countable: Copy + PartialOrd + Send + Sync + Debug + sealed::Sealed {
    /// What iterates over `first..=last`.
    type Inclusive: DoubleEndedIterator<Item = Self> + FusedIterator;

    /// How many steps `later` is after `self`, which must not be larger.
    #[doc(hidden)]
    fn steps_to(self, later: Self) -> u128;

    /// The value that is `steps` after `self`. It must exist.
    #[doc(hidden)]
    #[must_use]
    fn forward(self, steps: u128) -> Self;

    /// The values `first..=last`, where `first <= last`.
    #[doc(hidden)]
    fn inclusive(first: Self, last: Self) -> Self::Inclusive;
}

/// An integer of the language.
pub trait Integer: Countable {
    /// The value, or `i128::MAX` if it is larger than that.
    #[doc(hidden)]
    fn saturating_i128(self) -> i128;

    /// How many steps `later` is after `self`, which must not be larger, or `usize::MAX` if that is less.
    #[doc(hidden)]
    fn saturating_steps_to(self, later: Self) -> usize;
}

macro_rules! countable_integers {
    ($inclusive:ident: $($t:ty as $wide:ty),* $(,)?) => {$(
        impl sealed::Sealed for $t {}

        impl Countable for $t {
            type Inclusive = $inclusive<$t>;

            #[inline]
            fn steps_to(self, later: Self) -> u128 {
                // The difference modulo 2^128, of values that are at most that far apart.
                (later as u128).wrapping_sub(self as u128)
            }

            #[inline]
            fn forward(self, steps: u128) -> Self {
                self.wrapping_add(steps as Self)
            }

            #[inline]
            fn inclusive(first: Self, last: Self) -> Self::Inclusive {
                $inclusive::<$t>::new(first, last)
            }
        }

        impl Integer for $t {
            #[inline]
            fn saturating_i128(self) -> i128 {
                i128::try_from(self).unwrap_or(i128::MAX)
            }

            #[inline]
            fn saturating_steps_to(self, later: Self) -> usize {
                // Where it fits, without a case for what does not that the compiler would have to see through.
                let steps = later.wrapping_sub(self) as $wide;
                if size_of::<$t>() <= size_of::<usize>() {
                    steps as usize
                } else {
                    usize::try_from(steps).unwrap_or(usize::MAX)
                }
            }
        }

        countable_integers!(@$inclusive $t, $wide);
    )*};

    (@WideChunk $t:ty, $wide:ty) => {
        impl WideChunk<$t> {
            #[inline]
            fn new(first: $t, last: $t) -> Self {
                Self { range: i64::from(first)..i64::from(last) + 1, narrow: std::marker::PhantomData }
            }
        }

        impl Iterator for WideChunk<$t> {
            type Item = $t;

            #[inline]
            fn next(&mut self) -> Option<$t> {
                self.range.next().map(|value| value as $t)
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.range.size_hint()
            }

            #[inline]
            fn nth(&mut self, n: usize) -> Option<$t> {
                self.range.nth(n).map(|value| value as $t)
            }

            #[inline]
            fn fold<B, F: FnMut(B, $t) -> B>(self, init: B, mut f: F) -> B {
                self.range.fold(init, |state, value| f(state, value as $t))
            }
        }

        impl DoubleEndedIterator for WideChunk<$t> {
            #[inline]
            fn next_back(&mut self) -> Option<$t> {
                self.range.next_back().map(|value| value as $t)
            }

            #[inline]
            fn nth_back(&mut self, n: usize) -> Option<$t> {
                self.range.nth_back(n).map(|value| value as $t)
            }
        }

        impl ExactSizeIterator for WideChunk<$t> {}
        impl FusedIterator for WideChunk<$t> {}
    };

    (@InclusiveChunk $t:ty, $unsigned:ty) => {
        impl InclusiveChunk<$t> {
            #[inline]
            fn new(first: $t, last: $t) -> Self {
                let full = first == <$t>::MIN && last == <$t>::MAX;
                Self { next: first, end: last.wrapping_add(1), full }
            }

            #[inline]
            fn is_done(&self) -> bool {
                self.next == self.end && !self.full
            }

            /// Whether more than `n` values are left.
            #[inline]
            fn exceeds(&self, n: usize) -> bool {
                let left = self.end.wrapping_sub(self.next) as $unsigned;
                left as u128 > n as u128 || (left == 0 && self.full)
            }
        }

        impl Iterator for InclusiveChunk<$t> {
            type Item = $t;

            #[inline]
            fn next(&mut self) -> Option<$t> {
                if self.is_done() {
                    return None;
                }
                let value = self.next;
                self.next = value.wrapping_add(1);
                Some(value)
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                if self.next == self.end && self.full {
                    return (usize::MAX, None);
                }
                let left = usize::try_from(self.end.wrapping_sub(self.next) as $unsigned);
                (left.unwrap_or(usize::MAX), left.ok())
            }

            #[inline]
            fn nth(&mut self, n: usize) -> Option<$t> {
                let value = self.exceeds(n).then(|| self.next.wrapping_add(n as $t));
                self.next = value.map_or(self.end, |value| value.wrapping_add(1));
                self.full = false;
                value
            }
        }

        impl DoubleEndedIterator for InclusiveChunk<$t> {
            #[inline]
            fn next_back(&mut self) -> Option<$t> {
                if self.is_done() {
                    return None;
                }
                self.end = self.end.wrapping_sub(1);
                Some(self.end)
            }

            #[inline]
            fn nth_back(&mut self, n: usize) -> Option<$t> {
                let value = self.exceeds(n).then(|| self.end.wrapping_sub(n as $t).wrapping_sub(1));
                self.end = value.unwrap_or(self.next);
                self.full = false;
                value
            }
        }

        impl FusedIterator for InclusiveChunk<$t> {}
    };
}

/// The values of an inclusive range of a type of at most 32 bits.
///
/// It counts in 64 bits, where the end can stand behind the last value. That spares the flag which makes [`RangeInclusive`]
/// slow.
#[derive(Clone, Debug)]
pub struct WideChunk<T> {
    range: Range<i64>,
    narrow: std::marker::PhantomData<T>,
}

/// The values of an inclusive range of a type of at least 64 bits.
///
/// Its end is the value after the last one, which for the largest value of the type wraps to the smallest: comparing with
/// `!=` does not care. Where all values of the type are left, `next` and `end` are equal as well, and `full` tells that from
/// none. `next` does not clear `full`, to keep it out of the loop: that can be noticed only after 2⁶⁴ steps of one.
#[derive(Clone, Debug)]
pub struct InclusiveChunk<T> {
    next: T,
    end: T,
    full: bool,
}

countable_integers!(WideChunk: u8 as u8, u16 as u16, u32 as u32, i8 as u8, i16 as u16, i32 as u32);
countable_integers!(InclusiveChunk: u64 as u64, i64 as u64, usize as usize, isize as usize, u128 as u128, i128 as u128);

impl sealed::Sealed for char {}

/// Positions among the `char`s, which leave out the surrogates 0xD800..0xE000.
const SURROGATES: u32 = 0x800;

impl Countable for char {
    type Inclusive = RangeInclusive<char>;

    fn steps_to(self, later: Self) -> u128 {
        u128::from(ordinal(later) - ordinal(self))
    }

    fn forward(self, steps: u128) -> Self {
        let at = ordinal(self) + steps as u32;
        let code = if at < 0xD800 { at } else { at + SURROGATES };
        char::from_u32(code).expect("a position of a range of `char` is a `char`")
    }

    fn inclusive(first: Self, last: Self) -> Self::Inclusive {
        first..=last
    }
}

fn ordinal(c: char) -> u32 {
    let code = u32::from(c);
    if code < 0xD800 { code } else { code - SURROGATES }
}
