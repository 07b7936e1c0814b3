//! Reductions: variables that every participant accumulates into privately, combined at the end.

pub(crate) mod balance;
mod leaves;
pub mod ops;
mod partials;
mod types;
mod wrappers;

pub use ops::Reduction;
pub use wrappers::{All, Any, Max, Min, Product, Sum};

pub(crate) use leaves::Leaves;
pub(crate) use partials::Partials;

/// A type whose values can be accumulated apart and then combined.
///
/// `combine` is associative, and [`identity`](Self::identity) its neutral element. It is commutative too, unless it is used
/// only in reproducible reductions: there partial results meet in the order of the iterations, elsewhere in any order.
///
/// Numbers do not implement it, since nothing says with which operator: write `reduce(+: sum)`, or use a wrapper such as
/// [`Sum`]. Tuples, arrays, `Vec`, `Option`, `Box`, maps and sets of such types do.
///
/// # Examples
///
/// ```
/// use locsteal::Reduce;
///
/// /// The smallest interval that holds all that was seen.
/// struct Bounds {
///     low: i32,
///     high: i32,
/// }
///
/// impl Reduce for Bounds {
///     fn identity() -> Self {
///         Bounds { low: i32::MAX, high: i32::MIN }
///     }
///
///     fn combine(&mut self, other: Self) {
///         self.low = self.low.min(other.low);
///         self.high = self.high.max(other.high);
///     }
/// }
///
/// let samples = [3, -7, 12, 5];
/// let bounds = locsteal::source(&samples).reduce(|bounds: &mut Bounds, &sample| {
///     bounds.combine(Bounds { low: sample, high: sample });
/// });
/// assert_eq!((bounds.low, bounds.high), (-7, 12));
/// ```
#[diagnostic::on_unimplemented(
    message = "values of `{Self}` cannot be combined",
    note = "for a number say the operator: `reduce(+: name)`, or use `locsteal::reduce::Sum` and its like; for a type of your own \
            implement `locsteal::Reduce`"
)]
pub trait Reduce: Sized {
    /// The value that changes nothing: `combine(identity(), x)` is `x`.
    fn identity() -> Self;

    /// Adds the result of later iterations to this one.
    fn combine(&mut self, other: Self);

    /// An identity of the same shape as `self`, for types whose values have one: for a `Vec`, as many identities as it has
    /// elements. Otherwise [`identity`](Self::identity).
    #[must_use]
    fn identity_like(&self) -> Self {
        Self::identity()
    }
}
