//! What the machine looks like: CPUs, the caches that they share, nodes and distances.
//!
//! | file | holds |
//! | --- | --- |
//! | `cpu_set.rs` | [`CpuSet`] |
//! | `cpu_list.rs` | the kernel's text format for it |
//! | `sysfs.rs`, `caches.rs` | what the kernel's files claim: [`Topology::read`] |
//! | `kernel_files.rs` | how such a file is read |
//! | `snapshot.rs` | those files as one text: [`TopologySnapshot`] |
//! | `builder.rs` | made-up machines: [`Topology::builder`] |
//! | `assemble.rs` | from claims, which may contradict each other, to a consistent [`Topology`] |
//! | `tree.rs` | how a topology prints |
//!
//! This module reads files and nothing else. What the calling thread may use is the affinity
//! module's knowledge, and so is [`Topology::detect`].

mod assemble;
mod builder;
mod caches;
mod cpu_list;
mod cpu_set;
pub(crate) mod kernel_files;
mod snapshot;
mod sysfs;
mod tree;

// No unsafe code is in here, and Miri would take minutes.
#[cfg(all(test, not(miri)))]
mod damaged_machines;
#[cfg(all(test, not(miri)))]
mod odd_machines;
#[cfg(test)]
pub(crate) mod test_folder;

use std::ops::Range;

pub use builder::{TopologyBuilder, TopologyError};
pub use cpu_list::ParseCpuListError;
pub use cpu_set::{CpuIds, CpuSet};
pub use snapshot::{ParseSnapshotError, TopologySnapshot};

/// The part of a machine that a process may use: its CPUs, last-level-cache domains and nodes.
///
/// An immutable value, read once from the kernel's files ([`Topology::detect`],
/// [`Topology::read`]) or made up ([`Topology::builder`]). Whatever those files say, the following
/// holds:
///
/// - No CPU is in two domains, none in two nodes, and no domain reaches over two nodes: a cache that
///   does is cut at the node.
/// - Domains are sorted by node, those outside any node last, and within a node by their first CPU;
///   nodes are sorted by the kernel's number. Indices into [`Topology::domains`] and
///   [`Topology::nodes`] are what the other functions give and take.
/// - Every CPU of a domain or node is in [`Topology::cpus`].
///
/// # Examples
///
/// ```
/// use locsteal::Topology;
///
/// let machine = Topology::detect();
/// for (index, domain) in machine.domains().iter().enumerate() {
///     println!("domain {index}: CPUs {}", domain.cpus());
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    cpus: CpuSet,
    domains: Vec<Domain>,
    nodes: Vec<Node>,
    /// Row by row; `nodes.len()` squared.
    distances: Vec<u32>,
    cores: Vec<CpuSet>,
    /// By CPU id, up to the highest one.
    places: Vec<Place>,
    notes: Vec<String>,
}

/// An LLC domain: CPUs that share their highest-level data or unified cache and are in one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    cpus: CpuSet,
    node: Option<usize>,
    level: Option<u32>,
}

/// A NUMA node that has CPUs which may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    id: usize,
    cpus: CpuSet,
    domains: Range<usize>,
}

/// Indices into a topology's domains, nodes and cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    domain: Option<u32>,
    node: Option<u32>,
    core: Option<u32>,
}

impl Topology {
    /// The CPUs that may be used: online and allowed. Empty where that is unknown.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// The LLC domains. CPUs whose cache is unknown are in none.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The nodes that have usable CPUs; empty where the kernel shows none, and where its nodes
    /// overlap.
    ///
    /// Nodes of memory alone have no part in it.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The distance from one node to another, as the firmware gives it: 10 is a node's distance to
    /// itself. It need not be the same in both directions.
    ///
    /// # Panics
    ///
    /// If one of the indices is not below the number of [nodes](Topology::nodes).
    pub fn distance(&self, from: usize, to: usize) -> u32 {
        let count = self.nodes.len();
        assert!(
            from < count && to < count,
            "no distance from node index {from} to {to}: the topology has {count} nodes"
        );
        self.distances[from * count + to]
    }

    /// The index of the domain that a CPU is in. Takes a few nanoseconds.
    #[inline]
    pub fn domain_of(&self, cpu: usize) -> Option<usize> {
        self.places.get(cpu)?.domain.map(|domain| domain as usize)
    }

    /// The index of the node that a CPU is in. Takes a few nanoseconds.
    #[inline]
    pub fn node_of(&self, cpu: usize) -> Option<usize> {
        self.places.get(cpu)?.node.map(|node| node as usize)
    }

    /// The usable CPUs of the core that a CPU is in, itself included: one without SMT, and `None`
    /// where it is unknown.
    pub fn core_of(&self, cpu: usize) -> Option<&CpuSet> {
        self.places.get(cpu)?.core.map(|core| &self.cores[core as usize])
    }

    /// The index of the domain that holds all of these CPUs; `None` for an empty set.
    ///
    /// It tells where a thread with this affinity mask is.
    pub fn domain_holding(&self, cpus: &CpuSet) -> Option<usize> {
        let domain = self.domain_of(cpus.first()?)?;
        cpus.is_subset(&self.domains[domain].cpus).then_some(domain)
    }

    /// The index of the node that holds all of these CPUs; `None` for an empty set.
    pub fn node_holding(&self, cpus: &CpuSet) -> Option<usize> {
        let node = self.node_of(cpus.first()?)?;
        cpus.is_subset(&self.nodes[node].cpus).then_some(node)
    }

    /// What was missing, damaged or ignored when the topology was read, each in a sentence.
    ///
    /// Nothing here is an error: the topology is right in the rest.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Domain {
    /// The usable CPUs that share the cache, at least one.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// The index of the node that the domain is in.
    pub fn node(&self) -> Option<usize> {
        self.node
    }

    /// The level of the cache, 1 or more, where it is known.
    pub fn level(&self) -> Option<u32> {
        self.level
    }
}

impl Node {
    /// The kernel's number of the node. Numbers can have holes.
    pub fn id(&self) -> usize {
        self.id
    }

    /// The usable CPUs of the node, at least one.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// The indices of the node's domains. They may hold fewer CPUs than the node.
    pub fn domains(&self) -> Range<usize> {
        self.domains.clone()
    }
}
