//! The library's scheduling core on machines that nobody here owns.

mod costs;
mod data;
mod engine;
mod kernels;
mod lines;
mod machines;
mod time;
mod trial;

use costs::Costs;
use kernels::Kernel;
use machines::Site;
use trial::{Arm, Trial};

fn main() {
    if std::env::args().nth(1).as_deref() == Some("probe") {
        return probe();
    }
    let costs = Costs::default();
    let sites = [
        Site::regular(2, 1, 32),
        Site::dealt_over_nodes(2, 64),
        Site::dealt_over_nodes(2, 32),
        Site::regular(1, 2, 8),
        Site::regular(4, 8, 8),
        Site::regular(1, 1, 16),
    ];
    let kernels = [
        Kernel::axpy(100_000),
        Kernel::axpy(1_000_000),
        Kernel::axpy(10_000_000),
        Kernel::stencil(126),
        Kernel::triangular(4000),
        Kernel::hot_front(100_000),
        Kernel::heavy_tail(100_000, 1),
    ];
    for site in &sites {
        for kernel in &kernels {
            let trial = Trial {
                site,
                kernel,
                costs: &costs,
                trouble: Default::default(),
                seeds: 4,
                runs: 16,
            };
            let f = trial.run(Arm::Flat);
            let l = trial.run(Arm::LocalFirst);
            let st = trial.run(Arm::Static);
            println!(
                "{:24} {:16} L/F {:.3} | L/ideal {:.3} F {:.3} static {:.3} | moved L {:5.1}% F {:5.1}% | out of LLC of moved: L {:3.0}% F {:3.0}% | out of node L {:3.0}% F {:3.0}% | steals {:4} {:4}",
                site.name,
                kernel.name,
                l.makespan / f.makespan,
                l.makespan / l.ideal,
                f.makespan / f.ideal,
                st.makespan / st.ideal,
                l.moved()[0] * 100.,
                f.moved()[0] * 100.,
                l.of_moved()[0] * 100.,
                f.of_moved()[0] * 100.,
                l.of_moved()[1] * 100.,
                f.of_moved()[1] * 100.,
                l.stats.steals.total() / l.runs,
                f.stats.steals.total() / f.runs
            );
        }
    }
}

pub(crate) fn probe() {
    let costs = Costs::default();
    let site = Site::regular(2, 1, 32);
    let kernel = Kernel::axpy(10_000_000);
    let trial = Trial {
        site: &site,
        kernel: &kernel,
        costs: &costs,
        trouble: Default::default(),
        seeds: 5,
        runs: 20,
    };
    for arm in [Arm::LocalFirst, Arm::Flat, Arm::RandomVictim] {
        let runs = trial.all(arm);
        let worst = runs
            .iter()
            .enumerate()
            .max_by(|a, b| (a.1.makespan / a.1.ideal).total_cmp(&(b.1.makespan / b.1.ideal)))
            .unwrap()
            .0;
        println!(
            "{:?}",
            runs.iter().map(|r| (r.makespan / r.ideal * 1000.0) as u64).collect::<Vec<_>>()
        );
        let run = &runs[worst];
        let place = trial.place(arm);
        println!("{} makespan {:.0} ideal {:.0}", arm.name(), run.makespan, run.ideal);
        let begin = run.chunks.iter().map(|c| c.start).min().unwrap();
        let mut chunks = run.chunks.clone();
        chunks.sort_by_key(|c| std::cmp::Reverse(c.end));
        for c in chunks.iter().take(12) {
            println!(
                "  seat {} {:?} n {} home {:?} start {} end {} ",
                c.seat,
                c.iterations,
                c.iterations.end - c.iterations.start,
                place.course.home(c.iterations.start),
                (c.start - begin) / 1000,
                (c.end - begin) / 1000
            );
        }
    }
}
