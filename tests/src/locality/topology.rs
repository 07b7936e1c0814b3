//! Detected topology against a plain reading of the same files, and against what is known of the machine.

use std::collections::BTreeSet;

use locsteal::{CpuSet, Topology};

use super::Setting;
use super::kernel::{Numbers, cpu_list};

/// Everything that [`Topology`] tells.
pub(super) fn check(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let detected = Topology::detect();
    assert_eq!(numbers(detected.cpus()), &machine.online & &machine.allowed);

    let domains: Vec<Numbers> = detected.domains().iter().map(|it| numbers(it.cpus())).collect();
    assert_eq!(domains, machine.domains());
    for domain in detected.domains() {
        for cpu in domain.cpus() {
            assert_eq!(domain.level(), Some(machine.caches[&cpu].0), "cache of CPU {cpu}");
            let node = domain.node().map(|node| detected.nodes()[node].id());
            assert_eq!(node, machine.node_of(cpu), "node of CPU {cpu}");
        }
    }

    let nodes: Vec<(usize, Numbers)> =
        detected.nodes().iter().map(|node| (node.id(), numbers(node.cpus()))).collect();
    assert_eq!(nodes, Vec::from_iter(machine.usable_nodes()));
    for (from, (a, _)) in nodes.iter().enumerate() {
        for (to, (b, _)) in nodes.iter().enumerate() {
            let known = machine.distances[&(*a, *b)];
            assert_eq!(detected.distance(from, to), known, "from node {a} to {b}");
        }
    }

    for &cpu in &machine.allowed {
        let siblings = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let siblings = std::fs::read_to_string(&siblings).expect("every CPU has siblings");
        let core = &cpu_list(&siblings) & &machine.allowed;
        assert_eq!(detected.core_of(cpu).map(numbers), Some(core), "core of CPU {cpu}");
    }

    if let Some(known) = setting.known {
        assert_eq!(machine.online, cpu_list(known.online), "the machine was made as described");
        known.compare(&detected, &known.allowed.parse().expect("a CPU list"));
    }
    machine.allowed.len()
}

fn numbers(cpus: &CpuSet) -> Numbers {
    cpus.iter().collect::<BTreeSet<usize>>()
}
