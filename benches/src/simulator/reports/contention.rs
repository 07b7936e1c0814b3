//! How often threads get into each other's way: compare-exchanges that were tried and lost, by real threads on this machine.

use locsteal::__simulator::launching::contention;
use locsteal::{Pool, Schedule};

use super::launch::SCHEDULES;
use crate::table::Table;

const LOOPS: u64 = 400;
/// Long enough for workers to come, on few seats.
const LENGTH: usize = 20_000;

/// What was counted of one kind of loop.
pub(crate) struct Row {
    seats: usize,
    schedule: &'static str,
    shape: &'static str,
    /// Of one loop.
    pub(crate) visits: f64,
    pub(crate) tried: f64,
    pub(crate) lost: f64,
}

/// How much an iteration has to do.
type Cost = fn(usize) -> usize;

fn work(units: usize) {
    for unit in 0..units {
        std::hint::black_box(unit);
    }
}

fn even(_: usize) -> usize {
    4
}

/// A sixteenth of the iterations, at the front, takes nearly everything.
fn hot_front(i: usize) -> usize {
    if i < LENGTH / 16 { 80 } else { 1 }
}

pub(crate) fn rows(seats: usize) -> Vec<Row> {
    let pool = Pool::builder().threads(seats).build().expect("a pool can be made");
    let shapes: [(&str, Cost); 2] = [("even", even), ("hot front", hot_front)];
    let of = |(name, schedule): (&'static str, Schedule), (shape, units): (&'static str, Cost)| {
        let one = || {
            let each = locsteal::range(0..LENGTH).pool(&pool).schedule(schedule);
            each.for_each(|i| work(units(i)));
        };
        (0..LOOPS / 10).for_each(|_| one());
        let (stats, (tried, lost)) = (pool.stats(), contention());
        (0..LOOPS).for_each(|_| one());
        let (stats, after) = (pool.stats() - stats, contention());
        let each = |count: u64| count as f64 / LOOPS as f64;
        Row {
            seats,
            schedule: name,
            shape,
            visits: each(stats.joins),
            tried: each(after.0 - tried),
            lost: each(after.1 - lost),
        }
    };
    SCHEDULES.into_iter().flat_map(|schedule| shapes.map(|shape| of(schedule, shape))).collect()
}

pub(crate) fn print() {
    println!(
        "Compare-exchanges of one loop of {LENGTH} iterations, by real threads on this machine: tried, and lost since another\n\
         thread was faster. Visits: workers that came.\n"
    );
    let mut table =
        Table::new(["seats", "schedule", "iterations", "visits", "tried", "lost", "of all"]);
    for row in [2, 8, 64].into_iter().flat_map(rows) {
        table.row([
            row.seats.to_string(),
            row.schedule.into(),
            row.shape.into(),
            format!("{:.1}", row.visits),
            format!("{:.1}", row.tried),
            format!("{:.2}", row.lost),
            format!("{:.1} %", 100.0 * row.lost / row.tried.max(1e-9)),
        ]);
    }
    println!("{table}");
}
