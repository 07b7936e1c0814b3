//! One loop on one machine under every schedule and with every rule turned off.

use super::Setting;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::table::{Table, duration, percent};
use crate::trial::Arm;

pub(crate) fn print(setting: &Setting, site: &Site, kernel: &Kernel) {
    let trial = setting.trial(site, kernel);
    let flat = trial.run(Arm::Flat);
    let mut table = Table::new([
        "rules",
        "makespan",
        "of flat",
        "of ideal",
        "moved",
        "out of cache",
        "out of node",
        "steals",
        "rescues",
        "looks",
        "tail",
    ]);
    for arm in Arm::ALL {
        let outcome = if arm == Arm::Flat { flat.clone() } else { trial.run(arm) };
        let (whole, runs) = (&outcome.whole, outcome.whole.runs as f64);
        let [moved, out_of_cache, out_of_node] = whole.moved();
        table.row([
            arm.name().into(),
            duration(whole.makespan),
            format!("{:.3}", outcome.against(&flat)),
            format!("{:.3}", whole.makespan / whole.ideal),
            percent(moved),
            percent(out_of_cache),
            percent(out_of_node),
            format!("{:.0}", whole.stats.steals.total() as f64 / runs),
            format!("{:.1}", whole.stats.rescues as f64 / runs),
            format!("{:.0}", whole.looks),
            duration(whole.tail),
        ]);
    }
    println!("{} on {}\n\n{table}", kernel.name, site.name);
}
