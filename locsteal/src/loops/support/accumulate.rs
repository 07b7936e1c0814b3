//! State that participants have for themselves: locals, and the variables of reductions.
//!
//! A chunk takes the values out of their slots, so that the body has ordinary variables, and puts them back at its end.
//! A panic in between drops them, and nobody will ask for them again.

use std::marker::PhantomData;

use crate::loops::reduce::balance::Balance;
use crate::loops::reduce::ops::Reduction;

/// What a participant keeps between its chunks.
#[derive(Debug)]
pub struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    /// Holds `value` for the first chunk.
    #[inline]
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Lends the value to a chunk.
    ///
    /// # Panics
    ///
    /// If it is lent already.
    #[inline]
    pub fn take(&mut self) -> T {
        match self.0.take() {
            Some(value) => value,
            None => missing(),
        }
    }

    /// Takes the value back.
    #[inline]
    pub fn put(&mut self, value: T) {
        self.0 = Some(value);
    }
}

#[cold]
fn missing() -> ! {
    unreachable!("a chunk took what the one before it has not put back")
}

/// What participants have for themselves where there is nothing, and what they accumulate then.
#[inline]
pub const fn nothing() {}

/// A variable that the loop reduces with `Op`.
#[derive(Debug)]
pub struct Accumulator<'a, Op, T: ?Sized> {
    variable: &'a T,
    operator: PhantomData<fn() -> Op>,
}

// The bounds stand at the methods: a type that cannot be reduced is one error for the compiler then.
impl<'a, Op, T: ?Sized> Accumulator<'a, Op, T> {
    /// Of this variable.
    #[inline]
    pub fn of(variable: &'a T) -> Self {
        Self { variable, operator: PhantomData }
    }

    /// What a participant begins with, where the body uses the variable as a whole.
    // That it has the variable's own type is said here, so that it is known where that type is still being inferred.
    #[inline]
    pub fn whole(&self) -> Sum<Op, T, T>
    where
        T: Reduction<Op, Private = T> + Sized,
    {
        Sum {
            value: Slot::new(self.variable.private()),
            operator: PhantomData,
            variable: PhantomData,
        }
    }

    /// What a participant begins with, where the body adds to the variable and subtracts from it.
    #[inline]
    pub fn balance(&self) -> Sum<Op, T, Balance<T>>
    where
        T: Reduction<Op, Private = Balance<T>> + Sized,
    {
        Sum {
            value: Slot::new(self.variable.private()),
            operator: PhantomData,
            variable: PhantomData,
        }
    }

    /// What a participant begins with, where the body uses the variable's elements.
    #[inline]
    pub fn parts(&self) -> Sum<Op, T, T::Private>
    where
        T: Reduction<Op>,
    {
        Sum {
            value: Slot::new(self.variable.private()),
            operator: PhantomData,
            variable: PhantomData,
        }
    }
}

/// What a participant has accumulated for a variable of type `T`.
#[derive(Debug)]
pub struct Sum<Op, T: ?Sized, V> {
    value: Slot<V>,
    operator: PhantomData<fn() -> Op>,
    variable: PhantomData<fn(&T)>,
}

impl<Op, T: ?Sized, V> Sum<Op, T, V> {
    /// Lends the value to a chunk.
    #[inline]
    pub fn take(&mut self) -> V {
        self.value.take()
    }

    /// Takes the value back.
    #[inline]
    pub fn put(&mut self, value: V) {
        self.value.put(value);
    }

    /// Puts the result into the variable.
    #[inline]
    pub fn finish(mut self, variable: &mut T)
    where
        T: Reduction<Op, Private = V>,
    {
        variable.finish(self.value.take());
    }
}

/// What a participant has accumulated for all variables: a list of [`Sum`]s.
pub trait Sums: Send {
    /// Whether there is nothing to accumulate.
    const NONE: bool;

    /// Joins what a later participant has accumulated.
    fn merge(&mut self, later: Self);
}

impl Sums for () {
    const NONE: bool = true;

    #[inline]
    fn merge(&mut self, (): ()) {}
}

impl<Op, T: Reduction<Op, Private = V> + ?Sized, V: Send, Rest: Sums> Sums
    for (Sum<Op, T, V>, Rest)
{
    const NONE: bool = false;

    #[inline]
    fn merge(&mut self, later: Self) {
        let (mut later_sum, later_rest) = later;
        let mut earlier = self.0.take();
        T::merge(&mut earlier, later_sum.take());
        self.0.put(earlier);
        self.1.merge(later_rest);
    }
}
