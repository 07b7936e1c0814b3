//! The checks of locality on the machine that the tests run on, and their loops on seats of machines that it is not.
//!
//! `booted` runs the same checks inside machines that it boots.
#![cfg(target_os = "linux")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use locsteal::{Layout, Locality, Placement, Pool};
use locsteal_tests::locality::kernel::{self, Nearness};
use locsteal_tests::locality::near_first::{
    Seated, empties_near_blocks_first, rescues_near_blocks_first, stays_near_after_crossing,
};
use locsteal_tests::locality::{CHECKS, Setting};
use locsteal_tests::machines::{MACHINES, Machine, sets};

#[test]
fn every_check_passes_here() {
    let machine = kernel::Machine::read();
    let setting = Setting {
        machine,
        known: None,
        seats: None,
        mask_setter: None,
        group: None,
        unplug: false,
    };
    for (name, check) in CHECKS {
        let passed = catch_unwind(AssertUnwindSafe(|| check(&setting)));
        assert!(passed.is_ok(), "{name}");
    }
}

/// Callers on each single CPU end the threads of a pool and start them anew.
#[test]
fn workers_are_where_they_were_whoever_starts_them() {
    let pool = Pool::builder().threads(3).placement(Placement::Free).name("anew").build().unwrap();
    let kernel::Machine { online, allowed, .. } = kernel::Machine::read();
    for &cpu in &allowed {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                kernel::set_mask(0, &[cpu].into()).expect("a thread may narrow its mask");
                pool.shutdown();
                locsteal::range(0..100).pool(&pool).for_each(|_| {});
                assert_eq!(kernel::own_mask(), [cpu].into());
                let workers = kernel::workers("anew");
                assert_eq!(workers.len(), 3);
                let free = |worker: &kernel::Worker| &worker.mask & &online == allowed;
                assert!(workers.values().all(free), "{workers:?}");
            });
        });
    }
}

/// How near two CPUs of a known machine are.
fn nearness(machine: &Machine, from: usize, to: usize) -> Nearness {
    let node =
        |cpu| machine.nodes.iter().position(|(_, cpus)| kernel::cpu_list(cpus).contains(&cpu));
    let (a, b) =
        (node(from).expect("every CPU has a node"), node(to).expect("every CPU has a node"));
    let both = |domain: &locsteal::CpuSet| domain.contains(from) && domain.contains(to);
    if a != b {
        Nearness::Remote(machine.distances[a][b])
    } else if sets(machine.domains).iter().any(both) {
        Nearness::Cache
    } else {
        Nearness::Node
    }
}

/// A pool with a seat for each CPU of a machine that is not this one.
fn seated(machine: &Machine, layout: Layout, seats: usize) -> Seated {
    let builder = Pool::builder()
        .threads(seats)
        .placement(Placement::Cpu)
        .layout(layout)
        .near(0)
        .topology(machine.snapshot().topology());
    let plan = builder.clone().plan().expect("a plan");
    let cpu = |seat| plan.home(seat).cpu.expect("each seat has a CPU");
    Seated::new(builder, |from, to| nearness(machine, cpu(from), cpu(to)))
}

/// Machines that are small enough for a thread a CPU.
fn machines() -> impl Iterator<Item = (&'static Machine, usize)> {
    let cpus = |machine: &Machine| kernel::cpu_list(machine.allowed).len();
    MACHINES.iter().map(move |machine| (machine, cpus(machine))).filter(|(_, cpus)| *cpus <= 16)
}

#[test]
fn near_blocks_are_emptied_before_far_ones() {
    for (machine, cpus) in machines() {
        let all = seated(machine, Layout::Compact, cpus);
        for thief in 0..cpus {
            empties_near_blocks_first(&all, thief, Locality::Llc);
        }
        empties_near_blocks_first(&all, cpus / 2, Locality::Node);
        empties_near_blocks_first(&all, cpus / 2, Locality::Flat);
        let some = seated(machine, Layout::Spread, cpus / 2 + 1);
        empties_near_blocks_first(&some, cpus / 2, Locality::Llc);
    }
}

#[test]
fn thieves_that_went_far_come_back_to_near_work() {
    let cases = machines().map(|(machine, cpus)| {
        let seated = seated(machine, Layout::Compact, cpus);
        usize::from(stays_near_after_crossing(&seated, cpus / 2))
    });
    assert!(cases.sum::<usize>() >= 15, "most machines have near and far CPUs");
}

#[test]
fn callers_on_their_own_begin_near_blocks_first() {
    // A caller that stays where it is has the same seat in every loop.
    let here = [kernel::first(&kernel::Machine::read().allowed)].into();
    kernel::set_mask(0, &here).expect("a thread may narrow its mask");
    for (machine, cpus) in machines() {
        let seated = seated(machine, Layout::Compact, cpus);
        for block in [16, 1024] {
            rescues_near_blocks_first(&seated, block);
        }
    }
}
