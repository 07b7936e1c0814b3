//! Tests of the layout of seats.

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
    let masks: Vec<_> = homes.iter().map(|home| home.mask.clone().unwrap().to_string()).collect();
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
