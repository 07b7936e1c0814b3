//! From claims about a machine, which may contradict each other, to a consistent topology.

use super::{CpuSet, Domain, Node, Place, Topology};

/// Distance of a node to itself, and to another one of which nothing is known: the kernel's own
/// defaults.
pub(super) const LOCAL_DISTANCE: u32 = 10;
pub(super) const REMOTE_DISTANCE: u32 = 20;

/// What files, or a person, say of a machine.
#[derive(Default)]
pub(super) struct Claims {
    /// The online, allowed CPUs.
    pub(super) cpus: CpuSet,
    pub(super) caches: Vec<CacheClaim>,
    /// CPUs of one core each.
    pub(super) cores: Vec<CpuSet>,
    pub(super) nodes: Vec<NodeClaim>,
    pub(super) notes: Vec<String>,
}

/// What one CPU says of its highest-level data or unified cache.
pub(super) struct CacheClaim {
    pub(super) cpu: usize,
    pub(super) level: Option<u32>,
    /// Who shares it. May hold CPUs that are not usable.
    pub(super) shared: CpuSet,
    /// Another cache of this CPU could not be read, and may have been a higher one.
    pub(super) doubtful: bool,
}

/// What one node says of itself.
pub(super) struct NodeClaim {
    pub(super) id: usize,
    /// May hold CPUs that are not usable, and none at all.
    pub(super) cpus: CpuSet,
    /// Node id and distance; a node that is not there has no known distance.
    pub(super) distances: Vec<(usize, u32)>,
}

impl Claims {
    pub(super) fn assemble(mut self) -> Topology {
        let (nodes, distances) = self.settle_nodes();
        let mut places = vec![Place::default(); self.cpus.last().map_or(0, |last| last + 1)];
        for (index, node) in nodes.iter().enumerate() {
            for cpu in &node.cpus {
                places[cpu].node = Some(index as u32);
            }
        }
        let domains = self.settle_domains(&places);
        for (index, domain) in domains.iter().enumerate() {
            for cpu in &domain.cpus {
                places[cpu].domain = Some(index as u32);
            }
        }
        let cores = self.settle_cores(&mut places);
        let nodes = with_domains(nodes, &domains);
        Topology { cpus: self.cpus, domains, nodes, distances, cores, places, notes: self.notes }
    }

    fn settle_nodes(&mut self) -> (Vec<Node>, Vec<u32>) {
        self.nodes.sort_by_key(|node| node.id);
        let mut seen = CpuSet::new();
        for node in &self.nodes {
            if !node.cpus.is_disjoint(&seen) {
                self.notes.push(format!(
                    "CPUs {} are in more than one node, as with emulated NUMA: nodes are ignored",
                    node.cpus.intersection(&seen)
                ));
                return (Vec::new(), Vec::new());
            }
            seen = seen.union(&node.cpus);
        }
        let usable: Vec<(&NodeClaim, CpuSet)> = self
            .nodes
            .iter()
            .map(|node| (node, node.cpus.intersection(&self.cpus)))
            .filter(|(_, cpus)| !cpus.is_empty())
            .collect();
        let outside = self.cpus.difference(&seen);
        if !usable.is_empty() && !outside.is_empty() {
            self.notes.push(format!("the node of CPUs {outside} is unknown"));
        }
        let mut distances = Vec::with_capacity(usable.len() * usable.len());
        for (from, _) in &usable {
            for (to, _) in &usable {
                // The way back is the better guess where a row is damaged.
                let known = from.distance_to(to.id).or_else(|| to.distance_to(from.id));
                let default = if from.id == to.id { LOCAL_DISTANCE } else { REMOTE_DISTANCE };
                distances.push(known.unwrap_or(default));
            }
        }
        let nodes = usable
            .into_iter()
            .map(|(node, cpus)| Node { id: node.id, cpus, domains: 0..0 })
            .collect();
        (nodes, distances)
    }

    /// CPUs that claim the same sharing set, and are in the same node, form a domain. Since each CPU
    /// has one claim, domains cannot overlap, whatever the sets are.
    fn settle_domains(&mut self, places: &[Place]) -> Vec<Domain> {
        self.drop_bad_claims();
        let mut groups: Vec<(CpuSet, Domain)> = Vec::new();
        for claim in &self.caches {
            let node = places[claim.cpu].node.map(|node| node as usize);
            let same = |(shared, domain): &&mut (CpuSet, Domain)| {
                *shared == claim.shared && domain.node == node
            };
            if let Some((_, domain)) = groups.iter_mut().find(same) {
                domain.cpus.insert(claim.cpu);
                domain.level = domain.level.max(claim.level);
            } else {
                let domain =
                    Domain { cpus: [claim.cpu].into_iter().collect(), node, level: claim.level };
                groups.push((claim.shared.clone(), domain));
            }
        }
        let mut domains: Vec<Domain> = groups.into_iter().map(|(_, domain)| domain).collect();
        domains.sort_by_key(|domain| (domain.node.unwrap_or(usize::MAX), domain.cpus.first()));
        domains
    }

    /// Leaves one claim a usable CPU at most, each of a set that holds the CPU itself; notes those
    /// on which the CPUs that they name do not agree.
    fn drop_bad_claims(&mut self) {
        let mut claimed = CpuSet::new();
        let mut not_in_own = CpuSet::new();
        self.caches.retain(|claim| {
            let usable = self.cpus.contains(claim.cpu);
            let sound = claim.shared.contains(claim.cpu);
            if usable && !sound {
                not_in_own.insert(claim.cpu);
            }
            usable && sound && claimed.insert(claim.cpu)
        });
        if !not_in_own.is_empty() {
            self.notes.push(format!(
                "the cache of CPUs {not_in_own} says that they do not share it themselves: \
                 it is taken as unknown"
            ));
        }

        let mut contradicted = CpuSet::new();
        let mut distrusted = CpuSet::new();
        for (index, claim) in self.caches.iter().enumerate() {
            // Looking at each different set once keeps this linear on sane machines.
            if self.caches[..index].iter().any(|earlier| earlier.shared == claim.shared) {
                continue;
            }
            for other in &self.caches {
                if other.shared != claim.shared && claim.shared.contains(other.cpu) {
                    if other.doubtful {
                        distrusted.insert(other.cpu);
                    } else {
                        contradicted.insert(other.cpu);
                    }
                }
            }
        }
        self.caches.retain(|claim| !distrusted.contains(claim.cpu));
        if !contradicted.is_empty() {
            self.notes.push(format!(
                "others list CPUs {contradicted} as sharing a cache with them, which these do not \
                 confirm: only CPUs that agree are taken as sharing"
            ));
        }
    }

    fn settle_cores(&mut self, places: &mut [Place]) -> Vec<CpuSet> {
        let mut cores: Vec<CpuSet> = Vec::new();
        for claim in &self.cores {
            let core: CpuSet = claim
                .intersection(&self.cpus)
                .iter()
                .filter(|&cpu| places[cpu].core.is_none())
                .collect();
            if core.is_empty() {
                continue;
            }
            for cpu in &core {
                places[cpu].core = Some(cores.len() as u32);
            }
            cores.push(core);
        }
        cores
    }
}

impl NodeClaim {
    fn distance_to(&self, id: usize) -> Option<u32> {
        self.distances.iter().find(|(to, _)| *to == id).map(|(_, distance)| *distance)
    }
}

/// Gives each node the indices of its domains, which are sorted by node.
fn with_domains(mut nodes: Vec<Node>, domains: &[Domain]) -> Vec<Node> {
    for (index, node) in nodes.iter_mut().enumerate() {
        let start = domains.partition_point(|domain| domain.node.is_some_and(|node| node < index));
        let len = domains[start..].iter().take_while(|domain| domain.node == Some(index)).count();
        node.domains = start..start + len;
    }
    nodes
}
