//! From claims about a machine, which may contradict each other, to a consistent topology.

use super::{CpuSet, Domain, Node, Place, Topology};

/// The kernel's own defaults for the distance of a node to itself, and to another one.
const LOCAL_DISTANCE: u32 = 10;
const REMOTE_DISTANCE: u32 = 20;

/// What files, or a person, say of a machine.
#[derive(Default)]
pub(super) struct Claims {
    /// The online, allowed CPUs.
    pub(super) cpus: CpuSet,
    pub(super) caches: Vec<CacheClaim>,
    /// CPUs of which a cache could not be read, maybe one higher than what they claim.
    pub(super) doubtful: CpuSet,
    /// The hardware threads of one core each. May hold CPUs that are not usable.
    pub(super) cores: Vec<CpuSet>,
    pub(super) nodes: Vec<NodeClaim>,
    pub(super) notes: Vec<String>,
}

/// What CPUs say of their highest-level data or unified cache. Each CPU is in one claim at most.
pub(super) struct CacheClaim {
    /// Who shares the cache. May hold CPUs that are not usable.
    pub(super) shared: CpuSet,
    /// Those who say so.
    pub(super) claimants: CpuSet,
    pub(super) level: Option<u32>,
}

/// What one node says of itself.
pub(super) struct NodeClaim {
    pub(super) id: usize,
    /// May hold CPUs that are not usable, and none at all.
    pub(super) cpus: CpuSet,
    /// Node ids and distances; what is not here is unknown.
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
        let domains = self.settle_domains(&nodes);
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
        let mut claims: Vec<&NodeClaim> = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        for claim in &self.nodes {
            let cpus = claim.cpus.intersection(&self.cpus);
            if !cpus.is_empty() {
                claims.push(claim);
                nodes.push(Node { id: claim.id, cpus, domains: 0..0 });
            }
        }
        let outside = self.cpus.difference(&seen);
        if !nodes.is_empty() && !outside.is_empty() {
            self.notes.push(format!("the node of CPUs {outside} is unknown"));
        }
        let mut distances = Vec::with_capacity(claims.len() * claims.len());
        for from in &claims {
            for to in &claims {
                // Where a row is damaged, the way back is the better guess.
                let known = from.distance_to(to.id).or_else(|| to.distance_to(from.id));
                let default = if from.id == to.id { LOCAL_DISTANCE } else { REMOTE_DISTANCE };
                distances.push(known.unwrap_or(default));
            }
        }
        (nodes, distances)
    }

    /// CPUs that claim the same sharing set, and are in the same node, form a domain. Since each CPU
    /// has one claim, domains cannot overlap, whatever the sets are.
    fn settle_domains(&mut self, nodes: &[Node]) -> Vec<Domain> {
        self.check_caches();
        let mut domains = Vec::new();
        for CacheClaim { claimants, level, .. } in &self.caches {
            let mut rest = claimants.clone();
            for (index, node) in nodes.iter().enumerate() {
                let cpus = claimants.intersection(&node.cpus);
                rest = rest.difference(&cpus);
                domains.push(Domain { cpus, node: Some(index), level: *level });
            }
            domains.push(Domain { cpus: rest, node: None, level: *level });
        }
        domains.retain(|domain| !domain.cpus.is_empty());
        domains.sort_by_key(|domain| (domain.node.unwrap_or(usize::MAX), domain.cpus.first()));
        domains
    }

    /// Leaves as claimants only usable CPUs whose claim holds themselves and can be trusted; notes
    /// where CPUs are named by others and do not agree.
    fn check_caches(&mut self) {
        let mut not_in_own = CpuSet::new();
        for claim in &mut self.caches {
            let usable = claim.claimants.intersection(&self.cpus);
            claim.claimants = usable.intersection(&claim.shared);
            not_in_own = not_in_own.union(&usable.difference(&claim.shared));
        }
        if !not_in_own.is_empty() {
            self.notes.push(format!(
                "the highest cache of CPUs {not_in_own} is said to be shared by others alone: it \
                 is taken as unknown"
            ));
        }

        let claimants = |caches: &[CacheClaim]| {
            caches.iter().fold(CpuSet::new(), |all, claim| all.union(&claim.claimants))
        };
        let all = claimants(&self.caches);
        let disagreeing = self.caches.iter().fold(CpuSet::new(), |found, claim| {
            if claim.claimants.is_empty() {
                return found;
            }
            found.union(&claim.shared.intersection(&all).difference(&claim.claimants))
        });
        for claim in &mut self.caches {
            // What could not be read of these explains the contradiction.
            let distrusted = disagreeing.intersection(&self.doubtful);
            claim.claimants = claim.claimants.difference(&distrusted);
        }
        let disagreeing = disagreeing.difference(&self.doubtful);
        if !disagreeing.is_empty() {
            self.notes.push(format!(
                "CPUs {disagreeing} do not confirm that they share a cache with others that say so: \
                 only CPUs that agree are taken as sharing"
            ));
        }
    }

    fn settle_cores(&self, places: &mut [Place]) -> Vec<CpuSet> {
        let mut cores: Vec<CpuSet> = Vec::new();
        for claim in &self.cores {
            let usable = claim.intersection(&self.cpus);
            let core: CpuSet = usable.iter().filter(|&cpu| places[cpu].core.is_none()).collect();
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
    let mut start = 0;
    for (index, node) in nodes.iter_mut().enumerate() {
        let len = domains[start..].iter().take_while(|domain| domain.node == Some(index)).count();
        node.domains = start..start + len;
        start += len;
    }
    nodes
}
