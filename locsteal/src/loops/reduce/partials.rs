//! Joining what participants have accumulated, in whatever order they end.

use std::sync::{Mutex, PoisonError};

/// Where participants put what they have accumulated. Whoever finds something there takes it, joins it to its own and tries
/// again; so no lock is held while the user's operator runs, and nobody waits for it.
#[derive(Debug)]
pub(crate) struct Partials<A> {
    total: Mutex<Option<A>>,
}

impl<A> Partials<A> {
    pub(crate) const fn new() -> Self {
        Self { total: Mutex::new(None) }
    }

    /// Adds what a participant has accumulated.
    pub(crate) fn add(&self, mut mine: A, merge: impl Fn(&mut A, A)) {
        loop {
            // Nothing panics while the lock is held.
            let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
            match total.take() {
                None => {
                    *total = Some(mine);
                    return;
                }
                Some(other) => {
                    drop(total);
                    merge(&mut mine, other);
                }
            }
        }
    }

    /// What all have accumulated together; `None` if nobody has.
    pub(crate) fn into_total(self) -> Option<A> {
        self.total.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn everything_is_joined_once() {
        let partials = Partials::new();
        thread::scope(|scope| {
            for participant in 0..8 {
                let partials = &partials;
                scope.spawn(move || {
                    partials.add(vec![participant], |mine: &mut Vec<i32>, mut other| {
                        mine.append(&mut other);
                    });
                });
            }
        });
        let mut total = partials.into_total().unwrap();
        total.sort_unstable();
        assert_eq!(total, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(Partials::<u8>::new().into_total(), None);
    }

    #[test]
    fn a_merge_that_panics_loses_only_what_it_merged() {
        let value = Arc::new(());
        let partials = Partials::new();
        partials.add(Arc::clone(&value), |_, _| {});
        let merge = |_: &mut Arc<()>, _: Arc<()>| panic!("no");
        let caught = catch_unwind(AssertUnwindSafe(|| partials.add(Arc::clone(&value), merge)));
        assert!(caught.is_err());
        assert_eq!(Arc::strong_count(&value), 1);
        partials.add(Arc::clone(&value), |_, _| {});
        assert_eq!(Arc::strong_count(&value), 2);
        assert!(partials.into_total().is_some());
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
