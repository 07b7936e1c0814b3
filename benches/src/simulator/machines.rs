//! The machines that loops are simulated on.

use std::fs;
use std::path::Path;

use locsteal::__simulator::Machine;
use locsteal::{Layout, Topology, TopologySnapshot};

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
        Self::new(format!("{nodes}x{caches}x{cores}"), &topology, seats, Layout::Compact)
    }

    /// The same with neighbouring seats on different nodes.
    pub(crate) fn dealt_over_nodes(nodes: usize, seats: usize) -> Self {
        let places: Vec<(usize, usize)> =
            (0..seats).map(|seat| (seat % nodes, seat % nodes)).collect();
        let distance = |a, b| if a == b { 10 } else { 20 };
        let row = |from| (0..nodes).map(|to| distance(from, to)).collect();
        Self {
            name: format!("{nodes}x1x{} in turn", seats / nodes),
            seats: Machine::at(&places, distance),
            distances: (0..nodes).map(row).collect(),
        }
    }

    /// So many seats, a power of two: caches of 8 cores, 8 of them in a node.
    pub(crate) fn of_seats(seats: usize) -> Self {
        let (nodes, caches, cores) = Self::shape_of(seats);
        Self::regular(nodes, caches, cores)
    }

    /// Of the machine with so many seats: nodes, caches in a node, cores in a cache.
    pub(crate) fn shape_of(seats: usize) -> (usize, usize, usize) {
        let cores = seats.min(8);
        let caches = (seats / cores).min(8);
        (seats / cores / caches, caches, cores)
    }

    /// Regular machines of many kinds.
    pub(crate) fn many() -> Vec<Self> {
        let shapes = [
            (1, 1, 2),
            (1, 1, 8),
            (1, 1, 16),
            (1, 2, 8),
            (1, 8, 4),
            (1, 8, 8),
            (2, 1, 8),
            (2, 1, 32),
            (2, 4, 8),
            (4, 1, 16),
            (4, 8, 8),
            (8, 2, 8),
        ];
        let regular = shapes.map(|(nodes, caches, cores)| Self::regular(nodes, caches, cores));
        regular.into_iter().chain([Self::dealt_over_nodes(2, 64)]).collect()
    }

    /// Given as `nodes x caches x cores`, all of a node and of a cache, or as the name of a snapshot's file.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let counts: Vec<usize> = name.split('x').filter_map(|count| count.parse().ok()).collect();
        match counts[..] {
            [nodes, caches, cores] if nodes * caches * cores > 0 => {
                Ok(Self::regular(nodes, caches, cores))
            }
            _ => Self::snapshot(Path::new(name)).map_err(|error| {
                format!("{error}; name a machine as `2x1x32` (nodes, caches in a node, cores in a cache) or a snapshot")
            }),
        }
    }

    /// As a snapshot's file describes it, with a seat for each CPU that may be used.
    pub(crate) fn snapshot(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        let snapshot: TopologySnapshot =
            text.parse().map_err(|error| format!("{shown}: {error}"))?;
        let topology = snapshot.topology();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let seats = topology.cpus().len();
        Ok(Self::new(name.unwrap_or_default(), &topology, seats, Layout::Compact))
    }

    /// All snapshots in a folder that have more than one CPU.
    pub(crate) fn snapshots(folder: &Path) -> Result<Vec<Self>, String> {
        let shown = folder.display();
        let entries = fs::read_dir(folder).map_err(|error| format!("{shown}: {error}"))?;
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        let sites = paths.iter().map(|path| Self::snapshot(path));
        let sites: Result<Vec<Self>, String> = sites.collect();
        Ok(sites?.into_iter().filter(|site| site.width() > 1).collect())
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
