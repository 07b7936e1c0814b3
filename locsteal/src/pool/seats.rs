//! The seats of a pool: their homes, the victim orders made from them, and where a caller sits down.

use crate::affinity::{Home, Placement, mask};
use crate::sched::{Orders, SeatHome};
use crate::sync::{AtomicBool, Ordering};
use crate::topology::Topology;

#[derive(Debug)]
pub(crate) struct Seats {
    topology: Topology,
    placement: Placement,
    homes: Vec<Home>,
    /// Near seats first, as far as homes are known.
    tiered: Orders,
    cyclic: Orders,
    /// Whether every worker is where its home says; off, the order is cyclic.
    in_place: AtomicBool,
    /// For each domain and each node of the topology: its first seat.
    first_of_domain: Vec<Option<u16>>,
    first_of_node: Vec<Option<u16>>,
}

impl Seats {
    pub(crate) fn new(topology: Topology, placement: Placement, homes: Vec<Home>) -> Self {
        let seat_homes = seat_homes(&topology, &homes);
        let distance = |a: usize, b: usize| {
            let nodes = topology.nodes().len();
            if a < nodes && b < nodes { topology.distance(a, b) } else { u32::MAX }
        };
        let cyclic = Orders::cyclic();
        let tiered = match &seat_homes {
            Some(known) => Orders::new(known, distance),
            None => cyclic.clone(),
        };
        let first = |count: usize, place: &dyn Fn(&Home) -> Option<usize>| {
            let mut first = vec![None; count];
            for (seat, home) in homes.iter().enumerate().rev() {
                if let Some(index) = place(home) {
                    first[index] = Some(seat as u16);
                }
            }
            first
        };
        Self {
            first_of_domain: first(topology.domains().len(), &|home| home.domain),
            first_of_node: first(topology.nodes().len(), &|home| home.node),
            in_place: AtomicBool::new(!tiered.is_cyclic()),
            topology,
            placement,
            homes,
            tiered,
            cyclic,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.homes.len()
    }

    pub(crate) fn home(&self, seat: usize) -> &Home {
        &self.homes[seat]
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    pub(crate) fn placement(&self) -> Placement {
        self.placement
    }

    /// The victim orders in force.
    #[inline]
    pub(crate) fn orders(&self) -> &Orders {
        // Relaxed: either order is right.
        if self.in_place.load(Ordering::Relaxed) { &self.tiered } else { &self.cyclic }
    }

    /// Whether every worker is where its home says, as far as is known.
    pub(crate) fn in_place(&self) -> bool {
        self.in_place.load(Ordering::Relaxed)
    }

    /// A worker could not be put where its home says: nearness cannot be told any more.
    pub(crate) fn give_up_places(&self) {
        self.in_place.store(false, Ordering::Relaxed);
    }

    /// The first seat of the domain, or else the node, that the calling thread runs in; 0 if that is not known.
    #[inline]
    pub(crate) fn seat_near_caller(&self) -> usize {
        if self.orders().is_cyclic() || self.homes.len() == 1 {
            return 0;
        }
        let Some(cpu) = mask::current_cpu() else {
            return 0;
        };
        let in_domain =
            self.topology.domain_of(cpu).and_then(|domain| self.first_of_domain[domain]);
        let near = in_domain.or_else(|| {
            let node = self.topology.node_of(cpu)?;
            self.first_of_node[node]
        });
        near.unwrap_or(0).into()
    }

    /// The seat below `width` that is nearest to `seat`, which is not.
    pub(crate) fn nearest_below(&self, seat: usize, width: usize) -> usize {
        let orders = self.orders();
        let thief = crate::sched::Thief { seat, near: seat };
        let locality = crate::sched::Locality::Llc;
        if orders.is_cyclic() {
            return 0;
        }
        let near = orders.local(thief, locality, width).next();
        near.or_else(|| orders.remote(thief, locality, width).next()).unwrap_or(0)
    }
}

/// Where each seat lives; `None` if that is unknown for any of them, or if it tells nothing.
fn seat_homes(topology: &Topology, homes: &[Home]) -> Option<Vec<SeatHome>> {
    homes
        .iter()
        .map(|home| {
            // Without nodes, all domains are as one node's.
            let node = if topology.nodes().is_empty() { Some(0) } else { home.node };
            let known = home.domain.is_some() || home.node.is_some();
            node.filter(|_| known).map(|node| SeatHome { domain: home.domain, node })
        })
        .collect()
}
