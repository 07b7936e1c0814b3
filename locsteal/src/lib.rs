//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.

mod affinity;
mod loops;
mod pool;
mod sched;
mod topology;

pub use affinity::{Home, Layout, Placement, Seating};
pub use pool::Pool;
pub use sched::{Locality, Schedule};
pub use topology::{
    CpuIds, CpuSet, Domain, Node, ParseCpuListError, ParseSnapshotError, Topology, TopologyBuilder,
    TopologyError, TopologySnapshot,
};
