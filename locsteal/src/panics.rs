//! What to do about panics that nobody can be told of: those of drops, where another panic is on its way already, or where
//! the code of others must not harm the thread that it happens to run on.

use std::any::Any;
use std::mem::{forget, needs_drop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Drops a value whose own drop may panic, where nobody could do anything about it.
pub(crate) fn drop_quietly<T>(value: T) {
    if !needs_drop::<T>() {
        return;
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        // What that panic carries may panic in turn; then it is enough.
        && let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload)))
    {
        forget(again);
    }
}

/// Drops all of them, also those after one whose drop panics. Then the first panic goes on, unless another one is on its
/// way already, which a second one would make the end of the process.
pub(crate) fn drop_all<T>(mut values: impl Iterator<Item = T>) {
    let mut first = None;
    // By a plain loop: within `for_each`, an iterator need not know how far it has come when the drop panics.
    let mut drop_rest = || {
        for value in values.by_ref() {
            drop(value);
        }
    };
    while let Err(payload) = catch_unwind(AssertUnwindSafe(&mut drop_rest)) {
        match first {
            None => first = Some(payload),
            Some(_) => drop_quietly(payload),
        }
    }
    match first {
        None => {}
        Some(payload) if thread::panicking() => drop_quietly(payload),
        Some(payload) => resume_unwind(payload),
    }
}

/// A value that is dropped quietly while a panic unwinds its owner.
#[derive(Debug)]
pub(crate) struct Sheltered<T>(Option<T>);

impl<T> Sheltered<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Some(value))
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => unreachable!("it is taken out with its owner"),
        }
    }

    #[inline]
    pub(crate) fn into_inner(mut self) -> T {
        match self.0.take() {
            Some(value) => value,
            None => unreachable!("it is taken out with its owner"),
        }
    }
}

impl<T> Drop for Sheltered<T> {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() && thread::panicking() {
            drop_quietly(self.0.take());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Counts its drops, and panics at each.
    struct Bomb<'a>(&'a Cell<usize>);

    impl Drop for Bomb<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            resume_unwind(Box::new(self.0.get()));
        }
    }

    #[test]
    fn payloads_in_payloads_end_somewhere() {
        struct Endless;
        impl Drop for Endless {
            fn drop(&mut self) {
                resume_unwind(Box::new(Self));
            }
        }
        drop_quietly(Endless);
        drop_quietly(Box::new(Endless) as Payload);
    }

    #[test]
    fn all_are_dropped_and_the_first_panic_goes_on() {
        let drops = Cell::new(0);
        let bombs = || (0..5).map(|_| Bomb(&drops));
        let caught = catch_unwind(AssertUnwindSafe(|| drop_all(bombs())));
        assert_eq!(*caught.unwrap_err().downcast::<usize>().unwrap(), 1);
        assert_eq!(drops.get(), 5);
        drop_all((0..5).map(Box::new));
    }

    #[test]
    fn one_panic_is_enough() {
        let drops = Cell::new(0);
        struct All<'a>(&'a Cell<usize>);
        impl Drop for All<'_> {
            fn drop(&mut self) {
                drop_all((0..5).map(|_| Bomb(self.0)));
            }
        }
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _all = All(&drops);
            let _one = Sheltered::new(Bomb(&drops));
            resume_unwind(Box::new("first"));
        }));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "first");
        assert_eq!(drops.get(), 6);
        let caught = catch_unwind(AssertUnwindSafe(|| drop(Sheltered::new(Bomb(&drops)))));
        assert!(caught.is_err(), "nothing else was on its way");
        forget(Sheltered::new(Bomb(&drops)).into_inner());
        assert_eq!(drops.get(), 7);
    }
}
