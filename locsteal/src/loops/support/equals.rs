//! Whether values that are equal are the same.
//!
//! The least of several equal values is the first one, which takes an order where one value can be told from another: 0.0
//! from -0.0, or one record from another with the same key. Where it cannot, any will do.

use std::cmp::{Ordering, Reverse};
use std::num::{NonZero, Wrapping};
use std::time::{Duration, Instant};

use super::Accumulator;

/// A type whose values are the same if they are equal.
pub trait Same {}

macro_rules! same {
    ($($(#[generics($($generics:tt)*)])? $t:ty;)*) => {$(
        impl$(<$($generics)*>)? Same for $t {}
    )*};
}

same! {
    u8; u16; u32; u64; u128; usize;
    i8; i16; i32; i64; i128; isize;
    bool; char; str; String; Duration; Instant; Ordering;
    NonZero<u8>; NonZero<u16>; NonZero<u32>; NonZero<u64>; NonZero<u128>; NonZero<usize>;
    #[generics(T: Same)] Wrapping<T>;
    #[generics(T: Same)] Reverse<T>;
    #[generics(T: Same)] Option<T>;
    #[generics(T: Same)] [T];
    #[generics(T: Same, const N: usize)] [T; N];
    #[generics(T: Same)] Vec<T>;
    #[generics(T: Same + ?Sized)] Box<T>;
    #[generics(T: Same + ?Sized)] &T;
    #[generics(T: Same + ?Sized)] &mut T;
    #[generics(A: Same, B: Same)] (A, B);
    #[generics(A: Same, B: Same, C: Same)] (A, B, C);
}

/// Whether what is accumulated is joined in the order of the iterations.
// A type and no value, so that what is not used is not compiled.
pub trait Order {
    /// Whether it is.
    const KEPT: bool;
}

/// In whatever order participants end.
#[derive(Clone, Copy, Debug)]
pub struct AnyOrder;

/// In the order of the iterations.
#[derive(Clone, Copy, Debug)]
pub struct InOrder;

impl Order for AnyOrder {
    const KEPT: bool = false;
}

impl Order for InOrder {
    const KEPT: bool = true;
}

impl Order for () {
    const KEPT: bool = false;
}

/// As one of several variables needs it.
impl<A: Order, Rest: Order> Order for (A, Rest) {
    const KEPT: bool = A::KEPT || Rest::KEPT;
}

/// Of a variable of a type whose equal values are the same: found before [`AnyEquals`].
pub trait SameEquals {
    /// The order that its least or greatest value needs.
    fn order(&self) -> AnyOrder;
}

impl<Op, T: Same + ?Sized> SameEquals for Accumulator<'_, Op, T> {
    #[inline]
    fn order(&self) -> AnyOrder {
        AnyOrder
    }
}

/// Of a variable of any type.
pub trait AnyEquals {
    /// The order that its least or greatest value needs: equal values may differ.
    fn order(&self) -> InOrder;
}

impl<Op, T: ?Sized> AnyEquals for &Accumulator<'_, Op, T> {
    #[inline]
    fn order(&self) -> InOrder {
        InOrder
    }
}
