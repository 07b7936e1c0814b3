//! Masks, control groups and CPUs that are changed from outside while loops run: loops go on, and what somebody else has
//! chosen is left alone.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use locsteal::{Layout, Locality, Placement, Pool, Topology};

use super::kernel::{Machine, Numbers, Worker, cpu_list, list, own_mask, set_mask};
use super::near_first::{Seated, empties_near_blocks_first};
use super::stage::Stage;
use super::watched::Watched;
use super::{Setting, coverage, placement};

/// The first argument of the program that sets masks; those of [`set_masks`] follow.
pub const SET_MASKS: &str = "set-masks";

fn pool(setting: &Setting, placement: Placement) -> Watched {
    let builder = Pool::builder().threads(setting.machine.allowed.len()).placement(placement);
    Watched::new(builder.layout(Layout::Compact))
}

/// Runs a loop in whose midst `change` happens, then all kinds of loops, and checks that masks stay as they were after the
/// change. `gone` are CPUs that are switched off.
fn change_amid_a_loop(pool: &Watched, gone: &Numbers, change: impl FnOnce() + Send) -> usize {
    let stage =
        Stage { pool, block: 64, grain: 1, locality: Locality::Llc, linger: Duration::ZERO };
    let mut changed = BTreeMap::new();
    stage.run(|_| {
        change();
        changed = pool.masks();
    });
    let own = own_mask();
    let cases = coverage::each_once(pool, Locality::Llc, 1000, |_| {});
    let after = pool.masks_at_rest();
    // Who is confined to CPUs that are gone gets another mask from the kernel, but only when it is woken.
    for (seat, mask) in changed.iter().filter(|(_, mask)| !mask.is_subset(gone)) {
        assert_eq!(after[seat], *mask, "the mask of seat {seat} after more loops");
    }
    assert_eq!(own_mask(), own, "the caller's mask");
    cases + 1
}

/// Another process sets the masks of all workers, to everything or to some other corner of the machine.
pub(super) fn check_changed(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let places = machine.places();
    let mut cases = 0;
    let changes = [
        (Placement::Free, false),
        (Placement::Llc, false),
        (Placement::Llc, true),
        (Placement::Cpu, true),
    ];
    for (placement, widen) in changes {
        let pool = pool(setting, placement);
        let at_first = pool.masks();
        cases += change_amid_a_loop(&pool, &Numbers::new(), || {
            let mut arguments = Vec::new();
            let mut wanted = BTreeMap::new();
            for (seat, Worker { thread, .. }) in pool.workers() {
                let new = if widen { &machine.allowed } else { &places[seat % places.len()] };
                arguments.extend([thread.to_string(), list(new)]);
                wanted.insert(seat, new.clone());
            }
            set_from_outside(setting, &arguments);
            assert_eq!(pool.masks(), wanted, "what the other process has set");
        });
        // Threads that are started afresh are placed afresh.
        pool.shutdown();
        locsteal::range(0..1000).pool(&pool).for_each(|_| {});
        let visible = |masks: BTreeMap<usize, Numbers>| -> Vec<Numbers> {
            masks.values().map(|mask| mask & &machine.online).collect()
        };
        assert_eq!(visible(pool.masks_at_rest()), visible(at_first), "{placement}");
    }
    cases
}

/// Before the first loop on a pool, its workers get other masks: by a start handler, or from another process. They are
/// taken to be there.
pub(super) fn check_found(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let places = machine.places();
    let seats = machine.allowed.len();
    if seats == 1 {
        return 0;
    }
    // Neighbours by number are in different places, as far as there are several.
    let mut cpus: Vec<usize> = Vec::new();
    let mut left = places.clone();
    while cpus.len() < seats {
        cpus.extend(left.iter_mut().filter_map(Numbers::pop_last));
    }
    let builder = |placement| Pool::builder().threads(seats).placement(placement);
    let mut cases = 0;
    for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
        for by_handler in [true, false] {
            let wanted: BTreeMap<usize, Numbers> =
                cpus.iter().enumerate().map(|(seat, &cpu)| (seat, Numbers::from([cpu]))).collect();
            let mut builder = builder(placement);
            if by_handler {
                let cpus = cpus.clone();
                builder = builder.start_handler(move |seat| {
                    set_mask(0, &[cpus[seat]].into()).expect("a thread may narrow its mask");
                });
            }
            let pool = Watched::new(builder);
            if !by_handler {
                let words = |(seat, worker): (usize, Worker)| {
                    [worker.thread.to_string(), list(&wanted[&seat])]
                };
                set_from_outside(
                    setting,
                    &pool.workers().into_iter().flat_map(words).collect::<Vec<_>>(),
                );
            }
            assert_eq!(pool.masks(), wanted, "{placement}");
            let known = !machine.nodes.is_empty() || !machine.caches.is_empty();
            assert_eq!(pool.locality().is_on(), known, "{placement}: {}", pool.locality());
            if known {
                let seated = Seated::on_cpus(machine, pool.into(), &cpus);
                for thief in [0, seats / 2, seats - 1] {
                    empties_near_blocks_first(&seated, thief, Locality::Llc);
                }
            }
            cases += 1;
        }
    }
    // One worker that may run in several nodes, and nearness is not known.
    let pool = Watched::new(builder(Placement::Llc));
    let worker = pool.workers()[&(seats - 1)].thread;
    set_from_outside(setting, &[worker.to_string(), list(&machine.allowed)]);
    let in_one_node = places.len() == 1 || machine.usable_nodes().len() == 1;
    assert_eq!(pool.locality().is_on(), in_one_node, "{}", pool.locality());
    cases + coverage::each_once(&pool, Locality::Llc, 1000, |_| {})
}

/// Has another process set masks, if there is a program for it: arguments as for [`set_masks`].
fn set_from_outside(setting: &Setting, arguments: &[String]) {
    if let Some(program) = &setting.mask_setter {
        let status = Command::new(program).arg(SET_MASKS).args(arguments).status();
        assert!(status.expect("the program can be run").success());
    } else {
        set_masks(arguments).expect("masks can be set");
    }
}

/// Sets the masks of threads: their numbers and CPU lists stand by turns.
///
/// # Errors
///
/// The kernel's.
///
/// # Panics
///
/// If they are no threads and CPU lists.
pub fn set_masks(arguments: &[impl AsRef<str>]) -> io::Result<()> {
    for pair in arguments.chunks(2) {
        let (thread, cpus) = (pair[0].as_ref(), pair[1].as_ref());
        set_mask(thread.parse().expect("a thread's number"), &cpu_list(cpus))?;
    }
    Ok(())
}

/// The process's control group is cut down and widened again, and CPUs are switched off and on, where the setting allows it.
pub(super) fn check_changed_cpus(setting: &Setting) -> usize {
    let mut cases = 0;
    for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
        if let Some(group) = &setting.group {
            cases += shrink_group(setting, group, placement);
        }
        if setting.unplug {
            cases += unplug(setting, placement);
        }
    }
    cases
}

/// Most CPUs are taken from the process while it runs, and given back.
fn shrink_group(setting: &Setting, group: &Path, placement: Placement) -> usize {
    let limit = |cpus: &Numbers| {
        fs::write(group.join("cpuset.cpus"), list(cpus)).expect("the group's CPUs can be set");
    };
    let all = &setting.machine.allowed;
    let few = &cpu_list("0-1,4") & all;
    let pool = pool(setting, placement);
    let mut cases = change_amid_a_loop(&pool, &Numbers::new(), || {
        limit(&few);
        // The kernel has moved all threads.
        assert!(pool.masks().values().all(|mask| mask.is_subset(&few)), "{:?}", pool.masks());
    });
    // Started afresh, workers whose places are gone run where they may.
    pool.shutdown();
    cases += coverage::each_once(&pool, Locality::Llc, 1000, |cpu| {
        assert!(few.contains(&cpu), "ran on CPU {cpu}");
    });
    assert!(pool.masks().values().all(|mask| mask.is_subset(&few)), "{:?}", pool.masks());
    drop(pool);
    // What is made now knows only what is left.
    let now = Setting { machine: Machine::read(), seats: None, ..setting.clone() };
    assert_eq!(now.machine.allowed, few);
    cases += placement::check(&now);
    limit(all);
    cases
}

/// CPUs are switched off while workers are on them, and on again.
fn unplug(setting: &Setting, placement: Placement) -> usize {
    let machine = &setting.machine;
    // Half of each place, but for CPU 0, which cannot be switched off.
    let half = machine.places().into_iter().flat_map(|place| {
        let half = place.len() / 2;
        place.into_iter().filter(|cpu| *cpu > 0).take(half)
    });
    let off: Numbers = half.collect();
    let switch = |state: &str| {
        for cpu in &off {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/online");
            fs::write(file, state).expect("the CPU can be switched");
        }
    };
    let pool = pool(setting, placement);
    let mut cases = change_amid_a_loop(&pool, &off, || switch("0"));
    pool.shutdown();
    cases += coverage::each_once(&pool, Locality::Llc, 1000, |cpu| {
        assert!(!off.contains(&cpu), "ran on CPU {cpu}");
    });
    drop(pool);
    let left: Numbers = &machine.allowed - &off;
    assert!(Topology::detect().cpus().iter().eq(left.iter().copied()));
    cases +=
        placement::check(&Setting { machine: Machine::read(), seats: None, ..setting.clone() });
    switch("1");
    cases
}
