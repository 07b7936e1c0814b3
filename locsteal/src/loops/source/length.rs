//! The number of a source's items.

use std::fmt;

/// How many items a source has: from 0 up to 2¹²⁸, both included.
///
/// ```
/// use locsteal::Length;
///
/// assert!(Length::from(3_usize) < Length::from(7_u64));
/// assert_eq!(Length::from(3_usize).last(), Some(2));
/// assert_eq!(Length::from_last(u128::MAX).to_string(), "2^128");
/// ```
// The last position instead of the count: 2^128 does not fit a `u128`. The order of `Option` is the order of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length {
    last: Option<u128>,
}

impl Length {
    /// No items at all.
    pub const EMPTY: Self = Self { last: None };

    /// The length of a source whose last position is `last`.
    #[inline]
    pub const fn from_last(last: u128) -> Self {
        Self { last: Some(last) }
    }

    /// The last position, which is one less than the number of items; `None` if there are none.
    #[inline]
    pub const fn last(self) -> Option<u128> {
        self.last
    }

    /// Whether there are no items.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.last.is_none()
    }

    /// The number of items, or `u64::MAX` if it is larger than that.
    #[inline]
    pub const fn saturating_u64(self) -> u64 {
        match self.last {
            None => 0,
            Some(last) if last < u64::MAX as u128 => last as u64 + 1,
            Some(_) => u64::MAX,
        }
    }
}

macro_rules! from_integer {
    ($($t:ty),*) => {$(
        impl From<$t> for Length {
            #[inline]
            fn from(count: $t) -> Self {
                Self { last: (count as u128).checked_sub(1) }
            }
        }
    )*};
}

from_integer!(u8, u16, u32, u64, u128, usize);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            None => write!(f, "0"),
            Some(u128::MAX) => write!(f, "2^128"),
            Some(last) => write!(f, "{}", last + 1),
        }
    }
}
