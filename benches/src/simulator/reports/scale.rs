//! What launching a loop and ending it cost as seats grow.

use super::Setting;
use crate::engine::Trouble;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::table::{Table, duration};
use crate::trial::{Arm, Trial};

/// Iterations of each seat, and nanoseconds of each iteration: 20 µs a seat.
const BLOCK: u64 = 2_000;
const EACH: f64 = 10.0;

pub(crate) fn print(setting: &Setting) {
    println!("A loop of 20 µs of computing a seat, in caches of 8 cores, 8 of them in a node.\n");
    let mut table = Table::new([
        "seats",
        "awake: all have begun",
        "takes",
        "over ideal",
        "of it tail",
        "asleep: all have begun",
        "takes",
        "over ideal",
        "empty loop",
    ]);
    for power in 1..=10 {
        let seats = 1 << power;
        let site = Site::of_seats(seats);
        let kernel = Kernel::even(BLOCK * seats as u64, EACH);
        let awake = setting.trial(&site, &kernel);
        let asleep =
            Trial { trouble: Trouble { asleep: true, ..Trouble::default() }, ..awake.clone() };
        let empty = Kernel::even(seats as u64, 1.0);
        let empty = setting.trial(&site, &empty).run(Arm::LocalFirst).whole;
        let (awake, asleep) = (awake.run(Arm::LocalFirst).whole, asleep.run(Arm::LocalFirst).whole);
        let over = |part: f64, whole: f64| format!("{:.0} %", 100.0 * (whole / part - 1.0));
        table.row([
            seats.to_string(),
            duration(awake.spread),
            duration(awake.makespan),
            over(awake.ideal, awake.makespan),
            duration(awake.tail),
            duration(asleep.spread),
            duration(asleep.makespan),
            over(asleep.ideal, asleep.makespan),
            duration(empty.makespan),
        ]);
    }
    println!("{table}");
}
