//! Reductions: variables that every participant accumulates into privately, combined at the end.

pub mod ops;

pub use ops::Reduction;

/// A type whose values can be accumulated apart and then combined.
///
/// `combine` must be associative and commutative (which partial results meet in which order depends on the run, except in
/// a reproducible reduction, where they meet in the order of the iterations), and `identity()` must be its neutral
/// element.
///
/// Numbers do not implement it, since nothing says with which operator: use `reduce(+: sum)` or a wrapper such as
/// [`Sum`](crate::reduce::Sum).
pub trait Reduce: Sized {
    /// The value that changes nothing: `combine(identity(), x)` is `x`.
    fn identity() -> Self;

    /// Adds the result of other iterations to this one.
    fn combine(&mut self, other: Self);

    /// An identity of the same shape as `self`, for types whose values have one: for a `Vec`, as many identities as it
    /// has elements. Otherwise [`identity`](Self::identity).
    fn identity_like(&self) -> Self {
        Self::identity()
    }
}
