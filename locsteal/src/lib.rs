//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod __simulator;
mod affinity;
mod clock;
mod jobs;
mod loops;
mod pool;
mod sched;
mod stats;
mod sync;
mod topology;

#[doc(hidden)]
pub use loops::support as __private;

pub use affinity::{Home, Layout, Near, NearGuard, Placement, Seating, Unpinned, unpinned};
pub use jobs::{JobBuilder, JobHandle, Policy, Scope, job, scope, spawn_near};
pub use locsteal_macros::par_for;
pub use loops::builder::{Attempt, Loop, Parallel, range, source};
pub use loops::own::ParallelArray;
pub use loops::progress::Progress;
pub use loops::reduce::{self, Reduce};
pub use loops::source::{
    self, DetachedSource, IndexedSource, IntoParallelSource, Length, ParallelSource,
    RepeatableSource,
};
pub use pool::{BuildError, LocalityReport, Pool, PoolBuilder, PoolPlan, shutdown};
pub use sched::{Locality, Schedule};
pub use stats::sites::{CallSiteReport, CallSites, Estimate, Place, SiteKind, callsites};
pub use stats::{ByTier, Stats, Tier};
pub use topology::{
    CpuIds, CpuSet, Domain, Node, ParseCpuListError, ParseSnapshotError, Topology, TopologyBuilder,
    TopologyError, TopologySnapshot,
};
