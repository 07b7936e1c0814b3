//! Callers sit in a seat of the domain that they are in, and their masks are never touched.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use locsteal::{Locality, Placement, Pool, Schedule};

use super::Setting;
use super::kernel::{Machine, Numbers, first, own_mask, set_mask};
use super::stage::Stage;
use super::watched::Watched;

/// Callers in every place of the machine, on wide and narrow pools, in calm and in trouble.
pub(super) fn check(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let cpus = machine.allowed.len();
    let mut cases = 0;
    let mut widths = vec![cpus, cpus / 2 + 1, 2.min(cpus)];
    widths.dedup();
    for width in widths {
        for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
            let pool = Watched::new(Pool::builder().threads(width).placement(placement));
            let masks = masks(machine, &pool);
            for place in machine.places() {
                thread::scope(|scope| {
                    scope.spawn(|| in_place(machine, &pool, &masks, &place));
                });
                cases += 1;
            }
        }
    }
    cases
}

/// Where each worker may run.
fn masks(machine: &Machine, pool: &Watched) -> BTreeMap<usize, Numbers> {
    pool.masks_at_rest().into_iter().map(|(seat, mask)| (seat, &mask & &machine.online)).collect()
}

fn in_place(
    machine: &Machine,
    pool: &Watched,
    at_first: &BTreeMap<usize, Numbers>,
    place: &Numbers,
) {
    set_mask(0, place).expect("a thread may narrow its mask");
    let stage =
        Stage { pool, block: 16, grain: 1, locality: Locality::Llc, linger: Duration::ZERO };
    let record = stage.run(|_| {});
    assert_eq!(own_mask(), *place, "a loop leaves its caller's mask alone");
    // The last place's caller has ended the threads, so this one, which is confined, has started them.
    assert_eq!(masks(machine, pool), *at_first, "workers are where they were, whoever starts them");

    // Blocks ran where their seats are; the caller's where the caller is.
    for (&seat, &cpu) in &record.began_on {
        let mask = if seat == record.caller { place } else { &at_first[&seat] };
        assert!(mask.contains(&cpu), "seat {seat} began on CPU {cpu}, outside of {mask:?}");
    }
    let seats_in = |cpus: &Numbers| {
        let inside = at_first.iter().filter(|(_, mask)| mask.is_subset(cpus));
        inside.map(|(&seat, _)| seat).min()
    };
    let what =
        || format!("a caller on CPUs {place:?} at seat {}, workers on {at_first:?}", record.caller);
    if pool.locality().is_on() && !at_first.is_empty() {
        let node = machine.node_of(first(place));
        let in_node = node.map(|node| &machine.nodes[&node]);
        if let Some(seat) = seats_in(place).or_else(|| seats_in(in_node?)) {
            assert_eq!(record.caller, seat, "{}", what());
        } else {
            // In the nearest of the other nodes.
            let far = |mask: &Numbers| machine.nearness(first(place), first(mask));
            let nearest = at_first.values().map(far).min();
            assert_eq!(Some(far(&at_first[&record.caller])), nearest, "{}", what());
        }
    }

    let panicking = catch_unwind(AssertUnwindSafe(|| {
        locsteal::range(0..pool.threads()).pool(pool).schedule(Schedule::Static).for_each(|_| {
            // Unlike a panic proper it prints nothing.
            resume_unwind(Box::new(()));
        });
    }));
    assert!(panicking.is_err());
    assert_eq!(own_mask(), *place, "nor does a panic change it");
    pool.shutdown();
    assert_eq!(own_mask(), *place, "nor the end of the threads");
}
