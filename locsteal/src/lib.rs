//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

mod affinity;
mod clock;
mod loops;
mod pool;
mod sched;
mod stats;
mod sync;
mod topology;

pub use affinity::{Home, Layout, Placement, Seating};
pub use loops::builder::{Attempt, Loop, Parallel, range, source};
pub use loops::progress::Progress;
pub use loops::reduce::{self, Reduce};
pub use loops::source::{
    self, DetachedSource, IndexedSource, IntoParallelSource, Length, ParallelSource,
    RepeatableSource,
};
pub use pool::{BuildError, LocalityReport, Pool, PoolBuilder, shutdown};
pub use sched::{Locality, Schedule};
pub use stats::{ByTier, Stats};
pub use topology::{
    CpuIds, CpuSet, Domain, Node, ParseCpuListError, Topology, TopologyBuilder, TopologyError,
};
