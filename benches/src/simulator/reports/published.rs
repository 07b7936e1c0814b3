//! The shape of the table that the design we follow published for its machines: local-first stealing against a cyclic
//! order, as a ratio of times, and how far iterations move.
//!
//! The published numbers are those of `ThreadTeams.jl` #85.

use super::Setting;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::table::{Table, duration, percent};
use crate::trial::Arm;

pub(crate) fn print(setting: &Setting) {
    let two_nodes = [
        (
            "32 seats, in turn over nodes",
            Site::dealt_over_nodes(2, 32),
            [0.85, 0.87, 0.96, 1.00, 1.01],
        ),
        ("64 seats, node by node", Site::regular(2, 1, 32), [1.01, 0.89, 0.90, 0.94, 0.92]),
        (
            "64 seats, in turn over nodes",
            Site::dealt_over_nodes(2, 64),
            [0.87, 0.87, 0.89, 0.79, 0.82],
        ),
    ];
    let kernels = || {
        [
            Kernel::axpy(100_000),
            Kernel::axpy(1_000_000),
            Kernel::axpy(10_000_000),
            Kernel::stencil(126),
            Kernel::stencil(128),
        ]
    };
    println!("## Two nodes of 32 cores, a last-level cache each\n");
    println!(
        "Published: 37-81 % of what moves crosses nodes with the cyclic order, 0-4 % with the local one.\n"
    );
    for (name, site, published) in &two_nodes {
        println!("{name}\n");
        let cases = kernels().into_iter().zip(published.map(Some));
        table(setting, site, cases, "across nodes", |[_, across]| across);
    }
    println!("## One node with two last-level caches of 8 cores\n");
    println!(
        "Published: 69 % of what moves leaves its cache with the cyclic order, 11 % with the local one; the ratio of \
         the triangular loop is within 2 % of 1.\n"
    );
    let site = Site::regular(1, 2, 8);
    let cases = [
        (Kernel::axpy(100_000), Some(0.90)),
        (Kernel::axpy(1_000_000), Some(0.985)),
        (Kernel::axpy(10_000_000), None),
        (Kernel::stencil(126), None),
        (Kernel::triangular(4_000), Some(1.0)),
    ];
    table(setting, &site, cases, "leaving its cache", |[leaving, _]| leaving);
}

fn table(
    setting: &Setting,
    site: &Site,
    cases: impl IntoIterator<Item = (Kernel, Option<f64>)>,
    what: &str,
    share: impl Fn([f64; 2]) -> f64,
) {
    let of_moved = format!("of it {what}");
    let mut table = Table::new([
        "loop",
        "published ratio",
        "simulated",
        "cyclic",
        "local first",
        "cyclic: moved",
        &of_moved,
        "local first: moved",
        &of_moved,
    ]);
    for (kernel, published) in cases {
        let trial = setting.trial(site, &kernel);
        let (cyclic, local) = (trial.run(Arm::Flat), trial.run(Arm::LocalFirst));
        table.row([
            kernel.name.clone(),
            published.map_or("-".into(), |ratio| format!("{ratio:.2}")),
            format!("{:.2}", local.against(&cyclic)),
            duration(cyclic.whole.makespan),
            duration(local.whole.makespan),
            percent(cyclic.whole.moved()[0]),
            percent(share(cyclic.whole.of_moved())),
            percent(local.whole.moved()[0]),
            percent(share(local.whole.of_moved())),
        ]);
    }
    println!("{table}");
}
