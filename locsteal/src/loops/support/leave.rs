//! How a chunk ends, and what an iteration that leaves the loop takes along.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::task::Poll;

/// How the chunk code ended.
///
/// No body can make one by accident: a `return` that is hidden in a macro does not compile.
pub enum Ended<E> {
    /// Its loop ended; where it ended early, by a `break`.
    Through,
    /// An iteration left the loop with this.
    Left(E),
}

/// The exits of a loop that has none.
pub type Never = Infallible;

/// One way to leave a loop, or another.
pub enum Or<A, B> {
    /// The first.
    This(A),
    /// One of the others.
    That(B),
}

/// What `?` can be applied to.
#[diagnostic::on_unimplemented(
    message = "`?` in a parallel loop cannot be applied to `{Self}`",
    label = "not a `Result`, `Option` or `ControlFlow`",
    note = "use `match`, and `return` or `break`"
)]
pub trait Leaving {
    /// What the expression is when nothing is left.
    type Output;
    /// What leaves, such that `?` can be applied to it again.
    type Residual;

    /// Goes on, or leaves.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;
}

/// `value?`
#[inline]
pub fn branch<V: Leaving>(value: V) -> ControlFlow<V::Residual, V::Output> {
    value.branch()
}

impl<T, E> Leaving for Result<T, E> {
    type Output = T;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T> Leaving for Option<T> {
    type Output = T;
    type Residual = Option<Infallible>;

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
}

impl<B, C> Leaving for ControlFlow<B, C> {
    type Output = C;
    type Residual = ControlFlow<B, Infallible>;

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, C> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(value),
            ControlFlow::Break(value) => ControlFlow::Break(ControlFlow::Break(value)),
        }
    }
}

impl<T, E> Leaving for Poll<Result<T, E>> {
    type Output = Poll<T>;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, Poll<T>> {
        match self {
            Poll::Ready(Ok(value)) => ControlFlow::Continue(Poll::Ready(value)),
            Poll::Ready(Err(error)) => ControlFlow::Break(Err(error)),
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
        }
    }
}
