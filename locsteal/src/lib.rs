//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod __simulator;
mod affinity;
mod clock;
mod loops;
mod pool;
mod sched;
mod stats;
mod sync;
mod topology;

pub use affinity::{Home, Layout, Placement, Seating};
pub use pool::{BuildError, LocalityReport, Pool, PoolBuilder, PoolPlan, shutdown};
pub use sched::{Locality, Schedule};
pub use stats::{ByTier, Stats, Tier};
pub use topology::{
    CpuIds, CpuSet, Domain, Node, ParseCpuListError, ParseSnapshotError, Topology, TopologyBuilder,
    TopologyError, TopologySnapshot,
};
