//! The pool.

/// A pool of seats and the workers that fill them.
#[derive(Debug)]
pub struct Pool(());

impl Pool {
    /// The pool that loops without a `pool` clause use.
    pub fn global() -> &'static Self {
        static GLOBAL: Pool = Pool(());
        &GLOBAL
    }
}
