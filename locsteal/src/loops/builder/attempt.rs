//! What an iteration can answer that may end the loop.

use std::ops::ControlFlow;

/// The types that `?` works on: [`Result`], [`Option`] and [`ControlFlow`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether the loop goes on",
    label = "neither a `Result`, an `Option` nor a `ControlFlow`",
    note = "let the closure return `Ok(..)` or `Err(..)`, or `Some(..)` or `None`"
)]
pub trait Attempt {
    /// What there is when the loop goes on.
    type Output;
    /// What there is when the loop ends.
    type Exit;
    /// The same type with another output.
    type With<T>;

    /// Goes on, or ends the loop.
    fn branch(self) -> ControlFlow<Self::Exit, Self::Output>;
    /// The loop went on to its end.
    fn from_output<T>(output: T) -> Self::With<T>;
    /// The loop was ended.
    fn from_exit<T>(exit: Self::Exit) -> Self::With<T>;
}

impl<T, E> Attempt for Result<T, E> {
    type Output = T;
    type Exit = E;
    type With<U> = Result<U, E>;

    #[inline]
    fn branch(self) -> ControlFlow<E, T> {
        match self {
            Ok(output) => ControlFlow::Continue(output),
            Err(error) => ControlFlow::Break(error),
        }
    }

    #[inline]
    fn from_output<U>(output: U) -> Result<U, E> {
        Ok(output)
    }

    #[inline]
    fn from_exit<U>(exit: E) -> Result<U, E> {
        Err(exit)
    }
}

impl<T> Attempt for Option<T> {
    type Output = T;
    type Exit = ();
    type With<U> = Option<U>;

    #[inline]
    fn branch(self) -> ControlFlow<(), T> {
        match self {
            Some(output) => ControlFlow::Continue(output),
            None => ControlFlow::Break(()),
        }
    }

    #[inline]
    fn from_output<U>(output: U) -> Option<U> {
        Some(output)
    }

    #[inline]
    fn from_exit<U>((): ()) -> Option<U> {
        None
    }
}

impl<B, C> Attempt for ControlFlow<B, C> {
    type Output = C;
    type Exit = B;
    type With<U> = ControlFlow<B, U>;

    #[inline]
    fn branch(self) -> Self {
        self
    }

    #[inline]
    fn from_output<U>(output: U) -> ControlFlow<B, U> {
        ControlFlow::Continue(output)
    }

    #[inline]
    fn from_exit<U>(exit: B) -> ControlFlow<B, U> {
        ControlFlow::Break(exit)
    }
}
