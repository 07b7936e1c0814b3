//! Machines that are not at hand: snapshots of their topology files, and what is known of them.
//!
//! The snapshots stand in `machines/snapshots`, one a machine, written by the example program
//! `topology --capture FILE`. They were taken from Linux guests of an emulator; what is known of them
//! is what the guest was made of, not what was read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use locsteal::{CpuSet, Pool, Topology, TopologySnapshot};

use crate::locality::kernel::Nearness;

/// What is known of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Also the name of its file.
    pub name: &'static str,
    /// The CPUs that are online.
    pub online: &'static str,
    /// The affinity mask.
    pub allowed: &'static str,
    /// The sets of online CPUs that share their highest cache within a node, sorted by node.
    pub domains: &'static str,
    /// The level of each of those caches, or of all.
    pub levels: &'static [u32],
    /// Nodes that have CPUs: number and CPUs.
    pub nodes: &'static [(usize, &'static str)],
    /// Distances between those nodes, row by row.
    pub distances: &'static [&'static [u32]],
    /// The CPUs of each core, where one has more than one.
    pub cores: &'static str,
    /// Seats of a pool by default, if not as many as CPUs: the control group's limit is in no topology file.
    pub seats: Option<usize>,
}

const ONE_NODE: &[&[u32]] = &[&[10]];

const PLAIN: Machine = Machine {
    name: "",
    online: "0-7",
    allowed: "0-7",
    domains: "0-3 4-7",
    levels: &[3],
    nodes: &[(0, "0-7")],
    distances: ONE_NODE,
    cores: "",
    seats: None,
};

/// Every machine that there is a snapshot of.
pub const MACHINES: &[Machine] = &[
    Machine { name: "1cpu", online: "0", allowed: "0", domains: "0", nodes: &[(0, "0")], ..PLAIN },
    Machine {
        name: "1n1l",
        online: "0-3",
        allowed: "0-3",
        domains: "0-3",
        nodes: &[(0, "0-3")],
        ..PLAIN
    },
    Machine { name: "1n2l", ..PLAIN },
    Machine {
        name: "2n2l",
        nodes: &[(0, "0-3"), (1, "4-7")],
        distances: &[&[10, 21], &[21, 10]],
        ..PLAIN
    },
    Machine {
        name: "2n4l",
        domains: "0-1 2-3 4-5 6-7",
        nodes: &[(0, "0-3"), (1, "4-7")],
        distances: &[&[10, 32], &[32, 10]],
        ..PLAIN
    },
    Machine {
        name: "4n8l",
        online: "0-15",
        allowed: "0-15",
        domains: "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15",
        nodes: &[(0, "0-3"), (1, "4-7"), (2, "8-11"), (3, "12-15")],
        distances: &[&[10, 16, 22, 28], &[16, 10, 28, 22], &[22, 28, 10, 16], &[28, 22, 16, 10]],
        ..PLAIN
    },
    // Distances differ by direction.
    Machine {
        name: "asym",
        online: "0-5",
        allowed: "0-5",
        domains: "0-1 2-3 4-5",
        nodes: &[(0, "0-1"), (1, "2-3"), (2, "4-5")],
        distances: &[&[10, 15, 40], &[20, 10, 30], &[40, 35, 10]],
        ..PLAIN
    },
    Machine {
        name: "big",
        online: "0-127",
        allowed: "0-127",
        domains: "0-7 8-15 16-23 24-31 32-39 40-47 48-55 56-63 64-71 72-79 80-87 88-95 96-103 104-111 112-119 120-127",
        nodes: &[(0, "0-31"), (1, "32-63"), (2, "64-95"), (3, "96-127")],
        distances: &[&[10, 20, 20, 20], &[20, 10, 20, 20], &[20, 20, 10, 20], &[20, 20, 20, 10]],
        ..PLAIN
    },
    // In a control group with a set of CPUs.
    Machine {
        name: "cgroup",
        allowed: "1-2,5",
        domains: "0-1 2-3 4-5 6-7",
        nodes: &[(0, "0-3"), (1, "4-7")],
        distances: &[&[10, 32], &[32, 10]],
        ..PLAIN
    },
    // A third node has memory alone.
    Machine {
        name: "cpuless",
        nodes: &[(0, "0-3"), (1, "4-7")],
        distances: &[&[10, 21], &[21, 10]],
        ..PLAIN
    },
    Machine {
        name: "epyc8",
        online: "0-31",
        allowed: "0-31",
        domains: "0-3 4-7 8-11 12-15 16-19 20-23 24-27 28-31",
        nodes: &[(0, "0-31")],
        ..PLAIN
    },
    // Each CPU has an L3 of its own.
    Machine { name: "flat", domains: "0 1 2 3 4 5 6 7", ..PLAIN },
    // Cores with and without SMT.
    Machine {
        name: "hybrid",
        online: "0-11",
        allowed: "0-11",
        domains: "0-11",
        nodes: &[(0, "0-11")],
        cores: "0-1 2-3 4-5 6-7",
        ..PLAIN
    },
    // Two more CPUs that have no L3.
    Machine {
        name: "hybrid-lp",
        online: "0-13",
        allowed: "0-13",
        domains: "0-11 12 13",
        levels: &[3, 2, 2],
        nodes: &[(0, "0-13")],
        cores: "0-1 2-3 4-5 6-7",
        ..PLAIN
    },
    // Neighbouring numbers are in different sockets.
    Machine {
        name: "interleave",
        domains: "0,2,4,6 1,3,5,7",
        nodes: &[(0, "0,2,4,6"), (1, "1,3,5,7")],
        distances: &[&[10, 21], &[21, 10]],
        ..PLAIN
    },
    // Started with fewer CPUs than there are.
    Machine {
        name: "maxcpus",
        online: "0-5",
        allowed: "0-5",
        domains: "0-3 4-5",
        nodes: &[(0, "0-5")],
        ..PLAIN
    },
    // A node has no memory.
    Machine {
        name: "memless",
        nodes: &[(0, "0-3"), (1, "4-7")],
        distances: &[&[10, 21], &[21, 10]],
        ..PLAIN
    },
    Machine {
        name: "nocache",
        online: "0-3",
        allowed: "0-3",
        domains: "",
        nodes: &[(0, "0-3")],
        ..PLAIN
    },
    Machine {
        name: "nol3",
        online: "0-3",
        allowed: "0-3",
        domains: "0 1 2 3",
        levels: &[2],
        nodes: &[(0, "0-3")],
        ..PLAIN
    },
    Machine {
        name: "odd",
        online: "0-8",
        allowed: "0-8",
        domains: "0-2 3-7 8",
        nodes: &[(0, "0-8")],
        ..PLAIN
    },
    Machine {
        name: "offline",
        online: "0-2,4,6-7",
        allowed: "0-2,4,6-7",
        domains: "0-2 4,6-7",
        nodes: &[(0, "0-2,4,6-7")],
        ..PLAIN
    },
    // A whole cache is offline.
    Machine {
        name: "offline-l3",
        online: "0-1,4-7",
        allowed: "0-1,4-7",
        domains: "0-1 4-5 6-7",
        nodes: &[(0, "0-1"), (1, "4-7")],
        distances: &[&[10, 32], &[32, 10]],
        ..PLAIN
    },
    // In a control group with the time of two CPUs.
    Machine { name: "quota", seats: Some(2), ..PLAIN },
    // The second hardware threads are numbered last.
    Machine {
        name: "smt",
        online: "0-15",
        allowed: "0-15",
        domains: "0-3,8-11 4-7,12-15",
        nodes: &[(0, "0-15")],
        cores: "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15",
        ..PLAIN
    },
    Machine {
        name: "smt-2n",
        online: "0-15",
        allowed: "0-15",
        domains: "0,2,4,6,8,10,12,14 1,3,5,7,9,11,13,15",
        nodes: &[(0, "0,2,4,6,8,10,12,14"), (1, "1,3,5,7,9,11,13,15")],
        distances: &[&[10, 21], &[21, 10]],
        cores: "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15",
        ..PLAIN
    },
    Machine { name: "smt-pairs", domains: "0-7", cores: "0-1 2-3 4-5 6-7", ..PLAIN },
    // Two nodes in each cache.
    Machine {
        name: "snc",
        domains: "0-1 2-3 4-5 6-7",
        nodes: &[(0, "0-1"), (1, "2-3"), (2, "4-5"), (3, "6-7")],
        distances: &[&[10, 11, 21, 21], &[11, 10, 21, 21], &[21, 21, 10, 11], &[21, 21, 11, 10]],
        ..PLAIN
    },
    // There is no node 1.
    Machine {
        name: "sparse",
        nodes: &[(0, "0-3"), (2, "4-7")],
        distances: &[&[10, 30], &[30, 10]],
        ..PLAIN
    },
    Machine { name: "taskset", allowed: "1,4-6", ..PLAIN },
    // 2,048 CPUs are possible.
    Machine { name: "wide", ..PLAIN },
];

impl Machine {
    /// Its snapshot.
    ///
    /// # Panics
    ///
    /// If there is none, or it cannot be read.
    pub fn snapshot(&self) -> TopologySnapshot {
        let path = folder().join(self.name).with_extension("txt");
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// What the library makes of its snapshot: the CPUs, domains, nodes, how near all others are to the first CPU, and the
    /// pool by default, as in the table of `docs/machines.md`.
    ///
    /// # Panics
    ///
    /// If there is no snapshot, or it cannot be read.
    pub fn facts(&self) -> [String; 5] {
        let topology = self.snapshot().topology();
        let sets = |sets: Vec<&CpuSet>| {
            sets.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let mut others = topology.cpus().iter();
        let first = others.next().expect("a machine has a CPU");
        let (domain, node) = (topology.domain_of(first), topology.node_of(first));
        let mut tiers: BTreeMap<Nearness, usize> = BTreeMap::new();
        for cpu in others {
            let near = match (node, topology.node_of(cpu)) {
                (Some(a), Some(b)) if a != b => Nearness::Remote(topology.distance(a, b)),
                _ if domain.is_some() && topology.domain_of(cpu) == domain => Nearness::Cache,
                _ => Nearness::Node,
            };
            *tiers.entry(near).or_default() += 1;
        }
        let tiers: Vec<String> =
            tiers.iter().map(|(near, count)| format!("{count} {near}")).collect();
        let seats = self.seats.unwrap_or(topology.cpus().len());
        let pool =
            Pool::builder().threads(seats).topology(topology.clone()).plan().expect("a plan");
        [
            topology.cpus().to_string(),
            sets(topology.domains().iter().map(locsteal::Domain::cpus).collect()),
            sets(topology.nodes().iter().map(locsteal::Node::cpus).collect()),
            tiers.join(", "),
            format!("{} seats, {}", pool.threads(), pool.placement()),
        ]
    }

    /// Compares a topology with what is known, as far as these CPUs are concerned.
    ///
    /// # Panics
    ///
    /// If they differ.
    pub fn compare(&self, topology: &Topology, cpus: &CpuSet) {
        let set = |list: &str| list.parse::<CpuSet>().unwrap();
        let name = self.name;
        assert_eq!(topology.cpus(), cpus, "{name}");

        let known = sets(self.domains).into_iter().map(|domain| domain.intersection(cpus));
        let mut known: Vec<CpuSet> = known.filter(|domain| !domain.is_empty()).collect();
        known.sort_by_key(|domain| {
            let first = domain.first().unwrap();
            (self.nodes.iter().position(|(_, cpus)| set(cpus).contains(first)), first)
        });
        let domains: Vec<CpuSet> =
            topology.domains().iter().map(|domain| domain.cpus().clone()).collect();
        assert_eq!(domains, known, "domains of {name}");

        // Which of the known nodes has any of the CPUs.
        let known: Vec<(usize, CpuSet)> =
            self.nodes.iter().map(|(_, list)| set(list).intersection(cpus)).enumerate().collect();
        let known: Vec<_> = known.into_iter().filter(|(_, cpus)| !cpus.is_empty()).collect();
        assert_eq!(topology.nodes().len(), known.len(), "nodes of {name}");
        for (from, (known_from, cpus_of_node)) in known.iter().enumerate() {
            let node = &topology.nodes()[from];
            let id = self.nodes[*known_from].0;
            assert_eq!((node.id(), node.cpus()), (id, cpus_of_node), "nodes of {name}");
            for (to, (known_to, _)) in known.iter().enumerate() {
                let distance = self.distances[*known_from][*known_to];
                assert_eq!(topology.distance(from, to), distance, "distances of {name}");
            }
        }

        let shared_cores = sets(self.cores);
        for cpu in cpus {
            let shared = shared_cores.iter().find(|core| core.contains(cpu)).cloned();
            let core = shared.unwrap_or_else(|| [cpu].into_iter().collect()).intersection(cpus);
            assert_eq!(topology.core_of(cpu), Some(&core), "core of CPU {cpu} of {name}");
        }
    }
}

/// The names of all snapshots, sorted.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn snapshot_names() -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder())? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort_unstable();
    Ok(names)
}

/// The sets of a list that is parted by blanks.
///
/// # Panics
///
/// If one of them is no CPU list.
pub fn sets(text: &str) -> Vec<CpuSet> {
    text.split_ascii_whitespace().map(|list| list.parse().unwrap()).collect()
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "machines", "snapshots"].iter().collect()
}
