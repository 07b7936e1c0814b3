//! The seats of a pool: their homes, the victim orders made from them, and where a caller sits down.

use std::sync::OnceLock;

use crate::affinity::{Home, Placement};
use crate::sched::{Locality, Orders, SeatHome, Thief};
use crate::sync::{AtomicUsize, Ordering};
use crate::topology::{CpuSet, Topology};

/// A domain and a node, as far as they are known.
pub(crate) type Spot = (Option<usize>, Option<usize>);

#[derive(Debug)]
pub(crate) struct Seats {
    topology: Topology,
    placement: Placement,
    homes: Vec<Home>,
    planned: Arrangement,
    /// What was found instead when a crew was taken into service, each once.
    found: Found,
    /// Which of them is in force: 0 is the planned one.
    in_force: AtomicUsize,
}

/// Where the workers are, and all that follows from it.
#[derive(Debug)]
pub(crate) struct Arrangement {
    spots: Vec<Spot>,
    /// The seats whose workers are elsewhere than planned.
    moved: CpuSet,
    orders: Orders,
    /// For each domain and each node of the topology: a seat there, or a station, from which the orders know the way.
    in_domain: Vec<usize>,
    in_node: Vec<usize>,
}

/// A list that only grows, so that who reads an entry may go on doing so.
#[derive(Debug, Default)]
struct Found(OnceLock<Box<(Arrangement, Found)>>);

impl Seats {
    pub(crate) fn new(topology: Topology, placement: Placement, homes: Vec<Home>) -> Self {
        let spots = homes.iter().map(|home| (home.domain, home.node)).collect();
        Self {
            planned: Arrangement::new(&topology, spots, CpuSet::new()),
            found: Found::default(),
            in_force: AtomicUsize::new(0),
            topology,
            placement,
            homes,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.homes.len()
    }

    /// The place that is meant for a seat.
    pub(crate) fn home(&self, seat: usize) -> &Home {
        &self.homes[seat]
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    pub(crate) fn placement(&self) -> Placement {
        self.placement
    }

    /// Where the workers are.
    #[inline]
    pub(crate) fn arrangement(&self) -> &Arrangement {
        // Relaxed: any of them is right, if perhaps not the best. Who does not see the entry yet takes the planned one.
        match self.in_force.load(Ordering::Relaxed) {
            0 => &self.planned,
            index => self.found.get(index - 1).unwrap_or(&self.planned),
        }
    }

    /// The victim orders in force.
    #[inline]
    pub(crate) fn orders(&self) -> &Orders {
        &self.arrangement().orders
    }

    /// Whether the place of every worker is known and is that of its home.
    pub(crate) fn in_place(&self) -> bool {
        self.in_force.load(Ordering::Relaxed) == 0 && !self.planned.is_cyclic()
    }

    /// What follows if the workers of some seats have other masks than they were given: these, or (`None`) nobody knows
    /// which.
    pub(crate) fn rearranged(&self, moved: &[(usize, Option<CpuSet>)]) -> Arrangement {
        let mut spots = self.planned.spots.clone();
        for (seat, mask) in moved {
            spots[*seat] = match mask {
                Some(mask) => {
                    (self.topology.domain_holding(mask), self.topology.node_holding(mask))
                }
                None => (None, None),
            };
        }
        // Who was only tied more tightly is where it should be.
        let moved = (0..self.count()).filter(|&seat| spots[seat] != self.planned.spots[seat]);
        Arrangement::new(&self.topology, spots.clone(), moved.collect())
    }

    /// From now on the workers of these seats are there, and all others where they should be; to be called by one thread
    /// at a time.
    pub(crate) fn arrange(&self, moved: &[(usize, Option<CpuSet>)]) {
        let arrangement = self.rearranged(moved);
        let planned = arrangement.moved.is_empty();
        let index = if planned { 0 } else { self.found.index_of(arrangement) + 1 };
        self.in_force.store(index, Ordering::Relaxed);
    }

    /// Where a thread on this CPU is, as a number that the orders know: the first seat of the CPU's domain, else
    /// the station there; 0 if nothing is known.
    #[inline]
    pub(crate) fn near_caller(&self, cpu: Option<usize>) -> usize {
        let arrangement = self.arrangement();
        if arrangement.is_cyclic() || self.homes.len() == 1 {
            return 0;
        }
        let Some(cpu) = cpu else {
            return 0;
        };
        let domain = self.topology.domain_of(cpu);
        let near = domain.map(|domain| arrangement.in_domain[domain]);
        near.or_else(|| Some(arrangement.in_node[self.topology.node_of(cpu)?])).unwrap_or(0)
    }

    /// The seat below `width` that is nearest to a seat that is not, or to a station.
    pub(crate) fn nearest_below(&self, near: usize, width: usize) -> usize {
        let orders = self.orders();
        let thief = Thief { seat: near, near };
        if orders.is_cyclic() {
            return 0;
        }
        let local = orders.local(thief, Locality::Llc, width).next();
        local.or_else(|| orders.remote(thief, Locality::Llc, width).next()).unwrap_or(0)
    }
}

impl Arrangement {
    fn new(topology: &Topology, spots: Vec<Spot>, moved: CpuSet) -> Self {
        let distance = |a: usize, b: usize| {
            let nodes = topology.nodes().len();
            if a < nodes && b < nodes { topology.distance(a, b) } else { u32::MAX }
        };
        let homes: Option<Vec<SeatHome>> =
            spots.iter().map(|spot| seat_home(topology, *spot)).collect();
        // Where all roam over the same caches, none is nearer than another.
        let differ = |seats: &[SeatHome]| {
            let first = seats.first().map(|seat| seat.node);
            seats.iter().any(|seat| seat.domain.is_some() || Some(seat.node) != first)
        };
        let one_cache = topology.domains().len() < 2;
        let Some(seats) = homes.filter(|seats| one_cache || differ(seats)) else {
            let (orders, in_domain, in_node) = (Orders::cyclic(), Vec::new(), Vec::new());
            return Self { spots, moved, orders, in_domain, in_node };
        };
        let mut stations: Vec<SeatHome> = Vec::new();
        let mut near = |domain: Option<usize>, node: Option<usize>| {
            // A domain in no node is beside all of them.
            let nowhere = (domain, node.or(Some(topology.nodes().len())));
            let home = seat_home(topology, nowhere).expect("the node is given");
            let seats: &Vec<SeatHome> = &seats;
            seats.iter().chain(&stations).position(|other| *other == home).unwrap_or_else(|| {
                stations.push(home);
                seats.len() + stations.len() - 1
            })
        };
        let domains = topology.domains().iter().enumerate();
        let in_domain = domains.map(|(index, domain)| near(Some(index), domain.node())).collect();
        let in_node = (0..topology.nodes().len()).map(|node| near(None, Some(node))).collect();
        let orders = Orders::with_stations(&seats, &stations, distance);
        Self { spots, moved, orders, in_domain, in_node }
    }

    /// Where the worker of a seat is.
    pub(crate) fn spot(&self, seat: usize) -> Spot {
        self.spots[seat]
    }

    pub(crate) fn moved(&self) -> &CpuSet {
        &self.moved
    }

    /// The seats whose workers may run in more than one last-level cache, or in one that is not known.
    pub(crate) fn roamers(&self) -> CpuSet {
        (0..self.spots.len()).filter(|&seat| self.spots[seat].0.is_none()).collect()
    }

    /// Whether it tells nothing of who is near to whom.
    pub(crate) fn is_cyclic(&self) -> bool {
        self.orders.is_cyclic()
    }
}

impl Found {
    fn get(&self, index: usize) -> Option<&Arrangement> {
        let (arrangement, rest) = &**self.0.get()?;
        if index == 0 { Some(arrangement) } else { rest.get(index - 1) }
    }

    /// The place of an arrangement in the list, to which it is added if it is not there.
    fn index_of(&self, wanted: Arrangement) -> usize {
        let same =
            |other: &Arrangement| (&other.spots, &other.moved) == (&wanted.spots, &wanted.moved);
        let (mut list, mut index) = (self, 0);
        while let Some(entry) = list.0.get() {
            if same(&entry.0) {
                return index;
            }
            (list, index) = (&entry.1, index + 1);
        }
        list.0.get_or_init(|| Box::new((wanted, Self::default())));
        index
    }
}

/// A spot as the orders know it; `None` if it tells nothing.
fn seat_home(topology: &Topology, (domain, node): Spot) -> Option<SeatHome> {
    let known = domain.is_some() || node.is_some();
    // Without nodes, all domains are as one node's.
    let node = if topology.nodes().is_empty() { Some(0) } else { node };
    node.filter(|_| known).map(|node| SeatHome { domain, node })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::affinity::Seating;

    /// Seats of a narrow pool that begins at a CPU.
    fn narrow(topology: &Topology, seats: usize, near: usize) -> Seats {
        let homes = Seating::new(topology, seats).placement(Placement::Llc).near(near).homes();
        Seats::new(topology.clone(), Placement::Llc, homes)
    }

    fn cpus(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn every_place_of_a_machine_knows_its_nearest_seat() {
        // Two nodes of two caches of two CPUs; seats in the last cache of node 0 and the first of node 1.
        let topology = Topology::regular(2, 2, 2);
        let seats = narrow(&topology, 3, 4);
        let spots: Vec<Spot> = (0..3).map(|seat| seats.arrangement().spot(seat)).collect();
        assert_eq!(spots, [(Some(2), Some(1)), (Some(2), Some(1)), (Some(3), Some(1))]);
        let arrangement = seats.arrangement();
        let nearest = |near| seats.nearest_below(near, 3);
        assert_eq!(arrangement.in_domain[2..], [0, 2], "a domain with seats has its first");
        assert!(arrangement.in_domain[..2].iter().all(|near| *near >= 3), "the others a station");
        assert_eq!(nearest(arrangement.in_node[1]), 0);

        let seats = narrow(&topology, 2, 2);
        let near = seats.arrangement().in_domain[0];
        let (orders, thief) = (seats.orders(), Thief { seat: 0, near });
        assert_eq!(
            orders.local(thief, Locality::Llc, 2).count(),
            2,
            "in the other cache of its node"
        );
        let near = seats.arrangement().in_domain[3];
        let thief = Thief { seat: 0, near };
        assert_eq!(orders.remote(thief, Locality::Llc, 2).count(), 2, "in the other node");
    }

    #[test]
    fn masks_that_were_found_make_an_arrangement_of_their_own() {
        let topology = Topology::regular(2, 2, 2);
        let free = vec![Home::default(); 3];
        let seats = Seats::new(topology, Placement::Free, free);
        assert!(seats.arrangement().is_cyclic());

        let masks = ["6-7", "0-1", "7"].map(|list| Some(cpus(list)));
        let found: Vec<_> = masks.into_iter().enumerate().collect();
        seats.arrange(&found);
        let arrangement = seats.arrangement();
        assert_eq!(arrangement.moved(), &cpus("0-2"));
        assert_eq!(arrangement.spot(2), (Some(3), Some(1)));
        assert_eq!(seats.nearest_below(2, 2), 0, "the other in its cache");
        assert!(!seats.in_place());

        // One of them may run in two caches of a node: its node is known, and that is enough.
        seats.arrange(&[(0, Some(cpus("4-7"))), found[1].clone(), found[2].clone()]);
        assert_eq!(seats.arrangement().spot(0), (None, Some(1)));
        assert!(!seats.arrangement().is_cyclic());
        // In two nodes: nothing is known of nearness.
        seats.arrange(&[(0, Some(cpus("3-4"))), found[1].clone(), found[2].clone()]);
        assert!(seats.arrangement().is_cyclic());
        seats.arrange(&[]);
        assert_eq!(seats.arrangement().moved(), &CpuSet::new());
        // The same again is the same entry.
        seats.arrange(&found);
        assert!(seats.found.get(2).is_some() && seats.found.get(3).is_none());
        assert_eq!(seats.arrangement().spot(2), (Some(3), Some(1)));
    }

    #[test]
    fn who_is_tied_more_tightly_than_planned_is_in_place() {
        let seats = narrow(&Topology::regular(1, 2, 2), 4, 0);
        seats.arrange(&[(1, Some(cpus("1"))), (2, Some(cpus("3")))]);
        assert!(seats.in_place());
        // In the other cache.
        seats.arrange(&[(1, Some(cpus("2")))]);
        assert!(!seats.in_place());
        assert_eq!(seats.orders().tier(0, 1), crate::stats::Tier::Node);
        // Nobody knows where.
        seats.arrange(&[(1, None)]);
        assert!(seats.arrangement().is_cyclic() && !seats.in_place());
    }
}
