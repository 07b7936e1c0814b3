//! Least and greatest values that something goes along with: `reduce(max: (best, at))`.

use std::cmp::Ordering;

/// A value, and what goes along with it: compared by the value alone.
#[derive(Clone, Debug)]
pub struct Accompanied<V, A> {
    /// What is compared.
    pub value: V,
    /// What goes along: a list of pairs, `(a, (b, ()))`.
    pub along: A,
}

impl<V: PartialEq, A> PartialEq for Accompanied<V, A> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<V: PartialOrd, A> PartialOrd for Accompanied<V, A> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}
