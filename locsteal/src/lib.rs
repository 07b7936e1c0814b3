//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

mod loops;
mod pool;
mod sched;
mod stats;
mod sync;

pub use pool::Pool;
pub use sched::{Locality, Schedule};
pub use stats::{ByTier, Stats};
