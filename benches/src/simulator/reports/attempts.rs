//! How much participants look for work while one long iteration runs.

use super::Setting;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::table::{Table, duration};
use crate::trial::Arm;

/// How long it runs, in nanoseconds.
const LONG: f64 = 10_000_000.0;

pub(crate) fn print(setting: &Setting) {
    println!(
        "One iteration of 10 ms among 64 short ones a seat: looks at other seats until the loop is over.\n"
    );
    let mut table = Table::new(["seats", "takes", "looks", "a seat and other seat", "steps"]);
    for seats in [8, 64, 256, 1024] {
        let kernel = Kernel::one_long(64 * seats as u64, LONG);
        let site = Site::of_seats(seats);
        let whole = setting.trial(&site, &kernel).run(Arm::LocalFirst).whole;
        let pairs = (seats * (seats - 1)) as f64;
        table.row([
            seats.to_string(),
            duration(whole.makespan),
            format!("{:.0}", whole.looks),
            format!("{:.1}", whole.looks / pairs),
            format!("{:.0}", whole.steps),
        ]);
    }
    println!("{table}");
}
