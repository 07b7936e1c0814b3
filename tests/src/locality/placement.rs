//! Workers are where placement says: their masks are read back from the kernel at every width.

use std::collections::BTreeMap;
use std::thread;

use locsteal::{Layout, Placement, Pool, Topology};

use super::Setting;
use super::kernel::{Machine, Numbers, first, set_mask};
use super::watched::Watched;

/// Every width, placement and layout, and what is chosen by default.
pub(super) fn check(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let mut cases = 0;
    for width in 1..=machine.allowed.len() {
        for layout in [Layout::Compact, Layout::Spread] {
            // Pools begin where they are told to: in the first and in the last place by turns.
            let near =
                if width % 2 == 0 { machine.allowed.first() } else { machine.allowed.last() };
            let near = *near.expect("a process may use some CPU");
            for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
                // Without masks all layouts are one.
                if placement == Placement::Free && layout != Layout::Compact {
                    continue;
                }
                let builder = Pool::builder().threads(width).placement(placement).layout(layout);
                let pool = Watched::new(builder.near(near));
                assert_eq!(pool.threads(), width);
                let masks = masks(machine, &pool);
                let what = format!("{placement}, {layout:?}, {width} seats near CPU {near}");
                match placement {
                    Placement::Free => {
                        let free = |mask: &Numbers| *mask == machine.allowed;
                        assert!(masks.iter().all(free), "{what}: {masks:?}");
                    }
                    _ => in_place(machine, &masks, placement == Placement::Cpu, &what),
                }
                if placement != Placement::Free && width > 1 {
                    laid_out(machine, &masks, layout, near, &what);
                    let known = !machine.nodes.is_empty() || !machine.caches.is_empty();
                    assert_eq!(pool.locality().is_on(), known, "{what}: {}", pool.locality());
                }
                cases += 1;
            }
        }
    }
    by_default(setting);
    near_creator(machine);
    cases + 2
}

/// The workers' masks by seat, without CPUs that are not there.
fn masks(machine: &Machine, pool: &Watched) -> Vec<Numbers> {
    pool.masks().into_values().map(|mask| &mask & &machine.online).collect()
}

/// Each worker has one CPU, or one place, and there is a CPU for each of them.
fn in_place(machine: &Machine, masks: &[Numbers], single: bool, what: &str) {
    let mut sharing: BTreeMap<&Numbers, usize> = BTreeMap::new();
    for mask in masks {
        *sharing.entry(mask).or_default() += 1;
    }
    for (mask, workers) in sharing {
        if single {
            assert_eq!((mask.len(), workers), (1, 1), "{what}: {masks:?}");
            assert!(mask.is_subset(&machine.allowed), "{what}: {masks:?}");
        } else {
            assert_eq!(*mask, machine.place_of(first(mask)), "{what}: {masks:?}");
            assert!(workers <= mask.len(), "{what}: {workers} workers on CPUs {mask:?}");
        }
    }
}

/// Seats of one place are neighbours, and so are those of one node; places are filled or shared as the layout says.
fn laid_out(machine: &Machine, masks: &[Numbers], layout: Layout, near: usize, what: &str) {
    let cpu = |mask: &Numbers| first(mask);
    let places: Vec<Numbers> = masks.iter().map(|mask| machine.place_of(cpu(mask))).collect();
    let nodes: Vec<Option<usize>> = masks.iter().map(|mask| machine.node_of(cpu(mask))).collect();
    assert!(in_runs(&places) && in_runs(&nodes), "{what}: {masks:?}");

    let node_of = |place: &Numbers| machine.node_of(first(place));
    let here = machine.place_of(near);
    let taken = |place: &Numbers| places.iter().filter(|other| *other == place).count();
    let taken_in = |node: Option<usize>| nodes.iter().filter(|other| **other == node).count();
    let size_of = |node: Option<usize>| match node {
        Some(node) => (&machine.nodes[&node] & &machine.allowed).len(),
        None => machine.allowed.len(),
    };
    let all = machine.places();
    match layout {
        Layout::Compact => {
            assert_eq!(taken(&here), masks.len().min(here.len()), "{what}: {masks:?}");
            let node = machine.node_of(near);
            assert_eq!(taken_in(node), masks.len().min(size_of(node)), "{what}: {masks:?}");
            let begun = |place: &&Numbers| (1..place.len()).contains(&taken(place));
            assert!(all.iter().filter(begun).count() <= 1, "{what}: {masks:?}");
        }
        _ => {
            for a in &all {
                for b in &all {
                    let (from, to) = (node_of(a), node_of(b));
                    let fuller = if from == to {
                        taken(a) > taken(b) + 1 && taken(b) < b.len()
                    } else {
                        taken_in(from) > taken_in(to) + 1 && taken_in(to) < size_of(to)
                    };
                    assert!(!fuller, "{what}: CPUs {a:?} before {b:?} in {masks:?}");
                }
            }
        }
    }
}

/// Whether equal items stand together.
fn in_runs<T: PartialEq>(items: &[T]) -> bool {
    let begins = |at: &usize| *at == 0 || items[at - 1] != items[*at];
    let begun: Vec<&T> = (0..items.len()).filter(begins).map(|at| &items[at]).collect();
    begun.iter().enumerate().all(|(at, item)| !begun[..at].contains(item))
}

/// A pool that is told nothing is as wide as the machine and its limits allow, its workers are confined to places, and
/// none is tied to one CPU of several.
fn by_default(setting: &Setting) {
    let machine = &setting.machine;
    let pool = Watched::new(Pool::builder());
    let seats = pool.threads();
    if let Some(known) = setting.seats {
        assert_eq!(seats, known, "seats by default");
    } else {
        // The standard library rounds the quota of a container down, where there is one.
        let least = thread::available_parallelism().map_or(1, usize::from);
        let most = machine.allowed.len().min(least + 1);
        assert!((least..=most).contains(&seats), "{seats} seats by default, not {least} to {most}");
    }
    for mask in masks(machine, &pool) {
        assert!(mask.len() > 1 || seats == 1, "a worker is tied to CPUs {mask:?}");
        assert!(mask.is_subset(&machine.allowed));
        if seats < machine.allowed.len() {
            assert_eq!(mask, machine.allowed, "a pool narrower than the machine is free");
        } else {
            // It is placed; who would be alone in its place may run beyond it.
            let alone = |&cpu: &usize| machine.place_of(cpu).len() == 1;
            let in_place = mask == machine.place_of(first(&mask));
            assert!(in_place || mask.iter().any(alone), "a worker on CPUs {mask:?}");
        }
    }
}

/// A pool that fits where its creator is running is there.
fn near_creator(machine: &Machine) {
    let topology = Topology::detect();
    for place in machine.places().into_iter().filter(|place| place.len() > 1) {
        thread::scope(|scope| {
            scope.spawn(|| {
                // The creator stays in its place, while the pool is told of the whole machine.
                set_mask(0, &place).expect("a thread may narrow its mask");
                let builder = Pool::builder().threads(place.len()).placement(Placement::Llc);
                for mask in masks(machine, &Watched::new(builder.topology(topology.clone()))) {
                    assert_eq!(mask, place, "a worker whose pool was made on CPUs {place:?}");
                }
            });
        });
    }
}
