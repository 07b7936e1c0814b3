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
