//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

mod loops;
mod pool;
mod sched;

pub use pool::Pool;
pub use sched::{Locality, Schedule};
