//! Values that say with which operator they are combined.

use std::iter;
use std::ops::{AddAssign, MulAssign};

use super::Reduce;

/// A sum, to be accumulated into with `+=`.
///
/// ```
/// use locsteal::reduce::Sum;
///
/// let text = "a rose is a rose";
/// let counts = locsteal::source(text.as_bytes()).reduce(|counts: &mut [Sum<u32>; 256], &byte| {
///     counts[usize::from(byte)] += 1;
/// });
/// assert_eq!(counts[usize::from(b's')].0, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum<T>(pub T);

/// A product, to be accumulated into with `*=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Product<T>(pub T);

/// The smallest value seen; `None` before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Min<T>(pub Option<T>);

/// The largest value seen; `None` before the first.
///
/// ```
/// use locsteal::reduce::{Max, Min};
///
/// let samples = [2.5, f64::NAN, -1.0];
/// let (min, max) = locsteal::source(&samples).reduce(|(min, max): &mut (Min<f64>, Max<f64>), &x| {
///     min.see(x);
///     max.see(x);
/// });
/// assert_eq!((min.0, max.0), (Some(-1.0), Some(2.5)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Max<T>(pub Option<T>);

/// Whether all were true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct All(pub bool);

/// Whether any was true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Any(pub bool);

impl<T: AddAssign> AddAssign<T> for Sum<T> {
    #[inline]
    fn add_assign(&mut self, value: T) {
        self.0 += value;
    }
}

impl<T: iter::Sum<T> + AddAssign> Reduce for Sum<T> {
    #[inline]
    fn identity() -> Self {
        Self(iter::empty::<T>().sum())
    }

    #[inline]
    fn combine(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl<T: MulAssign> MulAssign<T> for Product<T> {
    #[inline]
    fn mul_assign(&mut self, value: T) {
        self.0 *= value;
    }
}

impl<T: iter::Product<T> + MulAssign> Reduce for Product<T> {
    #[inline]
    fn identity() -> Self {
        Self(iter::empty::<T>().product())
    }

    #[inline]
    fn combine(&mut self, other: Self) {
        self.0 *= other.0;
    }
}

/// Whether `new` takes the place of `old` as the smallest value. A value that is not comparable with itself, such as a NaN,
/// counts as missing.
#[inline]
pub(super) fn is_less<T: PartialOrd>(new: &T, old: &T) -> bool {
    new < old || (is_missing(old) && !is_missing(new))
}

/// Whether `new` takes the place of `old` as the largest value.
#[inline]
pub(super) fn is_greater<T: PartialOrd>(new: &T, old: &T) -> bool {
    new > old || (is_missing(old) && !is_missing(new))
}

#[inline]
#[expect(clippy::eq_op, reason = "that is what a NaN is known by")]
fn is_missing<T: PartialOrd>(value: &T) -> bool {
    value != value
}

macro_rules! extremum {
    ($name:ident, $better:ident) => {
        impl<T: PartialOrd> $name<T> {
            /// Takes a value into account. Of equal ones the first stays. A value that is not comparable with itself, such as a
            /// NaN, stays only where there is no other.
            #[inline]
            pub fn see(&mut self, value: T) {
                match &self.0 {
                    Some(old) if !$better(&value, old) => {}
                    _ => self.0 = Some(value),
                }
            }
        }

        impl<T: PartialOrd> Reduce for $name<T> {
            #[inline]
            fn identity() -> Self {
                Self(None)
            }

            #[inline]
            fn combine(&mut self, other: Self) {
                if let Some(value) = other.0 {
                    self.see(value);
                }
            }
        }
    };
}

extremum!(Min, is_less);
extremum!(Max, is_greater);

impl Reduce for All {
    #[inline]
    fn identity() -> Self {
        Self(true)
    }

    #[inline]
    fn combine(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl Reduce for Any {
    #[inline]
    fn identity() -> Self {
        Self(false)
    }

    #[inline]
    fn combine(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
