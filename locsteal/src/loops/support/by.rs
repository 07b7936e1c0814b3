//! What is added to a loop's index, where it need not be a number.
//!
//! In `x[i + k]`, with a `k` that the body captures, `k` can be of any type that an index can be added to. Only the type
//! checker knows: for numbers [`ByNumber`] is found, by the ordinary search for a method; for everything else, one step of
//! auto-reference later, [`ByAny`], with which the array is read as it is.

use super::Distance;
use super::read::Other;

/// What is added or subtracted.
pub struct By<'k, K: ?Sized>(pub &'k K);

/// A number.
pub trait ByNumber {
    /// Its type.
    type Number: Distance;

    /// The number.
    fn number(&self) -> Self::Number;

    /// `array`, which is `whole` as it is read at a distance that is known.
    #[inline]
    fn array<A, X: ?Sized>(&self, array: A, _whole: &X) -> A {
        array
    }
}

impl<K: Distance> ByNumber for By<'_, K> {
    type Number = K;

    #[inline]
    fn number(&self) -> K {
        *self.0
    }
}

/// Something else.
pub trait ByAny {
    /// Stands for no distance.
    fn number(&self) -> Unknown;

    /// `whole`, to be read as it is.
    #[inline]
    fn array<'r, A, X: ?Sized>(&self, _array: A, whole: &'r X) -> Other<'r, X> {
        Other::new(whole)
    }
}

impl<K: ?Sized> ByAny for &By<'_, K> {
    #[inline]
    fn number(&self) -> Unknown {
        Unknown
    }
}

/// A distance that is not known, of an array that is read as it is.
#[derive(Clone, Copy, Debug)]
pub struct Unknown;

impl Distance for Unknown {
    #[inline]
    fn distance(self) -> isize {
        0
    }
}
