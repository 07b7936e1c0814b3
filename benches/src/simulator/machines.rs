//! The machines that loops are simulated on.

use std::path::Path;

use locsteal::__simulator::{Machine, Tier};
use locsteal::{CpuSet, Layout, Topology};

use super::costs::COSTS_AT_DISTANCE;

/// A machine with a pool on it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) seats: Machine,
    /// For each node, the distances to all.
    distances: Vec<Vec<u32>>,
}

impl Site {
    pub(crate) fn new(
        name: impl Into<String>,
        topology: &Topology,
        seats: usize,
        layout: Layout,
    ) -> Self {
        let nodes = topology.nodes().len();
        let row = |from| (0..nodes).map(|to| topology.distance(from, to)).collect();
        Self {
            name: name.into(),
            seats: Machine::new(topology, seats, layout),
            distances: (0..nodes).map(row).collect(),
        }
    }

    /// Nodes at distance 20, each with as many caches of as many cores, all of them seats.
    pub(crate) fn regular(nodes: usize, caches: usize, cores: usize) -> Self {
        let topology = Topology::regular(nodes, caches, cores);
        let seats = nodes * caches * cores;
        Self::new(format!("{nodes}n {caches}l {cores}c"), &topology, seats, Layout::Compact)
    }

    /// The same with neighbouring seats on different nodes.
    pub(crate) fn dealt_over_nodes(nodes: usize, seats: usize) -> Self {
        let places: Vec<(usize, usize)> =
            (0..seats).map(|seat| (seat % nodes, seat % nodes)).collect();
        let distance = |a, b| if a == b { 10 } else { 20 };
        let row = |from| (0..nodes).map(|to| distance(from, to)).collect();
        Self {
            name: format!("{nodes} nodes, {seats} seats in turn"),
            seats: Machine::at(&places, distance),
            distances: (0..nodes).map(row).collect(),
        }
    }

    /// As the files under a folder like `/sys` describe it, with a seat for each CPU.
    pub(crate) fn snapshot(root: &Path) -> Option<Self> {
        let all: CpuSet = (0..4096).collect();
        let topology = Topology::read(root, &all);
        let seats = topology.cpus().len();
        let name = root.file_name()?.to_string_lossy().into_owned();
        (seats > 1).then(|| Self::new(name, &topology, seats, Layout::Compact))
    }

    pub(crate) fn width(&self) -> usize {
        self.seats.seats()
    }

    /// How far apart two seats are for the hardware, whatever the pool knows of it; for different nodes how much
    /// farther than at distance 20.
    pub(crate) fn apart(&self, a: usize, b: usize) -> Apart {
        let ((domain_a, node_a), (domain_b, node_b)) = (self.seats.place(a), self.seats.place(b));
        if a == b {
            return Apart::Same;
        }
        match (node_a, node_b) {
            (Some(a), Some(b)) if a != b => {
                let distance = self.distances.get(a).and_then(|row| row.get(b)).copied();
                let distance = distance.map_or(COSTS_AT_DISTANCE, f64::from);
                Apart::Nodes(distance / COSTS_AT_DISTANCE)
            }
            _ if domain_a == domain_b => Apart::Cores,
            _ => Apart::Caches,
        }
    }

    /// How many seats share a seat's node.
    pub(crate) fn seats_in_node(&self, seat: usize) -> usize {
        let node = self.seats.place(seat).1;
        (0..self.width()).filter(|&other| self.seats.place(other).1 == node).count()
    }

    pub(crate) fn tier(&self, a: usize, b: usize) -> Tier {
        self.seats.tier(a, b)
    }
}

/// Where something is, seen from a seat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Apart {
    Same,
    /// Two cores of one last-level cache.
    Cores,
    /// Two caches of one node.
    Caches,
    /// Two nodes, so much farther apart than those that costs are given for.
    Nodes(f64),
}
