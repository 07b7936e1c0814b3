//! Made-up machines.

use std::error::Error;
use std::fmt;

use super::assemble::{CacheClaim, Claims, NodeClaim};
use super::{CpuSet, Topology};

/// Makes up a [`Topology`], for tests and simulations; made by [`Topology::builder`].
///
/// # Examples
///
/// Two nodes, the first with two caches, the second with one cache and a CPU without:
///
/// ```
/// use locsteal::Topology;
///
/// let machine = Topology::builder()
///     .node(0, 0..4)
///     .node(1, 4..7)
///     .domain(0..2)
///     .domain(2..4)
///     .domain(4..6)
///     .distance(0, 1, 21)
///     .distance(1, 0, 21)
///     .build()?;
///
/// assert_eq!(machine.domain_of(3), Some(1));
/// assert_eq!((machine.domain_of(6), machine.node_of(6)), (None, Some(1)));
/// assert_eq!(machine.distance(0, 1), 21);
/// # Ok::<(), locsteal::TopologyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TopologyBuilder {
    nodes: Vec<(usize, CpuSet)>,
    domains: Vec<CpuSet>,
    cores: Vec<CpuSet>,
    cpus: CpuSet,
    distances: Vec<(usize, usize, u32)>,
}

/// Why a made-up machine cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopologyError {
    /// Two nodes, two domains or two cores hold this CPU.
    Overlap {
        /// What there are two of: `node`, `domain` or `core`.
        what: &'static str,
        /// The CPU.
        cpu: usize,
    },
    /// Two nodes have this id.
    NodeTwice {
        /// The id.
        id: usize,
    },
    /// A domain, node or core has no CPU.
    Empty {
        /// What has none: `node`, `domain` or `core`.
        what: &'static str,
    },
    /// A distance is from or to a node that the machine does not have.
    NoSuchNode {
        /// The id that no node has.
        id: usize,
    },
    /// A distance is zero.
    ZeroDistance {
        /// The id of the node that it is from.
        from: usize,
        /// The id of the node that it is to.
        to: usize,
    },
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap { what, cpu } => {
                write!(f, "two {what}s hold CPU {cpu}: give it to one of them")
            }
            Self::NodeTwice { id } => {
                write!(f, "two nodes have the id {id}: name all CPUs of a node at once")
            }
            Self::Empty { what } => write!(f, "a {what} has no CPU: leave it out"),
            Self::NoSuchNode { id } => {
                write!(f, "a distance names node {id}, which was not given: add it by `node`")
            }
            Self::ZeroDistance { from, to } => write!(
                f,
                "the distance from node {from} to node {to} is 0: it is 10 within a node, and more \
                 between nodes"
            ),
        }
    }
}

impl Error for TopologyError {}

impl Topology {
    /// Starts a made-up machine.
    pub fn builder() -> TopologyBuilder {
        TopologyBuilder::default()
    }

    /// A made-up regular machine: nodes of equal distance, each with as many domains, each with as
    /// many CPUs, numbered in that order.
    ///
    /// # Panics
    ///
    /// If the ids go beyond [`CpuSet::MAX_ID`].
    ///
    /// # Examples
    ///
    /// ```
    /// use locsteal::Topology;
    ///
    /// let machine = Topology::regular(2, 2, 4);
    /// assert_eq!(machine.cpus().to_string(), "0-15");
    /// assert_eq!(machine.domains()[2].cpus().to_string(), "8-11");
    /// assert_eq!(machine.nodes()[1].domains(), 2..4);
    /// ```
    pub fn regular(nodes: usize, domains_per_node: usize, cpus_per_domain: usize) -> Self {
        let cpus_per_node = domains_per_node * cpus_per_domain;
        let mut builder = Self::builder();
        if cpus_per_node > 0 {
            for node in 0..nodes {
                let first = node * cpus_per_node;
                builder = builder.node(node, first..first + cpus_per_node);
            }
            for domain in 0..nodes * domains_per_node {
                let first = domain * cpus_per_domain;
                builder = builder.domain(first..first + cpus_per_domain);
            }
        }
        builder.build().expect("sets of consecutive ids do not overlap")
    }
}

impl TopologyBuilder {
    /// Adds a node: the kernel's number of it, and its CPUs.
    #[must_use]
    pub fn node(mut self, id: usize, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.nodes.push((id, cpus.into_iter().collect()));
        self
    }

    /// Adds a last-level cache, shared by these CPUs. It is cut where it reaches over nodes.
    #[must_use]
    pub fn domain(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.domains.push(cpus.into_iter().collect());
        self
    }

    /// Adds a core with SMT, whose hardware threads are these CPUs.
    #[must_use]
    pub fn core(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.cores.push(cpus.into_iter().collect());
        self
    }

    /// Adds CPUs that need be in no node, domain or core.
    #[must_use]
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.cpus.extend(cpus);
        self
    }

    /// Sets the distance from the node of one id to that of another. One that is not set is as the
    /// way back, and 10 within a node or 20 between nodes where that is not set either.
    #[must_use]
    pub fn distance(mut self, from: usize, to: usize, distance: u32) -> Self {
        self.distances.push((from, to, distance));
        self
    }

    /// The machine.
    ///
    /// # Errors
    ///
    /// If its parts contradict each other; see [`TopologyError`].
    pub fn build(self) -> Result<Topology, TopologyError> {
        let mut cpus = self.cpus;
        let nodes = self.nodes.iter().map(|(_, cpus)| cpus);
        cpus = cpus.union(&union_of_disjoint("node", nodes)?);
        cpus = cpus.union(&union_of_disjoint("domain", self.domains.iter())?);
        cpus = cpus.union(&union_of_disjoint("core", self.cores.iter())?);

        let mut ids = CpuSet::new();
        for &(id, _) in &self.nodes {
            if !ids.insert(id) {
                return Err(TopologyError::NodeTwice { id });
            }
        }
        for &(from, to, distance) in &self.distances {
            if let Some(id) = [from, to].into_iter().find(|&id| !ids.contains(id)) {
                return Err(TopologyError::NoSuchNode { id });
            }
            if distance == 0 {
                return Err(TopologyError::ZeroDistance { from, to });
            }
        }

        let caches = self.domains.iter().map(|cpus| CacheClaim {
            shared: cpus.clone(),
            claimants: cpus.clone(),
            level: None,
        });
        let distances_from = |id| {
            let row = self.distances.iter().rev().filter(|&&(from, ..)| from == id);
            row.map(|&(_, to, distance)| (to, distance)).collect()
        };
        let nodes = self.nodes.iter().map(|(id, cpus)| NodeClaim {
            id: *id,
            cpus: cpus.clone(),
            distances: distances_from(*id),
        });
        let claims = Claims {
            cpus,
            caches: caches.collect(),
            cores: self.cores.clone(),
            nodes: nodes.collect(),
            ..Claims::default()
        };
        Ok(claims.assemble())
    }
}

fn union_of_disjoint<'a>(
    what: &'static str,
    sets: impl Iterator<Item = &'a CpuSet>,
) -> Result<CpuSet, TopologyError> {
    let mut all = CpuSet::new();
    for set in sets {
        if set.is_empty() {
            return Err(TopologyError::Empty { what });
        }
        if let Some(cpu) = set.intersection(&all).first() {
            return Err(TopologyError::Overlap { what, cpu });
        }
        all = all.union(set);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::*;

    #[test]
    fn distances_not_given_are_as_the_way_back_or_usual() {
        let machine = Topology::builder()
            .node(5, [2])
            .node(3, [1])
            .node(4, [0])
            .distance(3, 4, 17)
            .distance(5, 5, 11)
            .distance(5, 3, 40)
            .distance(5, 3, 41)
            .build()
            .unwrap();
        let ids: Vec<usize> = machine.nodes().iter().map(Node::id).collect();
        assert_eq!(ids, [3, 4, 5]);
        let row = |from| [0, 1, 2].map(|to| machine.distance(from, to));
        assert_eq!([row(0), row(1), row(2)], [[10, 17, 41], [17, 10, 20], [41, 20, 11]]);
    }

    #[test]
    fn regular_machines_have_what_was_asked_for() {
        let machine = Topology::regular(3, 2, 5);
        assert_eq!((machine.cpus().len(), machine.nodes().len()), (30, 3));
        assert!(machine.domains().iter().all(|domain| domain.cpus().len() == 5));
        assert_eq!(Topology::regular(2, 0, 4), Topology::default());
        assert_eq!(Topology::regular(0, 1, 1), Topology::default());
    }

    #[test]
    fn contradictions_are_refused_in_words() {
        let builder = Topology::builder;
        for (machine, words) in [
            (builder().node(0, 0..2).node(1, 1..3), "two nodes hold CPU 1: give it to one of them"),
            (
                builder().domain(0..2).domain([5, 0]),
                "two domains hold CPU 0: give it to one of them",
            ),
            (builder().core([1]).core([1]), "two cores hold CPU 1: give it to one of them"),
            (
                builder().node(2, [0]).node(2, [1]),
                "two nodes have the id 2: name all CPUs of a node at once",
            ),
            (builder().domain([]), "a domain has no CPU: leave it out"),
            (
                builder().node(0, [0]).distance(0, 1, 20),
                "a distance names node 1, which was not given: add it by `node`",
            ),
            (
                builder().node(0, [0]).distance(0, 0, 0),
                "the distance from node 0 to node 0 is 0: it is 10 within a node, and more between \
                 nodes",
            ),
        ] {
            assert_eq!(machine.build().unwrap_err().to_string(), words);
        }
    }

    #[test]
    #[should_panic(expected = "no distance from node index 0 to 2: the topology has 2 nodes")]
    fn there_is_no_distance_to_a_node_that_is_not_there() {
        Topology::regular(2, 1, 1).distance(0, 2);
    }
}
