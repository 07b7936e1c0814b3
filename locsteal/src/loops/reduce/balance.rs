//! Sums that are added to and subtracted from.

use std::iter;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use super::ops::{Difference, Reduction};

/// What has been added, and what has been subtracted: a part of a sum of a type that need not have numbers below zero.
#[derive(Clone, Copy, Debug)]
pub struct Balance<T> {
    added: T,
    taken: T,
}

impl<T: iter::Sum<T> + SubAssign> Balance<T> {
    #[inline]
    fn new() -> Self {
        let nothing = || iter::empty::<T>().sum();
        // The sum of nothing is -0.0 for floats; what is subtracted must begin with 0.0 to change nothing.
        let (added, mut taken): (T, T) = (nothing(), nothing());
        taken -= nothing();
        Self { added, taken }
    }
}

#[diagnostic::do_not_recommend]
impl<T: iter::Sum<T> + AddAssign + SubAssign + Send + Sync> Reduction<Difference> for T {
    type Private = Balance<T>;

    #[inline]
    fn private(&self) -> Balance<T> {
        Balance::new()
    }

    #[inline]
    fn merge(earlier: &mut Balance<T>, later: Balance<T>) {
        earlier.added += later.added;
        earlier.taken += later.taken;
    }

    #[inline]
    fn finish(&mut self, total: Balance<T>) {
        *self += total.added;
        *self -= total.taken;
    }
}

/// Of a loop in the body of another that reduces the same variable.
impl<T: iter::Sum<T> + AddAssign + SubAssign + Send + Sync> Reduction<Difference> for Balance<T> {
    type Private = Self;

    #[inline]
    fn private(&self) -> Self {
        Self::new()
    }

    #[inline]
    fn merge(earlier: &mut Self, later: Self) {
        <T as Reduction<Difference>>::merge(earlier, later);
    }

    #[inline]
    fn finish(&mut self, total: Self) {
        <T as Reduction<Difference>>::merge(self, total);
    }
}

impl<T: AddAssign<V>, V> AddAssign<V> for Balance<T> {
    #[inline]
    #[track_caller]
    fn add_assign(&mut self, value: V) {
        self.added += value;
    }
}

#[expect(clippy::suspicious_op_assign_impl, reason = "what is taken is added up")]
impl<T: AddAssign<V>, V> SubAssign<V> for Balance<T> {
    #[inline]
    #[track_caller]
    fn sub_assign(&mut self, value: V) {
        self.taken += value;
    }
}

impl<T: AddAssign<V>, V> Add<V> for Balance<T> {
    type Output = Self;

    #[inline]
    #[track_caller]
    fn add(mut self, value: V) -> Self {
        self.added += value;
        self
    }
}

#[expect(clippy::suspicious_arithmetic_impl, reason = "the same")]
impl<T: AddAssign<V>, V> Sub<V> for Balance<T> {
    type Output = Self;

    #[inline]
    #[track_caller]
    fn sub(mut self, value: V) -> Self {
        self.taken += value;
        self
    }
}
