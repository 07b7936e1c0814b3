//! The closures that run chunks, with as many arrays as they own parts of.
//!
//! [`Loop`](super::Loop) has a method for each number of arrays, which gives the compiler the closure's signature and no
//! more. What the closure, the arrays and the results must be for the loop to run stands at [`Prepared::run`]: there a
//! failed bound is shown as one line.

use super::fill::Fill;
use super::frame::Frame;
use super::leave::Ended;
use crate::loops::own::{Area, Owned, Owning};

/// The arrays of which the iterations own parts.
pub trait Arrays<S, Part>: Sync {
    /// Makes sure that no two iterations own the same element.
    fn check(&self, source: &S);
}

/// A closure that runs a chunk of a loop whose iterations own parts of `Arrays`.
pub trait ChunkCode<S, Part, Arrays, L, R, E> {
    /// Runs a chunk.
    ///
    /// # Safety
    ///
    /// The arrays have been checked. No position is in frames of two calls.
    unsafe fn run(
        &self,
        frame: Frame<'_, S, Part>,
        arrays: &Arrays,
        locals: &mut L,
        sums: &mut R,
    ) -> Ended<E>;
}

/// The same for a loop that yields values of type `T`.
pub trait YieldCode<S, Part, Arrays, T, L, R, E> {
    /// Runs a chunk.
    ///
    /// # Safety
    ///
    /// The arrays have been checked. No position is in frames of two calls.
    unsafe fn run(
        &self,
        frame: Frame<'_, S, Part>,
        arrays: &Arrays,
        fill: Fill<'_, '_, T>,
        locals: &mut L,
        sums: &mut R,
    ) -> Ended<E>;
}

macro_rules! arrays {
    ($(($($own:ident: $array:ident),*))*) => {$(
        impl<S, Part, $($array: Owning<S, Part>),*> Arrays<S, Part> for ($($array,)*) {
            #[inline]
            fn check(&self, _source: &S) {
                let ($($own,)*) = self;
                $($own.check(_source);)*
            }
        }

        impl<S, Part, $($array: Owning<S, Part>,)* L, R, E, Code> ChunkCode<S, Part, ($($array,)*), L, R, E> for Code
        where
            Code: Fn(Frame<'_, S, Part>, $(Area, &mut [$array::Element],)* &mut L, &mut R) -> Ended<E>,
        {
            #[inline]
            unsafe fn run(
                &self,
                frame: Frame<'_, S, Part>,
                arrays: &($($array,)*),
                locals: &mut L,
                sums: &mut R,
            ) -> Ended<E> {
                let ($($own,)*) = arrays;
                $(
                    // SAFETY: as the caller promises.
                    let $own = unsafe { $own.part(&frame) };
                )*
                self(frame, $($own.0, $own.1,)* locals, sums)
            }
        }

        impl<S, Part, $($array: Owning<S, Part>,)* T, L, R, E, Code> YieldCode<S, Part, ($($array,)*), T, L, R, E> for Code
        where
            Code: Fn(
                Frame<'_, S, Part>,
                $(Area, &mut [$array::Element],)*
                Fill<'_, '_, T>,
                &mut L,
                &mut R,
            ) -> Ended<E>,
        {
            #[inline]
            unsafe fn run(
                &self,
                frame: Frame<'_, S, Part>,
                arrays: &($($array,)*),
                fill: Fill<'_, '_, T>,
                locals: &mut L,
                sums: &mut R,
            ) -> Ended<E> {
                let ($($own,)*) = arrays;
                $(
                    // SAFETY: as the caller promises.
                    let $own = unsafe { $own.part(&frame) };
                )*
                self(frame, $($own.0, $own.1,)* fill, locals, sums)
            }
        }
    )*};
}

arrays! {
    ()
    (a: A)
    (a: A, b: B)
    (a: A, b: B, c: C)
    (a: A, b: B, c: C, d: D)
    (a: A, b: B, c: C, d: D, e: F)
    (a: A, b: B, c: C, d: D, e: F, f: G)
    (a: A, b: B, c: C, d: D, e: F, f: G, g: H)
    (a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I)
    (a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J)
    (a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K)
    (a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K, k: M)
    (a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K, k: M, l: N)
}

/// A loop with everything that it needs.
#[must_use]
pub struct Prepared<Loop, Arrays, Locals, MakeSums, Code> {
    pub(super) launch: Loop,
    pub(super) arrays: Arrays,
    /// Makes what a participant has for itself.
    pub(super) locals: Locals,
    /// Makes what a participant, or a leaf, accumulates into.
    pub(super) sums: MakeSums,
    pub(super) code: Code,
}

macro_rules! prepare {
    ($($with:ident, $yielding:ident($($own:ident: $array:ident),*))*) => {$(
        impl<S, Part> super::Loop<'_, S, Part> {
            /// The loop, with what a participant has for itself and the code of a chunk.
            #[inline]
            #[allow(clippy::too_many_arguments, reason = "generated code does not mind")]
            pub fn $with<$($array: Owned,)* L, R, E, Locals, MakeSums, Code>(
                self,
                $($own: $array,)*
                locals: Locals,
                sums: MakeSums,
                code: Code,
            ) -> Prepared<Self, ($($array,)*), Locals, MakeSums, Code>
            where
                Locals: Fn() -> L,
                MakeSums: Fn() -> R,
                Code: Fn(Frame<'_, S, Part>, $(Area, &mut [$array::Element],)* &mut L, &mut R) -> Ended<E>,
            {
                Prepared { launch: self, arrays: ($($own,)*), locals, sums, code }
            }

            /// The same for a loop that yields.
            #[inline]
            #[allow(clippy::too_many_arguments, reason = "generated code does not mind")]
            pub fn $yielding<$($array: Owned,)* T, L, R, E, Locals, MakeSums, Code>(
                self,
                $($own: $array,)*
                locals: Locals,
                sums: MakeSums,
                code: Code,
            ) -> Prepared<Self, ($($array,)*), Locals, MakeSums, Code>
            where
                Locals: Fn() -> L,
                MakeSums: Fn() -> R,
                Code: Fn(
                    Frame<'_, S, Part>,
                    $(Area, &mut [$array::Element],)*
                    Fill<'_, '_, T>,
                    &mut L,
                    &mut R,
                ) -> Ended<E>,
            {
                Prepared { launch: self, arrays: ($($own,)*), locals, sums, code }
            }
        }
    )*};
}

prepare! {
    with_0, yielding_0()
    with_1, yielding_1(a: A)
    with_2, yielding_2(a: A, b: B)
    with_3, yielding_3(a: A, b: B, c: C)
    with_4, yielding_4(a: A, b: B, c: C, d: D)
    with_5, yielding_5(a: A, b: B, c: C, d: D, e: F)
    with_6, yielding_6(a: A, b: B, c: C, d: D, e: F, f: G)
    with_7, yielding_7(a: A, b: B, c: C, d: D, e: F, f: G, g: H)
    with_8, yielding_8(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I)
    with_9, yielding_9(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J)
    with_10, yielding_10(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K)
    with_11, yielding_11(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K, k: M)
    with_12, yielding_12(a: A, b: B, c: C, d: D, e: F, f: G, g: H, h: I, i: J, j: K, k: M, l: N)
}
