//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

mod loops;
mod pool;
mod sched;

pub use loops::progress::Progress;
pub use loops::reduce::{self, Reduce};
pub use loops::source::{
    self, IndexedSource, IntoParallelSource, Length, ParallelSource, RepeatableSource,
};
pub use pool::Pool;
pub use sched::{Locality, Schedule};
