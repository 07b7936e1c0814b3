//! Every machine and every loop: local-first stealing against the cyclic order.

use super::Setting;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::table::Table;
use crate::trial::Arm;

/// Prints the ratios; gives back the cases in which it is above `most`.
pub(crate) fn print(setting: &Setting, sites: &[Site], most: f64) -> Vec<String> {
    let kernels = Kernel::all();
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let [a, b, c, d, e, f, g, h] = names[..] else { unreachable!("there are eight loops") };
    let mut table = Table::new(["machine", "seats", "order", a, b, c, d, e, f, g, h]);
    let mut above = Vec::new();
    for site in sites {
        let ratios: Vec<String> = kernels
            .iter()
            .map(|kernel| {
                let trial = setting.trial(site, kernel);
                let ratio = trial.run(Arm::LocalFirst).against(&trial.run(Arm::Flat));
                if ratio > most {
                    above.push(format!("{}, {}: {ratio:.3}", site.name, kernel.name));
                }
                format!("{ratio:.3}")
            })
            .collect();
        let [a, b, c, d, e, f, g, h] = ratios.try_into().expect("there are eight loops");
        let order = if site.seats.is_tiered() { "tiers" } else { "cyclic" };
        let (name, seats) = (site.name.clone(), site.width().to_string());
        table.row([name, seats, order.into(), a, b, c, d, e, f, g, h]);
    }
    println!("{table}");
    above
}
