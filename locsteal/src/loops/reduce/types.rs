//! Standard types that are made of values that can be combined.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use super::Reduce;

impl<T: Reduce, const N: usize> Reduce for [T; N] {
    fn identity() -> Self {
        std::array::from_fn(|_| T::identity())
    }

    fn combine(&mut self, other: Self) {
        for (mine, other) in self.iter_mut().zip(other) {
            mine.combine(other);
        }
    }

    fn identity_like(&self) -> Self {
        std::array::from_fn(|k| self[k].identity_like())
    }
}

/// Element by element; a shorter vector counts as filled up with identities.
impl<T: Reduce> Reduce for Vec<T> {
    fn identity() -> Self {
        Self::new()
    }

    fn combine(&mut self, other: Self) {
        let mut other = other.into_iter();
        for (mine, other) in self.iter_mut().zip(other.by_ref()) {
            mine.combine(other);
        }
        self.extend(other);
    }

    fn identity_like(&self) -> Self {
        self.iter().map(T::identity_like).collect()
    }
}

/// `None` is the identity.
impl<T: Reduce> Reduce for Option<T> {
    fn identity() -> Self {
        None
    }

    fn combine(&mut self, other: Self) {
        match (self.as_mut(), other) {
            (Some(mine), Some(other)) => mine.combine(other),
            (None, other) => *self = other,
            (Some(_), None) => {}
        }
    }
}

impl<T: Reduce> Reduce for Box<T> {
    fn identity() -> Self {
        Self::new(T::identity())
    }

    fn combine(&mut self, other: Self) {
        T::combine(self, *other);
    }

    fn identity_like(&self) -> Self {
        Self::new(T::identity_like(self))
    }
}

/// The union of the keys; values of the same key are combined.
impl<K: Eq + Hash, V: Reduce, S: BuildHasher + Default> Reduce for HashMap<K, V, S> {
    fn identity() -> Self {
        Self::default()
    }

    fn combine(&mut self, other: Self) {
        for (key, value) in other {
            match self.get_mut(&key) {
                Some(mine) => mine.combine(value),
                None => {
                    self.insert(key, value);
                }
            }
        }
    }
}

/// The union of the keys; values of the same key are combined.
impl<K: Ord, V: Reduce> Reduce for BTreeMap<K, V> {
    fn identity() -> Self {
        Self::new()
    }

    fn combine(&mut self, other: Self) {
        for (key, value) in other {
            match self.get_mut(&key) {
                Some(mine) => mine.combine(value),
                None => {
                    self.insert(key, value);
                }
            }
        }
    }
}

/// The union.
impl<K: Eq + Hash, S: BuildHasher + Default> Reduce for HashSet<K, S> {
    fn identity() -> Self {
        Self::default()
    }

    fn combine(&mut self, other: Self) {
        self.extend(other);
    }
}

/// The union.
impl<K: Ord> Reduce for BTreeSet<K> {
    fn identity() -> Self {
        Self::new()
    }

    fn combine(&mut self, other: Self) {
        self.extend(other);
    }
}

macro_rules! tuples {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Reduce),*> Reduce for ($($name,)*) {
            fn identity() -> Self {
                ($($name::identity(),)*)
            }

            fn combine(&mut self, other: Self) {
                $(self.$at.combine(other.$at);)*
            }

            fn identity_like(&self) -> Self {
                ($(self.$at.identity_like(),)*)
            }
        }
    };
}

impl Reduce for () {
    fn identity() -> Self {}

    fn combine(&mut self, (): ()) {}
}

tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
