//! Telling someone how far a loop has come.

/// Someone who is told how far a loop has come.
///
/// Implemented for closures `Fn(u64) + Sync`.
pub trait Progress: Sync {
    /// `done` iterations have ended. The numbers never decrease, the last one is the number of iterations that ran, and no
    /// two calls run at the same time.
    fn progress(&self, done: u64);
}

impl<F: Fn(u64) + Sync + ?Sized> Progress for F {
    fn progress(&self, done: u64) {
        self(done);
    }
}
