//! The operators of a reduction, as types, and what can be reduced with each.

use std::marker::PhantomData;

/// `reduce(+: v)`. For every type with [`std::iter::Sum`] and `+=`.
#[derive(Clone, Copy, Debug)]
pub enum Add {}
/// `reduce(*: v)`. For every type with [`std::iter::Product`] and `*=`.
#[derive(Clone, Copy, Debug)]
pub enum Mul {}
/// `reduce(&: v)`.
#[derive(Clone, Copy, Debug)]
pub enum BitAnd {}
/// `reduce(|: v)`.
#[derive(Clone, Copy, Debug)]
pub enum BitOr {}
/// `reduce(^: v)`.
#[derive(Clone, Copy, Debug)]
pub enum BitXor {}
/// `reduce(&&: v)`.
#[derive(Clone, Copy, Debug)]
pub enum And {}
/// `reduce(||: v)`.
#[derive(Clone, Copy, Debug)]
pub enum Or {}
/// `reduce(min: v)`.
#[derive(Clone, Copy, Debug)]
pub enum Min {}
/// `reduce(max: v)`.
#[derive(Clone, Copy, Debug)]
pub enum Max {}
/// `reduce(v)`: the type's own [`Reduce`](super::Reduce).
#[derive(Clone, Copy, Debug)]
pub enum Combine {}
/// Element by element with `Op`: `reduce(+: v)` where the body writes `v[k] += ..`, of an array, a slice or a `Vec`.
/// `Each<Each<Op>>` for `v[j][k] += ..`.
#[derive(Clone, Copy, Debug)]
pub struct Each<Op>(PhantomData<Op>);

/// A variable that can be reduced with the operator `Op`.
///
/// How the loop uses it, for a variable `v`: each participant makes itself a private value with `private(&v)`, and
/// accumulates into that; `merge` joins two private values; `finish(&mut v, total)` puts the result into the variable.
/// A loop of no iterations calls nothing but `private`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced with this operator",
    note = "`+`, `*`, `&`, `|`, `^`, `min` and `max` work on numbers and on types that have the standard library's traits for \
            them, `&&` and `||` on `bool`; for other types implement `locsteal::Reduce` and write `reduce(name)`"
)]
pub trait Reduction<Op>: Sync {
    /// What a participant accumulates into. `Self`, except for slices.
    type Private: Send;

    /// A value to begin with, of the shape of `self`: accumulated into it, and then put into `self`, iterations have the
    /// effect that they have on `self`.
    fn private(&self) -> Self::Private;

    /// Joins `later` to `earlier`.
    fn merge(earlier: &mut Self::Private, later: Self::Private);

    /// Joins what all iterations have accumulated to the variable.
    fn finish(&mut self, total: Self::Private);
}
