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
    let costs = Costs::default();
    let sites = [
        Site::regular(2, 1, 32),
        Site::dealt_over_nodes(2, 64),
        Site::dealt_over_nodes(2, 32),
        Site::regular(1, 2, 8),
    ];
    let kernels = [
        Kernel::axpy(100_000),
        Kernel::axpy(1_000_000),
        Kernel::axpy(10_000_000),
        Kernel::stencil(126),
        Kernel::triangular(4000),
    ];
    for site in &sites {
        for kernel in &kernels {
            println!("{} {}", site.name, kernel.name);
            let trial = Trial {
                site,
                kernel,
                costs: &costs,
                trouble: Default::default(),
                seeds: 5,
                runs: 20,
            };
            let flat = trial.run(Arm::Flat).makespan;
            for arm in Arm::ALL {
                let s = trial.run(arm);
                println!(
                    "  {:15} {:10.0} ns ratio {:.3} ideal {:10.0} spread {:6.0} tail {:6.0} moved {:.3?} of moved {:.2?} steals {} rescues {} looks {:.0}",
                    arm.name(),
                    s.makespan,
                    s.makespan / flat,
                    s.ideal,
                    s.spread,
                    s.tail,
                    s.moved(),
                    s.of_moved(),
                    s.stats.steals.total() / s.runs,
                    s.stats.rescues as f64 / s.runs as f64,
                    s.looks
                );
            }
        }
    }
}
