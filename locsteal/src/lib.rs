//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

mod affinity;
mod clock;
mod jobs;
mod loops;
mod pool;
mod sched;
mod stats;
mod sync;
mod topology;

pub use affinity::{Home, Layout, Near, NearGuard, Placement, Seating, Unpinned, unpinned};
pub use jobs::{JobBuilder, JobHandle, Policy, Scope, job, scope, spawn_near};
pub use pool::{BuildError, LocalityReport, Pool, PoolBuilder, shutdown};
pub use sched::{Locality, Schedule};
pub use stats::sites::{CallSiteReport, CallSites, Estimate, Place, SiteKind, callsites};
pub use stats::{ByTier, Stats};
pub use topology::{
    CpuIds, CpuSet, Domain, Node, ParseCpuListError, Topology, TopologyBuilder, TopologyError,
};
