//! Which seat is where: the layout of seats over the domains and nodes of a machine.

use std::cmp::Reverse;
use std::fmt;

use crate::topology::{CpuSet, Topology};

/// How tightly worker threads are tied to the places of their seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placement {
    /// Not at all: the operating system moves workers as it likes.
    Free,
    /// Each worker stays on the allowed CPUs of one LLC domain, and is free among them.
    Llc,
    /// Each worker stays on one CPU of its own.
    ///
    /// For machines that run nothing else: two programs that do so on one machine are stuck to the
    /// same CPUs, while others idle.
    Cpu,
}

impl Placement {
    /// As the environment variable `LOCSTEAL_PLACEMENT` names it: `free`, `llc` or `cpu`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Llc => "llc",
            Self::Cpu => "cpu",
        }
    }
}

/// The [name](Placement::name).
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which places a pool takes that is narrower than the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// As few domains and nodes as possible, beginning near the pool's creator.
    ///
    /// The default: launching and stealing then stay in one cache, data that the creator made is
    /// near, and several narrow pools made in different places leave each other alone.
    #[default]
    Compact,
    /// The same number of seats in each node and domain, as far as there are CPUs.
    ///
    /// For loops that are bound by memory bandwidth, or need more cache than one domain has.
    Spread,
}

/// Where a seat is, as indices into its [`Topology`], and where its worker may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Home {
    /// The domain that holds every CPU that the worker may run on, if there is one.
    pub domain: Option<usize>,
    /// The node that holds every CPU that the worker may run on, if there is one.
    pub node: Option<usize>,
    /// The CPU that the seat stands for. No other seat has it unless there are more seats than
    /// CPUs. With [`Placement::Free`], and where CPUs are unknown, there is none.
    pub cpu: Option<usize>,
    /// The mask for the worker; `None` leaves it all CPUs that the process may use.
    pub mask: Option<CpuSet>,
}

/// Lays the seats of a pool out over a machine.
///
/// # Examples
///
/// ```
/// use locsteal::{Placement, Seating, Topology};
///
/// let machine = Topology::regular(2, 2, 4);
/// let homes = Seating::new(&machine, 6).placement(Placement::Llc).near(9).homes();
///
/// let domains: Vec<_> = homes.iter().map(|home| home.domain.unwrap()).collect();
/// assert_eq!(domains, [2, 2, 2, 2, 3, 3]);
/// ```
#[derive(Clone, Debug)]
pub struct Seating<'a> {
    topology: &'a Topology,
    seats: usize,
    placement: Option<Placement>,
    layout: Layout,
    near: Option<usize>,
}

/// CPUs that are equally near to everything else: those of a domain, those of a node that are in no
/// domain, or those in neither.
struct Group {
    node: Option<usize>,
    /// In the order in which seats take them: one of each core first.
    cpus: Vec<usize>,
}

impl<'a> Seating<'a> {
    /// So many seats on this machine, placed and laid out by default.
    ///
    /// By default workers are placed by [`Placement::Llc`] if there are as many seats as CPUs or
    /// more, else, and where CPUs are unknown, by [`Placement::Free`]. Unless that placement was asked for by
    /// [`Seating::placement`], no worker is tied to a single CPU: where a domain has no other, the
    /// worker may run on its whole node.
    pub fn new(topology: &'a Topology, seats: usize) -> Self {
        Self { topology, seats, placement: None, layout: Layout::default(), near: None }
    }

    /// Places workers so.
    #[must_use]
    pub fn placement(self, placement: Placement) -> Self {
        Self { placement: Some(placement), ..self }
    }

    /// Lays seats out so, where there are fewer than CPUs.
    #[must_use]
    pub fn layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// Begins at this CPU, where the pool's creator is running.
    #[must_use]
    pub fn near(self, cpu: usize) -> Self {
        Self { near: Some(cpu), ..self }
    }

    /// The placement that was asked for, or else the default one.
    pub fn chosen_placement(&self) -> Placement {
        let cpus = self.topology.cpus().len();
        let fills_the_machine = cpus > 0 && self.seats >= cpus;
        let default = if fills_the_machine { Placement::Llc } else { Placement::Free };
        self.placement.unwrap_or(default)
    }

    /// A home for each seat. Seats of one domain are consecutive, and so are those of one node.
    pub fn homes(&self) -> Vec<Home> {
        let placement = self.chosen_placement();
        if self.topology.cpus().is_empty() {
            return vec![Home::default(); self.seats];
        }
        if placement == Placement::Free {
            return vec![self.home(None, None); self.seats];
        }
        let cpus = self.cpus();
        cpus.into_iter()
            .map(|cpu| {
                let mask = match placement {
                    Placement::Cpu => Some([cpu].into_iter().collect()),
                    _ => self.llc_mask(cpu),
                };
                self.home(Some(cpu), mask)
            })
            .collect()
    }

    fn home(&self, cpu: Option<usize>, mask: Option<CpuSet>) -> Home {
        let runs_on = mask.as_ref().unwrap_or(self.topology.cpus());
        Home {
            domain: self.topology.domain_holding(runs_on),
            node: self.topology.node_holding(runs_on),
            cpu,
            mask: mask.filter(|mask| mask != self.topology.cpus()),
        }
    }

    fn llc_mask(&self, cpu: usize) -> Option<CpuSet> {
        let may_tie = self.placement.is_some();
        let domain = self
            .topology
            .domain_of(cpu)
            .map(|domain| self.topology.domains()[domain].cpus())
            .filter(|cpus| may_tie || cpus.len() > 1);
        let node = || {
            let node = self.topology.node_of(cpu)?;
            Some(self.topology.nodes()[node].cpus()).filter(|cpus| may_tie || cpus.len() > 1)
        };
        domain.or_else(node).cloned()
    }

    /// The CPU of each seat: all different up to the number of CPUs, then in turn.
    fn cpus(&self) -> Vec<usize> {
        let groups = self.groups();
        let count = self.topology.cpus().len();
        let (rounds, rest) = (self.seats / count, self.seats % count);
        let extra = self.share_out(&groups, rest);
        let mut cpus = Vec::with_capacity(self.seats);
        for (group, extra) in groups.iter().zip(extra) {
            let start = cpus.len();
            for (index, &cpu) in group.cpus.iter().enumerate() {
                let seats = rounds + usize::from(index < extra);
                cpus.extend(std::iter::repeat_n(cpu, seats));
            }
            cpus[start..].sort_unstable();
        }
        cpus
    }

    /// Sorted as the topology sorts domains; CPUs of a node that are in no domain come after those
    /// that are, and CPUs in no node last.
    fn groups(&self) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut push = |node, cpus: &CpuSet| {
            if !cpus.is_empty() {
                groups.push(Group { node, cpus: self.cores_first(cpus) });
            }
        };
        let domains = self.topology.domains();
        let mut rest = self.topology.cpus().clone();
        for (index, node) in self.topology.nodes().iter().enumerate() {
            let mut outside = node.cpus().clone();
            for domain in &domains[node.domains()] {
                push(Some(index), domain.cpus());
                outside = outside.difference(domain.cpus());
            }
            push(Some(index), &outside);
            rest = rest.difference(node.cpus());
        }
        for domain in domains.iter().filter(|domain| domain.node().is_none()) {
            push(None, domain.cpus());
            rest = rest.difference(domain.cpus());
        }
        push(None, &rest);
        groups
    }

    /// The first CPU of each core, then the second of each, and so on.
    fn cores_first(&self, cpus: &CpuSet) -> Vec<usize> {
        let rank = |cpu| match self.topology.core_of(cpu) {
            Some(core) => core.iter().take_while(|&sibling| sibling < cpu).count(),
            None => 0,
        };
        let mut cpus: Vec<usize> = cpus.iter().collect();
        cpus.sort_by_key(|&cpu| (rank(cpu), cpu));
        cpus
    }

    /// How many of so many seats, fewer than CPUs, each group takes.
    fn share_out(&self, groups: &[Group], seats: usize) -> Vec<usize> {
        let order = self.nearest_first(groups);
        let mut taken = vec![0; groups.len()];
        match self.layout {
            Layout::Compact => {
                let mut left = seats;
                for group in order {
                    taken[group] = left.min(groups[group].cpus.len());
                    left -= taken[group];
                }
            }
            Layout::Spread => {
                let nodes = self.topology.nodes().len();
                let slot = |group: usize| groups[group].node.unwrap_or(nodes);
                let mut in_node = vec![0; nodes + 1];
                for _ in 0..seats {
                    let next = order
                        .iter()
                        .copied()
                        .filter(|&group| taken[group] < groups[group].cpus.len())
                        .min_by_key(|&group| (in_node[slot(group)], taken[group]));
                    let next = next.expect("there are fewer seats than CPUs");
                    taken[next] += 1;
                    in_node[slot(next)] += 1;
                }
            }
        }
        taken
    }

    /// The groups by nearness to the creator's, which is the first where that is unknown.
    fn nearest_first(&self, groups: &[Group]) -> Vec<usize> {
        let home = self
            .near
            .and_then(|near| groups.iter().position(|group| group.cpus.contains(&near)))
            .unwrap_or(0);
        let Some(start) = groups.get(home).map(|group| group.node) else {
            return Vec::new();
        };
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&group| {
            let node = groups[group].node;
            let distance = match (start, node) {
                _ if start == node => 0,
                (Some(from), Some(to)) => u64::from(self.topology.distance(from, to)),
                _ => u64::MAX,
            };
            // Onward from the creator's place first, so that neighbours start in different places.
            (distance, Reverse(group >= home), group)
        });
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes: one with caches of 1, 3 and 2 CPUs and a CPU without, one with a cache of 4 and
    /// two CPUs without; a CPU with a cache and one without that are in no node. Ids have holes.
    fn uneven() -> Topology {
        Topology::builder()
            .node(0, (0..7).filter(|&cpu| cpu != 2).chain([1500]))
            .node(3, 8..14)
            .domain([0])
            .domain([1, 3, 5])
            .domain([4, 6])
            .domain(8..12)
            .domain([20])
            .cpus([21])
            .build()
            .unwrap()
    }

    fn machines() -> Vec<Topology> {
        let two_threads_a_core = (0..4)
            .fold(Topology::builder(), |builder, core| builder.core([core, core + 4]).cpus([core]));
        let smt = two_threads_a_core.node(0, 0..8).domain(0..8).build().unwrap();
        vec![
            Topology::regular(1, 1, 1),
            Topology::regular(1, 1, 6),
            Topology::regular(1, 4, 4),
            Topology::regular(2, 2, 3),
            Topology::regular(4, 1, 2),
            Topology::builder().cpus([1, 3]).build().unwrap(),
            Topology::builder().domain([5, 7]).domain([2]).cpus([9]).build().unwrap(),
            smt,
            uneven(),
        ]
    }

    fn seatings(machine: &Topology, seats: usize) -> Vec<Seating<'_>> {
        let mut all = Vec::new();
        for placement in [None, Some(Placement::Llc), Some(Placement::Cpu)] {
            for layout in [Layout::Compact, Layout::Spread] {
                for near in machine.cpus().iter().map(Some).chain([None, Some(999)]) {
                    all.push(Seating { topology: machine, seats, placement, layout, near });
                }
            }
        }
        all
    }

    fn domains(homes: &[Home]) -> Vec<Option<usize>> {
        homes.iter().map(|home| home.domain).collect()
    }

    fn cpus(homes: &[Home]) -> Vec<usize> {
        homes.iter().map(|home| home.cpu.unwrap()).collect()
    }

    #[test]
    fn every_width_speaks_for_as_many_cpus() {
        for machine in machines() {
            let count = machine.cpus().len();
            for seats in 0..=3 * count + 1 {
                for seating in seatings(&machine, seats) {
                    let homes = seating.homes();
                    assert_eq!(homes.len(), seats);
                    if seating.chosen_placement() == Placement::Free {
                        continue;
                    }
                    let spoken_for: CpuSet = cpus(&homes).into_iter().collect();
                    assert!(spoken_for.is_subset(machine.cpus()));
                    assert_eq!(spoken_for.len(), seats.min(count), "{seating:?}");
                    for cpu in machine.cpus() {
                        let seats_there = homes.iter().filter(|home| home.cpu == Some(cpu)).count();
                        let even = seats / count..=seats.div_ceil(count);
                        assert!(even.contains(&seats_there), "{seating:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_home_is_where_its_mask_is() {
        for machine in machines() {
            for seats in 1..=machine.cpus().len() + 1 {
                for seating in seatings(&machine, seats) {
                    for home in seating.homes() {
                        let runs_on = home.mask.as_ref().unwrap_or(machine.cpus());
                        assert!(!runs_on.is_empty() && runs_on.is_subset(machine.cpus()));
                        assert!(home.cpu.is_none_or(|cpu| runs_on.contains(cpu)));
                        assert_eq!(home.domain, machine.domain_holding(runs_on), "{seating:?}");
                        assert_eq!(home.node, machine.node_holding(runs_on), "{seating:?}");
                        if seating.placement.is_none() {
                            assert!(runs_on.len() > 1 || machine.cpus().len() == 1, "{seating:?}");
                        }
                        if seating.placement == Some(Placement::Cpu) {
                            assert_eq!(runs_on.iter().collect::<Vec<_>>(), [home.cpu.unwrap()]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn seats_of_a_domain_and_of_a_node_are_consecutive() {
        fn is_consecutive<T: Copy + PartialEq>(places: &[Option<T>]) -> bool {
            let mut runs = places.to_vec();
            runs.dedup();
            let known: Vec<T> = runs.into_iter().flatten().collect();
            known.iter().enumerate().all(|(index, place)| !known[..index].contains(place))
        }
        for machine in machines() {
            for seats in 1..=2 * machine.cpus().len() {
                for seating in seatings(&machine, seats) {
                    let homes = seating.homes();
                    let nodes: Vec<_> = homes.iter().map(|home| home.node).collect();
                    assert!(is_consecutive(&domains(&homes)), "{seating:?}");
                    assert!(is_consecutive(&nodes), "{seating:?}");
                }
            }
        }
    }

    #[test]
    fn the_default_is_llc_from_full_width_on_and_free_below() {
        let machine = Topology::regular(1, 2, 2);
        for (seats, placement) in
            [(1, Placement::Free), (3, Placement::Free), (4, Placement::Llc), (9, Placement::Llc)]
        {
            assert_eq!(Seating::new(&machine, seats).chosen_placement(), placement);
        }
        let homes = Seating::new(&machine, 3).homes();
        assert_eq!(homes, vec![Home { node: Some(0), ..Home::default() }; 3]);
        let asked_for = Seating::new(&machine, 4).placement(Placement::Free);
        assert_eq!(asked_for.chosen_placement(), Placement::Free);
    }

    #[test]
    fn free_workers_have_a_home_where_all_cpus_are() {
        let machine = Topology::regular(1, 1, 4);
        for home in Seating::new(&machine, 2).homes() {
            assert_eq!((home.domain, home.node, home.mask), (Some(0), Some(0), None));
        }
    }

    #[test]
    fn by_default_nobody_is_tied_to_the_only_cpu_of_a_domain() {
        // As on machines without a shared cache.
        let private = Topology::builder()
            .node(0, 0..2)
            .node(1, 2..4)
            .domain([0])
            .domain([1])
            .domain([2])
            .domain([3])
            .build()
            .unwrap();
        let homes = Seating::new(&private, 4).homes();
        assert_eq!(domains(&homes), [None; 4]);
        let masks: Vec<_> =
            homes.iter().map(|home| home.mask.clone().unwrap().to_string()).collect();
        assert_eq!(masks, ["0-1", "0-1", "2-3", "2-3"]);

        let asked_for = Seating::new(&private, 4).placement(Placement::Llc).homes();
        assert_eq!(domains(&asked_for), [Some(0), Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn cpus_without_a_cache_fall_to_the_node_and_unknown_ones_to_nothing() {
        let machine = uneven();
        let homes = Seating::new(&machine, machine.cpus().len()).homes();
        let of = |cpu| homes.iter().find(|home| home.cpu == Some(cpu)).unwrap();
        let mask = |cpu| of(cpu).mask.as_ref().map(ToString::to_string);
        assert_eq!((of(4).domain, of(4).node, mask(4)), (Some(2), Some(0), Some("4,6".into())));
        assert_eq!((of(1500).domain, of(1500).node), (None, Some(0)));
        assert_eq!(mask(1500), Some("0-1,3-6,1500".into()));
        assert_eq!((of(13).domain, of(13).node, mask(13)), (None, Some(1), Some("8-13".into())));
        assert_eq!((of(20).domain, of(20).node, mask(20)), (None, None, None));
        assert_eq!((of(21).domain, of(21).node, mask(21)), (None, None, None));
    }

    #[test]
    fn an_unknown_machine_has_unknown_homes() {
        let unknown = Topology::default();
        let seating = Seating::new(&unknown, 3);
        assert_eq!(seating.chosen_placement(), Placement::Free);
        assert_eq!(seating.homes(), vec![Home::default(); 3]);
        assert_eq!(seating.placement(Placement::Cpu).homes(), vec![Home::default(); 3]);
    }

    #[test]
    fn compact_begins_near_the_creator_and_goes_on_by_distance() {
        let machine = Topology::builder()
            .node(0, 0..4)
            .node(1, 4..8)
            .node(2, 8..12)
            .domain(0..2)
            .domain(2..4)
            .domain(4..6)
            .domain(6..8)
            .domain(8..10)
            .domain(10..12)
            .distance(0, 1, 30)
            .distance(0, 2, 20)
            .distance(1, 2, 20)
            .build()
            .unwrap();
        for (near, seats, expected) in [
            (0, 2, vec![0, 1]),
            (3, 3, vec![0, 2, 3]),
            (3, 6, vec![0, 1, 2, 3, 8, 9]),
            (5, 1, vec![4]),
            (6, 3, vec![4, 6, 7]),
            (6, 9, vec![0, 4, 5, 6, 7, 8, 9, 10, 11]),
            (999, 3, vec![0, 1, 2]),
        ] {
            let homes = Seating::new(&machine, seats).placement(Placement::Cpu).near(near).homes();
            assert_eq!(cpus(&homes), expected, "{seats} seats near CPU {near}");
        }
    }

    #[test]
    fn spread_gives_every_node_and_domain_its_share() {
        let machine = Topology::builder()
            .node(0, 0..6)
            .node(1, 6..8)
            .domain(0..2)
            .domain(2..6)
            .domain(6..8)
            .build()
            .unwrap();
        for (near, seats, expected) in [
            (0, 1, vec![0]),
            (7, 1, vec![6]),
            (0, 2, vec![0, 6]),
            (0, 4, vec![0, 2, 6, 7]),
            (3, 3, vec![0, 2, 6]),
            (0, 5, vec![0, 1, 2, 6, 7]),
            (0, 7, vec![0, 1, 2, 3, 4, 6, 7]),
        ] {
            let seating = Seating::new(&machine, seats).placement(Placement::Cpu);
            let homes = seating.layout(Layout::Spread).near(near).homes();
            assert_eq!(cpus(&homes), expected, "{seats} seats near CPU {near}");
        }
    }

    #[test]
    fn whole_cores_are_taken_before_their_second_hardware_threads() {
        let machine = Topology::builder()
            .domain(0..8)
            .core([0, 1])
            .core([2, 3])
            .core([4, 5])
            .core([6, 7])
            .build()
            .unwrap();
        let homes = Seating::new(&machine, 5).placement(Placement::Cpu).homes();
        assert_eq!(cpus(&homes), [0, 1, 2, 4, 6]);
    }

    #[test]
    fn a_mask_with_holes_is_kept_to() {
        let machine = Topology::builder().domain([0, 1]).domain([100, 101]).build().unwrap();
        let homes = Seating::new(&machine, 4).placement(Placement::Cpu).homes();
        assert_eq!(cpus(&homes), [0, 1, 100, 101]);
    }
}
