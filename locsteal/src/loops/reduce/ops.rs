//! The operators of a reduction, as types, and what can be reduced with each.
//!
//! A user names an operator in `reduce(+: sum)`; the attribute makes a type of it, and [`Reduction`] says what that operator
//! does with the type of the variable.
//!
//! Partial results are combined with the operator itself, so that arithmetic that overflows panics or wraps as the same
//! operator does elsewhere in the program. Partial results are not the totals that a serial loop passes through, so one
//! may overflow where the serial loop does not, and the reverse.

use std::iter;
use std::marker::PhantomData;
use std::ops::{self, AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, MulAssign};

use super::Reduce;
use super::wrappers::{is_greater, is_less};

/// `reduce(+: v)`, for every type with [`std::iter::Sum`] and `+=`: all numbers, `Wrapping`, `Duration`, vectors of algebra
/// crates.
#[derive(Clone, Copy, Debug)]
pub enum Add {}
/// `reduce(+: v)` where the body subtracts from `v` as well, for every type with [`std::iter::Sum`], `+=` and `-=`.
#[derive(Clone, Copy, Debug)]
pub enum Difference {}
/// `reduce(*: v)`, for every type with [`std::iter::Product`] and `*=`.
#[derive(Clone, Copy, Debug)]
pub enum Mul {}
/// `reduce(&: v)`, for every type with `&=`: integers, `bool`, sets of flags.
#[derive(Clone, Copy, Debug)]
pub enum BitAnd {}
/// `reduce(|: v)`, for every type with `|=`.
#[derive(Clone, Copy, Debug)]
pub enum BitOr {}
/// `reduce(^: v)`, for every type with `^` and `^=` where `x ^ x` is the neutral element.
#[derive(Clone, Copy, Debug)]
pub enum BitXor {}
/// `reduce(&&: v)`, for `bool`.
#[derive(Clone, Copy, Debug)]
pub enum And {}
/// `reduce(||: v)`, for `bool`.
#[derive(Clone, Copy, Debug)]
pub enum Or {}
/// `reduce(min: v)`, for every type with an order.
///
/// A NaN counts as missing, as in [`f64::min`]: the result is a NaN only if the variable and all values are. Of values that
/// are equal and yet differ (0.0 and -0.0) either may be the result, as with [`f64::min`] itself.
#[derive(Clone, Copy, Debug)]
pub enum Min {}
/// `reduce(max: v)`, for every type with an order. See [`Min`] about NaN.
#[derive(Clone, Copy, Debug)]
pub enum Max {}
/// `reduce(v)`: the type's own [`Reduce`].
#[derive(Clone, Copy, Debug)]
pub enum Combine {}
/// Element by element with `Op`, of an array, a slice, a `Vec` or a boxed slice: `reduce(+: v)` where the body writes
/// `v[k] += ..`. It is `Each<Each<Op>>` for `v[j][k] += ..`.
#[derive(Clone, Copy, Debug)]
pub struct Each<Op>(PhantomData<Op>);

/// A variable that can be reduced with the operator `Op`.
///
/// How a loop uses it, for a variable `v`: each participant makes itself a private value with `private(&v)`, and the body
/// accumulates into that; `merge` joins two private values; `finish(&mut v, total)` puts the result into the variable.
/// A loop of no iterations calls nothing, so that the variable keeps every bit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced with this operator",
    note = "numbers can be reduced with `+`, `*`, `&`, `|`, `^`, `min` and `max`, `bool` with `&&` and `||`; for other types \
            implement `locsteal::Reduce` and write `reduce(name)`",
    note = "another type, or a type parameter, needs these traits, and `Send` and `Sync`: for `+` `std::iter::Sum` and \
            `AddAssign`, and `SubAssign` if the body has `-=`; for `*` `std::iter::Product` and `MulAssign`; for `min` and `max` \
            `PartialOrd` and `Clone`; for `&` `BitAndAssign` and `Clone`; for `|` `BitOrAssign` and `Clone`; for `^` `BitXor`, \
            `BitXorAssign` and `Clone`"
)]
pub trait Reduction<Op>: Sync {
    /// What a participant accumulates into: `Self`, except for slices.
    type Private: Send;

    /// A value to begin with, of the shape of `self`. Where the operator changes nothing when a value is taken into account
    /// twice, that is `self` again; otherwise it is the neutral element.
    fn private(&self) -> Self::Private;

    /// Joins `later` to `earlier`.
    fn merge(earlier: &mut Self::Private, later: Self::Private);

    /// Joins what all iterations have accumulated to the variable.
    fn finish(&mut self, total: Self::Private);
}

macro_rules! by_assignment {
    ($op:ident for $t:ident: [$($bound:tt)*], $assign:tt, |$this:ident| $private:expr) => {
        #[diagnostic::do_not_recommend]
        impl<$t: $($bound)* + Send + Sync> Reduction<$op> for $t {
            type Private = Self;

            #[inline]
            fn private(&self) -> Self {
                let $this = self;
                $private
            }

            #[inline]
            fn merge(earlier: &mut Self, later: Self) {
                *earlier $assign later;
            }

            #[inline]
            fn finish(&mut self, total: Self) {
                *self $assign total;
            }
        }
    };
}

// The sum of nothing is -0.0 for floats: the only number that leaves each other one as it is.
by_assignment!(Add for T: [iter::Sum<T> + AddAssign], +=, |_this| iter::empty::<T>().sum());
by_assignment!(Mul for T: [iter::Product<T> + MulAssign], *=, |_this| iter::empty::<T>().product());
by_assignment!(BitAnd for T: [BitAndAssign + Clone], &=, |this| this.clone());
by_assignment!(BitOr for T: [BitOrAssign + Clone], |=, |this| this.clone());
by_assignment!(BitXor for T: [ops::BitXor<Output = T> + BitXorAssign + Clone], ^=, |this| this.clone() ^ this.clone());

macro_rules! extremum {
    ($op:ident, $better:ident) => {
        #[diagnostic::do_not_recommend]
        impl<T: PartialOrd + Clone + Send + Sync> Reduction<$op> for T {
            type Private = Self;

            #[inline]
            fn private(&self) -> Self {
                self.clone()
            }

            #[inline]
            fn merge(earlier: &mut Self, later: Self) {
                if $better(&later, earlier) {
                    *earlier = later;
                }
            }

            #[inline]
            fn finish(&mut self, total: Self) {
                <Self as Reduction<$op>>::merge(self, total);
            }
        }
    };
}

extremum!(Min, is_less);
extremum!(Max, is_greater);

macro_rules! logic {
    ($op:ident, $assign:tt) => {
        impl Reduction<$op> for bool {
            type Private = Self;

            #[inline]
            fn private(&self) -> Self {
                *self
            }

            #[inline]
            fn merge(earlier: &mut Self, later: Self) {
                *earlier $assign later;
            }

            #[inline]
            fn finish(&mut self, total: Self) {
                *self $assign total;
            }
        }
    };
}

logic!(And, &=);
logic!(Or, |=);

#[diagnostic::do_not_recommend]
impl<T: Reduce + Send + Sync> Reduction<Combine> for T {
    type Private = Self;

    #[inline]
    fn private(&self) -> Self {
        self.identity_like()
    }

    #[inline]
    fn merge(earlier: &mut Self, later: Self) {
        earlier.combine(later);
    }

    #[inline]
    fn finish(&mut self, total: Self) {
        self.combine(total);
    }
}

impl<Op, T: Reduction<Op>, const N: usize> Reduction<Each<Op>> for [T; N] {
    type Private = [T::Private; N];

    fn private(&self) -> Self::Private {
        std::array::from_fn(|k| self[k].private())
    }

    fn merge(earlier: &mut Self::Private, later: Self::Private) {
        for (earlier, later) in earlier.iter_mut().zip(later) {
            T::merge(earlier, later);
        }
    }

    fn finish(&mut self, total: Self::Private) {
        for (element, total) in self.iter_mut().zip(total) {
            element.finish(total);
        }
    }
}

impl<Op, T: Reduction<Op>> Reduction<Each<Op>> for [T] {
    type Private = Vec<T::Private>;

    fn private(&self) -> Self::Private {
        self.iter().map(T::private).collect()
    }

    fn merge(earlier: &mut Self::Private, later: Self::Private) {
        for (earlier, later) in earlier.iter_mut().zip(later) {
            T::merge(earlier, later);
        }
    }

    fn finish(&mut self, total: Self::Private) {
        for (element, total) in self.iter_mut().zip(total) {
            element.finish(total);
        }
    }
}

macro_rules! as_a_slice {
    ($(impl[$($generics:tt)*] for $t:ty;)*) => {$(
        impl<Op, T: Reduction<Op>, $($generics)*> Reduction<Each<Op>> for $t {
            type Private = Vec<T::Private>;

            fn private(&self) -> Self::Private {
                <[T]>::private(self)
            }

            fn merge(earlier: &mut Self::Private, later: Self::Private) {
                <[T]>::merge(earlier, later);
            }

            fn finish(&mut self, total: Self::Private) {
                <[T]>::finish(self, total);
            }
        }
    )*};
}

as_a_slice! {
    impl[] for Vec<T>;
    impl[] for Box<[T]>;
}

/// For a variable that is a reference to what is reduced.
impl<Op, V: Reduction<Each<Op>> + ?Sized> Reduction<Each<Op>> for &mut V {
    type Private = V::Private;

    fn private(&self) -> Self::Private {
        V::private(self)
    }

    fn merge(earlier: &mut Self::Private, later: Self::Private) {
        V::merge(earlier, later);
    }

    fn finish(&mut self, total: Self::Private) {
        V::finish(self, total);
    }
}
