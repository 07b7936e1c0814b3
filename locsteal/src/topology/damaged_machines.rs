//! Tests of reading: files that are missing or damaged.

use super::odd_machines::{TWO_BY_TWO, changed, check, distances, domains, nodes, snapshot};
use super::test_folder::TestFolder;
use super::{CpuSet, Topology, TopologySnapshot};

#[test]
fn damage_costs_what_depended_on_it() {
    let all = ["0-1", "2-3", "4-5", "6-7"];
    let two = ["0: 0-3", "1: 4-7"];
    let d = [[10, 21], [21, 10]];
    let text = |path, text| vec![(path, Some(text))];
    for (changes, in_domains, in_nodes, between) in [
        // The other CPU of the cache knows.
        (vec![("cpu/cpu0/cache/index3/level", None)], &all[..], &two[..], d),
        (text("cpu/cpu0/cache/index3/level", "x"), &all, &two, d),
        (text("cpu/cpu1/cache/index3/level", "-3"), &all, &two, d),
        (text("cpu/cpu0/cache/index3/type", "Uni"), &all, &two, d),
        // CPU 0 would have its L2 to itself, but CPU 1 says that they share an L3.
        (text("cpu/cpu0/cache/index3/shared_cpu_list", "0-"), &["1", "2-3", "4-5", "6-7"], &two, d),
        (
            text("cpu/cpu1/cache/index3/shared_cpu_list", "1-0"),
            &["0", "2-3", "4-5", "6-7"],
            &two,
            d,
        ),
        // A lower cache, or one for instructions, changes nothing.
        (text("cpu/cpu0/cache/index2/level", ""), &all, &two, d),
        (vec![("cpu/cpu0/cache/index1", None)], &all, &two, d),
        (vec![("cpu/online", None)], &all, &two, d),
        (text("cpu/online", "0-7-8"), &all, &two, d),
        (vec![("cpu/cpu0/topology", None)], &all, &two, d),
        (text("cpu/cpu0/topology/thread_siblings_list", "1-2"), &all, &two, d),
        (text("cpu/smt/active", "?"), &all, &two, d),
        (vec![("node/online", None)], &all, &two, d),
        (text("node/online", "none"), &all, &two, d),
        (text("node/online", "0-9999"), &all, &two, d),
        (vec![("node/node1/cpulist", None)], &all, &two[..1], d),
        (text("node/node1/cpulist", "4-7,"), &all, &two[..1], d),
        (vec![("node/node1", None)], &all, &two[..1], d),
        // The way back is known.
        (text("node/node1/distance", "21"), &all, &two, d),
        (text("node/node1/distance", "21 10 10"), &all, &two, d),
        (text("node/node1/distance", "21 ten"), &all, &two, d),
        (text("node/node1/distance", "0 10"), &all, &two, d),
        (vec![("node/node0/distance", None)], &all, &two, d),
        (
            vec![("node/node0/distance", None), ("node/node1/distance", None)],
            &all,
            &two,
            [[10, 20], [20, 10]],
        ),
        (vec![("node", None)], &all, &[], d),
    ] {
        let mut changes = changes;
        changes.push(("cpu/cpu0/uevent", Some("")));
        let mut machine = snapshot(TWO_BY_TWO);
        machine.set_allowed("0-7");
        for &(path, text) in &changes {
            match text {
                Some(text) => machine.set(path, text),
                None => machine.remove(path),
            }
        }
        let machine = machine.topology();
        check(&machine);
        assert_eq!(machine.cpus().to_string(), "0-7", "{changes:?}");
        assert_eq!(domains(&machine), in_domains, "{changes:?}");
        assert_eq!(nodes(&machine), in_nodes, "{changes:?}");
        if in_nodes.len() == 2 {
            assert_eq!(distances(&machine), between, "{changes:?}");
        }
        // Never looked at, since the rest tells enough.
        let needless = ["cpu/cpu0/cache/index1", "cpu/cpu1/cache/index3/level", "cpu/smt/active"];
        let harmless = needless.contains(&changes[0].0);
        assert_eq!(machine.notes().is_empty(), harmless, "{changes:?}: {:?}", machine.notes());
    }
}

#[test]
fn notes_name_the_file_and_what_is_wrong_with_it() {
    let machine = changed(&[
        ("cpu/cpu0/cache/index3/level", Some("x")),
        ("cpu/cpu4/cache/index3/shared_cpu_list", Some("4,")),
        ("cpu/cpu5/topology/thread_siblings_list", Some("6")),
        ("node/node0/cpulist", None),
        ("node/node1/distance", Some("21\n")),
    ]);
    check(&machine);
    assert_eq!(
        machine.notes(),
        [
            "not all caches of CPUs 0,4 can be read: cpu/cpu0/cache/index3/level: no number: \"x\"",
            "the cores of CPUs 5 are unknown: cpu/cpu5/topology/thread_siblings_list: \"6\" does not \
             hold the CPU itself",
            "node/node1/distance: expected 2 distances, found \"21\": the distances of node 1 are \
             guessed",
            "nodes 0 are ignored: node/node0/cpulist: not there",
            "the node of CPUs 0-3 is unknown",
        ]
    );
}

#[test]
fn a_folder_is_read_like_a_snapshot_of_it() {
    let folder = TestFolder::new("topology");
    let machine = snapshot(TWO_BY_TWO);
    machine.unpack(folder.path().join("sys")).unwrap();
    let all: CpuSet = (0..8).collect();
    let read = Topology::read(folder.path().join("sys"), &all);
    assert_eq!(read, machine.topology());
    assert_eq!(Topology::read(folder.path(), &all), read, "a folder that holds a `sys`");
    let captured = TopologySnapshot::capture(folder.path(), None);
    assert_eq!(captured, machine);

    // Bytes that are no text, a folder in place of a file, a file in place of a folder.
    let system = folder.path().join("sys/devices/system");
    std::fs::write(system.join("cpu/cpu0/cache/index3/level"), [0xff, 0xfe]).unwrap();
    std::fs::remove_file(system.join("node/node0/distance")).unwrap();
    std::fs::create_dir(system.join("node/node0/distance")).unwrap();
    std::fs::remove_dir_all(system.join("cpu/cpu4/cache")).unwrap();
    std::fs::write(system.join("cpu/cpu4/cache"), "").unwrap();
    let read = Topology::read(folder.path(), &all);
    check(&read);
    assert_eq!(domains(&read), ["0-1", "2-3", "5", "6-7"]);
    assert_eq!(distances(&read), [[10, 21], [21, 10]]);

    let nothing = Topology::read(folder.path().join("nowhere"), &all);
    check(&nothing);
    assert_eq!((nothing.cpus(), nothing.domains(), nothing.nodes()), (&all, &[][..], &[][..]));
    assert_eq!(nothing.notes().len(), 4, "{:?}", nothing.notes());
}
