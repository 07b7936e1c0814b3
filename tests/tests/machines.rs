//! Every machine that there is a snapshot of, read and compared with what is known of it.

use std::path::PathBuf;

use locsteal::{CpuSet, Layout, Placement, Seating, Topology, TopologySnapshot};
use locsteal_tests::machines::{MACHINES, snapshot_names};

fn set(text: &str) -> CpuSet {
    text.parse().unwrap()
}

#[test]
fn every_snapshot_is_in_the_table_and_the_other_way_round() {
    let known: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
    assert_eq!(snapshot_names().unwrap(), known);
}

#[test]
fn all_that_is_known_is_read() {
    for machine in MACHINES {
        let online = set(machine.online);
        let topology = machine.snapshot().with_allowed(online.clone()).topology();
        machine.compare(&topology, &online);
        let levels: Vec<u32> =
            topology.domains().iter().map(|domain| domain.level().unwrap()).collect();
        match machine.levels {
            [level] => assert!(levels.iter().all(|found| found == level), "{}", machine.name),
            known => assert_eq!(levels, known, "{}", machine.name),
        }
        let notes: &[&str] = match machine.name {
            "nocache" => &["CPUs 0-3 show no data cache"],
            _ => &[],
        };
        assert_eq!(topology.notes(), notes, "{}", machine.name);
    }
}

#[test]
fn the_mask_of_each_machine_is_kept_to() {
    for machine in MACHINES {
        let snapshot = machine.snapshot();
        let allowed = set(machine.allowed);
        assert_eq!(snapshot.allowed(), Some(&allowed), "{}", machine.name);
        machine.compare(&snapshot.topology(), &allowed);
        // CPUs that are not there may be allowed.
        let beyond = allowed.union(&set("500,1500"));
        machine.compare(&snapshot.with_allowed(beyond).topology(), &allowed);
    }
}

#[test]
fn any_two_cpus_of_a_machine_can_be_all_that_is_allowed() {
    for machine in MACHINES.iter().filter(|machine| set(machine.online).len() <= 16) {
        let snapshot = machine.snapshot();
        let online = set(machine.online);
        for first in &online {
            for second in &online {
                let allowed: CpuSet = [first, second].into_iter().collect();
                let topology = snapshot.clone().with_allowed(allowed.clone()).topology();
                machine.compare(&topology, &allowed);
            }
        }
    }
}

#[test]
fn files_in_a_folder_read_the_same_and_are_captured_to_the_letter() {
    // Less than the largest, whose thousands of files take their time.
    for machine in MACHINES.iter().filter(|machine| set(machine.online).len() <= 16) {
        let snapshot = machine.snapshot();
        let folder: PathBuf =
            [env!("CARGO_TARGET_TMPDIR"), "machines", machine.name].iter().collect();
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        snapshot.unpack(&folder).unwrap();
        let allowed = set(machine.allowed);
        assert_eq!(Topology::read(&folder, &allowed), snapshot.topology(), "{}", machine.name);
        let captured = TopologySnapshot::capture(&folder, Some(allowed));
        assert_eq!(captured.to_string(), snapshot.to_string(), "{}", machine.name);
    }
}

#[test]
fn seats_find_places_at_every_width() {
    for machine in MACHINES {
        let topology = machine.snapshot().topology();
        let count = topology.cpus().len();
        for seats in (1..=count + 2).step_by(if count > 64 { 7 } else { 1 }) {
            for placement in [Placement::Llc, Placement::Cpu] {
                for layout in [Layout::Compact, Layout::Spread] {
                    for near in [topology.cpus().first(), topology.cpus().last()] {
                        let seating = Seating::new(&topology, seats).placement(placement);
                        let homes = seating.layout(layout).near(near.unwrap()).homes();
                        let places: CpuSet = homes.iter().filter_map(|home| home.cpu).collect();
                        assert_eq!(places.len(), seats.min(count), "{}, {seats}", machine.name);
                        for home in &homes {
                            let mask = home.mask.as_ref().unwrap_or(topology.cpus());
                            assert!(mask.is_subset(topology.cpus()), "{}", machine.name);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn by_default_no_worker_of_any_machine_is_tied_to_one_cpu() {
    for machine in MACHINES {
        let topology = machine.snapshot().topology();
        for seats in 1..=topology.cpus().len() {
            for home in Seating::new(&topology, seats).homes() {
                let tied = home.mask.is_some_and(|mask| mask.len() == 1);
                assert!(!tied, "{} with {seats} seats", machine.name);
            }
        }
    }
}

#[test]
fn a_machine_prints_as_a_tree() {
    let cgroup = MACHINES.iter().find(|machine| machine.name == "cgroup").unwrap();
    assert_eq!(
        cgroup.snapshot().topology().to_string(),
        "3 CPUs (1-2,5), 2 nodes, 3 LLC domains\n\
         \x20 node 0: CPUs 1-2, distances 10 32\n\
         \x20   domain 0: CPUs 1, L3\n\
         \x20   domain 1: CPUs 2, L3\n\
         \x20 node 1: CPUs 5, distances 32 10\n\
         \x20   domain 2: CPUs 5, L3"
    );
}

/// Its rows are printed by `booted all`; those of machines that are not booted, and all that snapshots can tell of the others,
/// by `booted snapshots`.
#[test]
fn the_table_of_machines_tells_what_is_read() {
    let page = include_str!("../../docs/machines.md");
    for machine in MACHINES {
        let cells = machine.facts().map(|fact| if fact.is_empty() { "-".into() } else { fact });
        let start = format!("| `{}` | {} |", machine.name, cells.join(" | "));
        let rows = page.lines().filter(|line| line.starts_with(&start)).count();
        assert_eq!(rows, 1, "docs/machines.md has no row, or two, that begin `{start}`");
    }
}
