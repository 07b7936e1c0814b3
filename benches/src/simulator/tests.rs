//! What the library promises of machines that nobody here owns, in small: `docs/simulator.md` has the full tables.

use crate::costs::Costs;
use crate::engine::Trouble;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::reports::Setting;
use crate::reports::{self, trouble};
use crate::trial::{Arm, Trial};

fn setting(seeds: u64, runs: u64) -> Setting {
    Setting { costs: Costs::default(), seeds, runs }
}

#[test]
fn every_iteration_runs_once_under_all_rules_and_troubles() {
    let site = Site::regular(2, 2, 3);
    let trouble = Trouble {
        asleep: true,
        late: vec![(3, None), (7, Some(50_000_000))],
        stalls: vec![(5, 1_000_000, 90_000_000)],
    };
    for trouble in [Trouble::default(), trouble] {
        for kernel in [Kernel::triangular(997), Kernel::axpy(100_003), Kernel::hot_front(1000)] {
            let setting = setting(1, 4);
            let trial = Trial { trouble: trouble.clone(), ..setting.trial(&site, &kernel) };
            for arm in Arm::ALL {
                let (run, _) = trial.record(arm);
                let mut chunks: Vec<_> = run.chunks.iter().map(|c| c.iterations.clone()).collect();
                chunks.sort_by_key(|chunk| chunk.start);
                let mut next = 0;
                for chunk in chunks {
                    assert_eq!(chunk.start, next, "{}, {}", kernel.name, arm.name());
                    next = chunk.end;
                }
                assert_eq!(next, kernel.len);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let (site, kernel) = (Site::regular(2, 2, 4), Kernel::triangular(2000));
    let setting = setting(1, 4);
    let makespans =
        [(); 2].map(|()| setting.trial(&site, &kernel).record(Arm::LocalFirst).0.makespan);
    assert!(makespans[0] > 0.0 && makespans[0].to_bits() == makespans[1].to_bits());
}

#[test]
fn little_of_what_moves_crosses_nodes_where_the_cyclic_order_moves_half() {
    let site = Site::dealt_over_nodes(2, 64);
    let setting = setting(1, 8);
    for kernel in [Kernel::axpy(1_000_000), Kernel::axpy(10_000_000), Kernel::stencil(126)] {
        let trial = setting.trial(&site, &kernel);
        let across = |arm| trial.run(arm).whole.of_moved()[1];
        let (cyclic, local) = (across(Arm::Flat), across(Arm::LocalFirst));
        assert!(cyclic >= 0.37, "{}: {cyclic}", kernel.name);
        assert!(local <= 0.04, "{}: {local}", kernel.name);
    }
}

#[test]
fn little_of_what_moves_leaves_its_cache() {
    let site = Site::regular(1, 2, 8);
    let setting = setting(1, 12);
    for kernel in [Kernel::axpy(1_000_000), Kernel::axpy(10_000_000), Kernel::stencil(126)] {
        let leaving = setting.trial(&site, &kernel).run(Arm::LocalFirst).whole.of_moved()[0];
        assert!(leaving <= 0.12, "{}: {leaving}", kernel.name);
    }
}

#[test]
fn local_first_is_a_tenth_faster_on_two_nodes_and_never_slower() {
    let setting = setting(2, 8);
    let kernel = Kernel::axpy(1_000_000);
    for site in [Site::regular(2, 1, 32), Site::dealt_over_nodes(2, 64)] {
        let trial = setting.trial(&site, &kernel);
        let ratio = trial.run(Arm::LocalFirst).against(&trial.run(Arm::Flat));
        assert!(ratio <= 0.9, "{}: {ratio}", site.name);
    }
    for site in [Site::regular(1, 2, 8), Site::regular(2, 1, 8), Site::regular(1, 1, 8)] {
        for kernel in
            [Kernel::axpy(1_000_000), Kernel::triangular(4000), Kernel::heavy_tail(50_000, 1)]
        {
            let trial = setting.trial(&site, &kernel);
            let ratio = trial.run(Arm::LocalFirst).against(&trial.run(Arm::Flat));
            // A few cases in a hundred are above 1.01: see the page on the simulator.
            assert!(ratio <= 1.012, "{} on {}: {ratio}", kernel.name, site.name);
        }
    }
}

#[test]
fn late_workers_and_stragglers_cost_no_more_than_the_rules_allow() {
    let few = trouble::cases(&setting(1, 2), &[64], &[20_000.0, 200_000.0, 2_000_000.0]);
    let many = trouble::cases(&setting(1, 2), &[1024], &[20_000.0, 200_000.0]);
    for case in few.into_iter().chain(many) {
        assert!(
            case.cost <= case.bound,
            "{} of {} with blocks of {} ns: {} ns, allowed are {}",
            case.what,
            case.seats,
            case.block,
            case.cost,
            case.bound
        );
    }
}

#[test]
fn while_one_long_iteration_runs_nobody_looks_around_for_long() {
    let seats = 64;
    let site = Site::of_seats(seats);
    let kernel = Kernel::one_long(64 * seats as u64, 10_000_000.0);
    let whole = setting(1, 2).trial(&site, &kernel).run(Arm::LocalFirst).whole;
    let pairs = (seats * (seats - 1)) as f64;
    assert!(whole.looks < 8.0 * pairs, "{} looks in {} ns", whole.looks, whole.makespan);
}

/// Whatever the schedule, and with far more seats than CPUs, few attempts are in vain.
#[test]
fn threads_seldom_get_into_each_others_way() {
    for row in reports::contention::rows(64) {
        assert!(
            row.lost <= 0.25 * row.tried + 1.0,
            "{:.1} of {:.1} attempts of a loop were lost",
            row.lost,
            row.tried
        );
        assert!(row.visits < 64.0);
    }
}
