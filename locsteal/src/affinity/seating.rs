//! Which seat is where: the layout of seats over the domains and nodes of a machine.

use std::cmp::Reverse;

use super::{Home, Layout, Placement};
use crate::topology::{CpuSet, Topology};

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

// No unsafe code is in here, and Miri would take minutes.
#[cfg(all(test, not(miri)))]
#[path = "seating_tests.rs"]
mod tests;
