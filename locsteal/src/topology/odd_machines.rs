//! Tests of reading: machines with holes and contradictions.

use super::{CpuSet, Topology, TopologySnapshot};

/// Two nodes of two L3 caches of two CPUs each, with the caches that kernels usually show.
pub(super) const TWO_BY_TWO: &str = "
    cpu/online: 0-7
    cpu/cpu{0-7}/cache/index0/level: 1
    cpu/cpu{0-7}/cache/index0/type: Data
    cpu/cpu{0-7}/cache/index0/shared_cpu_list: {}
    cpu/cpu{0-7}/cache/index1/level: 1
    cpu/cpu{0-7}/cache/index1/type: Instruction
    cpu/cpu{0-7}/cache/index1/shared_cpu_list: {}
    cpu/cpu{0-7}/cache/index2/level: 2
    cpu/cpu{0-7}/cache/index2/type: Unified
    cpu/cpu{0-7}/cache/index2/shared_cpu_list: {}
    cpu/cpu{0-7}/cache/index3/level: 3
    cpu/cpu{0-7}/cache/index3/type: Unified
    cpu/cpu{0-1}/cache/index3/shared_cpu_list: 0-1
    cpu/cpu{2-3}/cache/index3/shared_cpu_list: 2-3
    cpu/cpu{4-5}/cache/index3/shared_cpu_list: 4-5
    cpu/cpu{6-7}/cache/index3/shared_cpu_list: 6-7
    cpu/cpu{0-7}/topology/thread_siblings_list: {}
    node/online: 0-1
    node/node0/cpulist: 0-3
    node/node1/cpulist: 4-7
    node/node0/distance: 10 21
    node/node1/distance: 21 10
";

/// Files of machines whose CPUs each have one cache, unified and of level 3.
fn one_cache_each(cpus: &str, sharing: &[&str]) -> String {
    let mut text = format!(
        "cpu/online: {cpus}\n\
         cpu/cpu{{{cpus}}}/topology/thread_siblings_list: {{}}\n\
         cpu/cpu{{{cpus}}}/cache/index0/level: 3\n\
         cpu/cpu{{{cpus}}}/cache/index0/type: Unified\n"
    );
    for list in sharing {
        text += &sharing_of(list, list);
    }
    text
}

/// What these CPUs say of who shares their cache.
fn sharing_of(cpus: &str, list: &str) -> String {
    format!("cpu/cpu{{{cpus}}}/cache/index0/shared_cpu_list: {list}\n")
}

pub(super) fn snapshot(text: &str) -> TopologySnapshot {
    text.parse().unwrap()
}

/// The topology of [`TWO_BY_TWO`] with these files changed, or gone where there is no text.
pub(super) fn changed(changes: &[(&str, Option<&str>)]) -> Topology {
    let mut machine = snapshot(TWO_BY_TWO);
    for &(path, text) in changes {
        match text {
            Some(text) => machine.set(path, text),
            None => machine.remove(path),
        }
    }
    machine.topology()
}

pub(super) fn domains(machine: &Topology) -> Vec<String> {
    machine.domains().iter().map(|domain| domain.cpus().to_string()).collect()
}

pub(super) fn nodes(machine: &Topology) -> Vec<String> {
    machine.nodes().iter().map(|node| format!("{}: {}", node.id(), node.cpus())).collect()
}

pub(super) fn distances(machine: &Topology) -> Vec<Vec<u32>> {
    let all = 0..machine.nodes().len();
    all.clone().map(|from| all.clone().map(|to| machine.distance(from, to)).collect()).collect()
}

/// What must hold of every topology, however odd the machine.
pub(super) fn check(machine: &Topology) {
    let mut seen = CpuSet::new();
    for (index, domain) in machine.domains().iter().enumerate() {
        assert!(!domain.cpus().is_empty() && domain.cpus().is_disjoint(&seen));
        seen = seen.union(domain.cpus());
        for cpu in domain.cpus() {
            assert_eq!(machine.domain_of(cpu), Some(index));
            assert_eq!(machine.node_of(cpu), domain.node());
        }
        if let Some(node) = domain.node() {
            assert!(machine.nodes()[node].domains().contains(&index));
        }
    }
    let mut in_nodes = CpuSet::new();
    for (index, node) in machine.nodes().iter().enumerate() {
        assert!(!node.cpus().is_empty() && node.cpus().is_disjoint(&in_nodes));
        in_nodes = in_nodes.union(node.cpus());
        assert!(node.cpus().iter().all(|cpu| machine.node_of(cpu) == Some(index)));
        let outside =
            node.domains().find(|&domain| machine.domains()[domain].node() != Some(index));
        assert_eq!(outside, None);
    }
    assert!(seen.union(&in_nodes).is_subset(machine.cpus()));
    for cpu in (0..=machine.cpus().last().unwrap_or(0) + 1).chain([CpuSet::MAX_ID, usize::MAX]) {
        assert_eq!(machine.domain_of(cpu).is_some(), seen.contains(cpu));
        assert_eq!(machine.node_of(cpu).is_some(), in_nodes.contains(cpu));
        assert!(machine.core_of(cpu).is_none_or(|core| core.contains(cpu)));
    }
}

#[test]
fn a_sane_machine_is_read_without_a_word() {
    let machine = changed(&[]);
    check(&machine);
    assert_eq!(domains(&machine), ["0-1", "2-3", "4-5", "6-7"]);
    assert_eq!(nodes(&machine), ["0: 0-3", "1: 4-7"]);
    assert_eq!(distances(&machine), [[10, 21], [21, 10]]);
    assert!(machine.domains().iter().all(|domain| domain.level() == Some(3)));
    assert_eq!(machine.nodes()[1].domains(), 2..4);
    assert_eq!(machine.core_of(5).unwrap().to_string(), "5");
    assert_eq!(machine.notes(), [""; 0]);
    assert_eq!(
        machine.to_string(),
        "8 CPUs (0-7), 2 nodes, 4 LLC domains\n\
         \x20 node 0: CPUs 0-3, distances 10 21\n\
         \x20   domain 0: CPUs 0-1, L3\n\
         \x20   domain 1: CPUs 2-3, L3\n\
         \x20 node 1: CPUs 4-7, distances 21 10\n\
         \x20   domain 2: CPUs 4-5, L3\n\
         \x20   domain 3: CPUs 6-7, L3"
    );
}

#[test]
fn sets_tell_where_a_mask_is() {
    let machine = changed(&[]);
    for (mask, domain, node) in [
        ("", None, None),
        ("3", Some(1), Some(0)),
        ("4-5", Some(2), Some(1)),
        ("5-6", None, Some(1)),
        ("3-4", None, None),
        ("6-8", None, None),
        ("900", None, None),
    ] {
        let mask: CpuSet = mask.parse().unwrap();
        assert_eq!((machine.domain_holding(&mask), machine.node_holding(&mask)), (domain, node));
    }
}

#[test]
fn only_online_and_allowed_cpus_have_a_part() {
    let mut machine = snapshot(TWO_BY_TWO);
    // The kernel takes CPUs that are offline out of all lists, and their caches away.
    machine.set("cpu/online", "0-2,4-7");
    machine.set("cpu/cpu2/cache/index3/shared_cpu_list", "2");
    machine.remove("cpu/cpu3");
    machine.set("node/node0/cpulist", "0-2");
    for (allowed, cpus, in_domains, in_nodes) in [
        ("0-7", "0-2,4-7", &["0-1", "2", "4-5", "6-7"][..], &["0: 0-2", "1: 4-7"][..]),
        ("1-4", "1-2,4", &["1", "2", "4"], &["0: 1-2", "1: 4"]),
        ("5-2000", "5-7", &["5", "6-7"], &["1: 5-7"]),
        ("6", "6", &["6"], &["1: 6"]),
        ("", "", &[], &[]),
    ] {
        machine.set_allowed(allowed);
        let machine = machine.topology();
        check(&machine);
        assert_eq!(machine.cpus().to_string(), cpus);
        assert_eq!((domains(&machine), nodes(&machine)), (to_vec(in_domains), to_vec(in_nodes)));
        assert_eq!(machine.notes(), [""; 0]);
    }
}

fn to_vec(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn when_no_allowed_cpu_is_said_to_be_online_the_allowed_ones_are_taken() {
    let mut machine = snapshot(TWO_BY_TWO);
    machine.set("cpu/online", "0-1");
    machine.set_allowed("4,6");
    let machine = machine.topology();
    check(&machine);
    assert_eq!(machine.cpus().to_string(), "4,6");
    assert_eq!(domains(&machine), ["4", "6"]);
    assert_eq!(
        machine.notes(),
        ["cpu/online says \"0-1\", which holds none of the allowed CPUs 4,6: it is ignored"]
    );
}

#[test]
fn possible_cpus_that_are_not_there_do_not_count() {
    let text = "cpu/possible: 0-7\n".to_owned() + &one_cache_each("0-1", &["0-1"]);
    let machine = snapshot(&text).topology();
    check(&machine);
    assert_eq!((machine.cpus().to_string(), domains(&machine)), ("0-1".into(), to_vec(&["0-1"])));
}

#[test]
fn ids_may_have_holes_and_be_large() {
    let sharing = ["12-13", "20,1500", "1501,65535"];
    let mut text = one_cache_each("12-13,20,1500-1501,65535", &sharing);
    text += "node/online: 4,1023\nnode/node4/cpulist: 12-13,20,1500\n\
             node/node1023/cpulist: 1501,65535\n\
             node/node4/distance: 10 30\nnode/node1023/distance: 30 10";
    let machine = snapshot(&text).topology();
    check(&machine);
    assert_eq!(domains(&machine), ["12-13", "20,1500", "1501,65535"]);
    assert_eq!(nodes(&machine), ["4: 12-13,20,1500", "1023: 1501,65535"]);
    assert_eq!(distances(&machine), [[10, 30], [30, 10]]);
    assert_eq!(machine.notes(), [""; 0]);
}

#[test]
fn the_highest_level_counts_not_the_highest_index_nor_an_instruction_cache() {
    let machine = changed(&[
        // An L3 that is listed first, on one CPU of the domain alone.
        ("cpu/cpu0/cache/index0/level", Some("3")),
        ("cpu/cpu0/cache/index0/type", Some("Unified")),
        ("cpu/cpu0/cache/index0/shared_cpu_list", Some("0-1")),
        ("cpu/cpu0/cache/index3/level", Some("1")),
        ("cpu/cpu0/cache/index3/shared_cpu_list", Some("0")),
        // A higher cache for instructions.
        ("cpu/cpu2/cache/index4/level", Some("4")),
        ("cpu/cpu2/cache/index4/type", Some("Instruction")),
        ("cpu/cpu2/cache/index4/shared_cpu_list", Some("0-7")),
        // An L4 above two of the L3.
        ("cpu/cpu4/cache/index4/level", Some("4")),
        ("cpu/cpu5/cache/index4/level", Some("4")),
        ("cpu/cpu6/cache/index4/level", Some("4")),
        ("cpu/cpu7/cache/index4/level", Some("4")),
        ("cpu/cpu4/cache/index4/type", Some("Unified")),
        ("cpu/cpu5/cache/index4/type", Some("Unified")),
        ("cpu/cpu6/cache/index4/type", Some("Data")),
        ("cpu/cpu7/cache/index4/type", Some("Unified")),
        ("cpu/cpu4/cache/index4/shared_cpu_list", Some("4-7")),
        ("cpu/cpu5/cache/index4/shared_cpu_list", Some("4-7")),
        ("cpu/cpu6/cache/index4/shared_cpu_list", Some("4-7")),
        ("cpu/cpu7/cache/index4/shared_cpu_list", Some("4-7")),
    ]);
    check(&machine);
    assert_eq!(domains(&machine), ["0-1", "2-3", "4-7"]);
    let levels: Vec<_> = machine.domains().iter().map(|domain| domain.level().unwrap()).collect();
    assert_eq!(levels, [3, 3, 4]);
    assert_eq!(machine.notes(), [""; 0]);
}

#[test]
fn a_higher_cache_is_seen_on_a_cpu_that_another_one_names() {
    // CPU 1 confirms the L3 that CPU 0 names, but has an L4 besides: the two do not agree.
    let machine = changed(&[
        ("cpu/cpu1/cache/index4/level", Some("4")),
        ("cpu/cpu1/cache/index4/type", Some("Unified")),
        ("cpu/cpu1/cache/index4/shared_cpu_list", Some("1")),
    ]);
    check(&machine);
    assert_eq!(domains(&machine), ["0", "1", "2-3", "4-5", "6-7"]);
    assert_eq!(machine.notes().len(), 1);
}

#[test]
fn without_an_l3_the_next_cache_counts() {
    let mut machine = snapshot(TWO_BY_TWO);
    for cpu in 0..8 {
        machine.remove(&format!("cpu/cpu{cpu}/cache/index3"));
    }
    for cpu in 4..8 {
        machine.set(&format!("cpu/cpu{cpu}/cache/index2/shared_cpu_list"), "4-7");
    }
    let machine = machine.topology();
    check(&machine);
    assert_eq!(domains(&machine), ["0", "1", "2", "3", "4-7"]);
    assert!(machine.domains().iter().all(|domain| domain.level() == Some(2)));
}

#[test]
fn cpus_without_a_cache_are_in_their_node_alone() {
    let machine = changed(&[
        ("cpu/cpu3/cache", None),
        ("cpu/cpu6/cache", None),
        ("cpu/cpu7/cache", None),
        ("cpu/cpu2/cache/index3/shared_cpu_list", Some("2")),
    ]);
    check(&machine);
    assert_eq!(domains(&machine), ["0-1", "2", "4-5"]);
    assert_eq!(nodes(&machine), ["0: 0-3", "1: 4-7"]);
    assert_eq!((machine.domain_of(6), machine.node_of(6)), (None, Some(1)));
    assert_eq!(machine.notes(), ["CPUs 3,6-7 show no data cache"]);
    assert!(machine.to_string().contains("\n    no known cache: CPUs 6-7\nnote: "));
}

#[test]
fn without_any_cache_only_nodes_are_known() {
    let mut machine = snapshot(TWO_BY_TWO);
    for cpu in 0..8 {
        machine.remove(&format!("cpu/cpu{cpu}/cache"));
    }
    let machine = machine.topology();
    check(&machine);
    assert_eq!((domains(&machine), nodes(&machine).len()), (vec![], 2));
}

#[test]
fn sets_that_are_not_symmetric_are_made_disjoint() {
    let unconfirmed = |cpus| {
        format!(
            "CPUs {cpus} do not confirm that they share a cache with others that say so: only CPUs \
             that agree are taken as sharing"
        )
    };
    for (sharing, expected, disagreeing) in [
        // Some name more than agree.
        (
            vec![("0-1,6-7", "0-11"), ("2-5,8-11", "2-5,8-11")],
            vec!["0-1,6-7", "2-5,8-11"],
            "2-5,8-11",
        ),
        // The middle is claimed by both sides.
        (
            vec![("0-3", "0-7"), ("4-7", "4-11"), ("8-11", "8-11")],
            vec!["0-3", "4-7", "8-11"],
            "4-11",
        ),
        // Each names itself and its neighbour.
        (
            vec![("0", "0-1"), ("1", "1-2"), ("2", "0,2"), ("3-11", "3-11")],
            vec!["0", "1", "2", "3-11"],
            "0-2",
        ),
    ] {
        let mut text = one_cache_each("0-11", &[]);
        for (cpus, list) in sharing {
            text += &sharing_of(cpus, list);
        }
        let machine = snapshot(&text).topology();
        check(&machine);
        assert_eq!(domains(&machine), expected);
        assert_eq!(machine.notes()[1..], [unconfirmed(disagreeing)]);
    }
}

#[test]
fn a_cache_that_its_own_cpu_does_not_share_is_unknown() {
    let machine = changed(&[
        ("cpu/cpu0/cache/index3/shared_cpu_list", Some("2-3")),
        ("cpu/cpu4/cache/index3/shared_cpu_list", Some("")),
    ]);
    check(&machine);
    assert_eq!(domains(&machine), ["1", "2-3", "5", "6-7"]);
    assert_eq!(
        machine.notes()[0],
        "the highest cache of CPUs 0,4 is said to be shared by others alone: it is taken as unknown"
    );
}

#[test]
fn a_cache_that_reaches_over_nodes_is_cut_there() {
    let mut machine = snapshot(TWO_BY_TWO);
    for cpu in 0..8 {
        machine.set(&format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"), "0-7");
    }
    machine.set("node/node0/cpulist", "0,2,4,6");
    machine.set("node/node1/cpulist", "1,3,5");
    let machine = machine.topology();
    check(&machine);
    assert_eq!(domains(&machine), ["0,2,4,6", "1,3,5", "7"]);
    assert_eq!(machine.domains()[2].node(), None);
    assert_eq!(machine.notes(), ["the node of CPUs 7 is unknown"]);
    let printed = machine.to_string();
    let (_, end) = printed.split_once("domain 1").unwrap();
    assert_eq!(
        end,
        ": CPUs 1,3,5, L3\n  domain 2: CPUs 7, L3\nnote: the node of CPUs 7 is unknown"
    );
}

#[test]
fn overlapping_nodes_are_ignored() {
    for lists in [["0-7", "0-7"], ["0-4", "4-7"]] {
        let machine = changed(&[
            ("node/node0/cpulist", Some(lists[0])),
            ("node/node1/cpulist", Some(lists[1])),
        ]);
        check(&machine);
        assert_eq!(domains(&machine), ["0-1", "2-3", "4-5", "6-7"]);
        assert_eq!(nodes(&machine), [""; 0]);
        assert_eq!(machine.notes().len(), 1);
        assert!(
            machine.notes()[0]
                .ends_with("in more than one node, as with emulated NUMA: nodes are ignored")
        );
    }
}

#[test]
fn nodes_without_cpus_keep_their_columns_alone() {
    let machine = changed(&[
        ("node/online", Some("0,2-4")),
        ("node/node0/cpulist", Some("")),
        ("node/node0/distance", Some("10 99 17 99")),
        ("node/node2/cpulist", Some("0-3")),
        ("node/node2/distance", Some("99 10 98 31")),
        ("node/node3/cpulist", Some("\n")),
        ("node/node3/distance", Some("17 98 10 98")),
        ("node/node4/cpulist", Some("4-7")),
        ("node/node4/distance", Some("99 32 98 10")),
    ]);
    check(&machine);
    assert_eq!(nodes(&machine), ["2: 0-3", "4: 4-7"]);
    assert_eq!(distances(&machine), [[10, 31], [32, 10]]);
    assert_eq!(machine.notes(), [""; 0]);
}

#[test]
fn a_forbidden_node_keeps_its_column() {
    let mut machine = snapshot(
        &(one_cache_each("0-2", &["0", "1", "2"])
            + "node/online: 0-2\nnode/node{0-2}/cpulist: {}\n\
               node/node0/distance: 10 15 40\nnode/node1/distance: 20 10 30\n\
               node/node2/distance: 40 35 10\n"),
    );
    machine.set_allowed("0,2");
    let machine = machine.topology();
    check(&machine);
    assert_eq!(nodes(&machine), ["0: 0", "2: 2"]);
    assert_eq!(distances(&machine), [[10, 40], [40, 10]]);
}

#[test]
fn hardware_threads_of_a_core_are_known() {
    let siblings = "cpu/cpu{0-7}/topology/thread_siblings_list";
    let mut machine = snapshot(TWO_BY_TWO);
    for cpu in 0..8 {
        let path = siblings.replace("{0-7}", &cpu.to_string());
        machine.set(&path, &format!("{},{}", cpu % 4, cpu % 4 + 4));
    }
    assert_eq!(machine.topology().core_of(6).unwrap().to_string(), "2,6");
    machine.set_allowed("0-5");
    assert_eq!(machine.topology().core_of(2).unwrap().to_string(), "2");
    machine.set("cpu/smt/active", "0");
    assert_eq!(machine.topology().core_of(4).unwrap().to_string(), "4");
}
