//! Integers of at most 64 bits: ranges of them have chunks that know how far they reach.

use super::Integer;

/// An integer of at most 64 bits.
///
/// Sealed, as [`Integer`] is.
pub trait Word: Integer {
    /// The value that is `steps` before `self`. It must exist.
    #[doc(hidden)]
    #[must_use]
    fn back(self, steps: u128) -> Self;

    /// The value that is `steps` after `self`.
    ///
    /// # Safety
    ///
    /// It exists.
    #[doc(hidden)]
    #[must_use]
    unsafe fn ahead(self, steps: u64) -> Self;
}

macro_rules! words {
    ($($t:ty: $wide:ty),* $(,)?) => {$(
        impl Word for $t {
            #[inline]
            fn back(self, steps: u128) -> Self {
                self.wrapping_sub(steps as Self)
            }

            #[inline]
            #[allow(clippy::checked_conversions, reason = "of the widest types it always fits")]
            unsafe fn ahead(self, steps: u64) -> Self {
                let wide = (self as $wide).wrapping_add(steps as $wide);
                // A body that goes back to a wide index gets this one, and not the lower half of it.
                // SAFETY: as the caller promises, the sum is a value of the type, and `$wide` holds all of them.
                unsafe {
                    std::hint::assert_unchecked(
                        wide >= <$t>::MIN as $wide && wide <= <$t>::MAX as $wide,
                    );
                }
                wide as $t
            }
        }
    )*};
}

words!(
    u8: u64, u16: u64, u32: u64, u64: u64, usize: u64,
    i8: i64, i16: i64, i32: i64, i64: i64, isize: i64,
);

/// What is alike of sources of words whose chunks are plain values, computed from plain values, and of these chunks.
macro_rules! plain_chunks {
    ($source:ident, $chunk:ident) => {
        // SAFETY: a chunk is a plain value.
        unsafe impl<T: Word> super::DetachedSource for $source<T> where
            Range<T>: DoubleEndedIterator<Item = T>
        {
        }

        // SAFETY: a chunk is computed from plain values.
        unsafe impl<T: Word> super::RepeatableSource for $source<T> where
            Range<T>: DoubleEndedIterator<Item = T>
        {
        }

        impl<T: Word> std::iter::FusedIterator for $chunk<T> {}

        // As for the standard library's ranges, but on machines whose `usize` has fewer than 32 bits.
        plain_chunks!(exact $chunk: u8, i8, u16, i16, u32, i32, usize, isize);
    };
    (exact $chunk:ident: $($t:ty),*) => {$(
        impl ExactSizeIterator for $chunk<$t> {}
    )*};
}

pub(super) use plain_chunks;
