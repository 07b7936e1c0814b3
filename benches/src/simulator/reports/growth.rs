//! What launching and ending cost as seats grow: counted in the library's own code, and in simulated time.

use std::path::Path;

use locsteal::__simulator::launching::{Kind, Launch, Part, Tally, count};
use locsteal::{Schedule, Topology};

use super::Setting;
use super::launch::SCHEDULES;
use crate::engine::Trouble;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::table::{Table, duration};
use crate::trial::{Arm, Trial};

/// Iterations of each seat, and nanoseconds of each iteration: 20 µs a seat.
const BLOCK: u64 = 2_000;
const EACH: f64 = 10.0;
/// How long the one long iteration takes, in nanoseconds.
const LONG: f64 = 10_000_000.0;

pub(crate) fn sizes() -> impl Iterator<Item = usize> {
    (3..=10).map(|power| 1 << power)
}

/// What was found for one number of seats.
pub(crate) struct Row {
    pub(crate) seats: usize,
    /// Counted, under [`SCHEDULES`].
    counted: Vec<Counted>,
    tree: Tree,
    /// Simulated, in nanoseconds: until the last worker has begun, awake and asleep; the tail.
    begun: f64,
    begun_asleep: f64,
    tail: f64,
    /// Looks at another seat, for each pair of seats, while one long iteration runs.
    looks: f64,
}

/// Means over the participants.
struct Counted {
    launch: Work,
    enter: Work,
    leave: Work,
    end: Work,
}

#[derive(Clone, Copy)]
struct Work {
    operations: f64,
    lines: f64,
    transfers: f64,
}

/// Who wakes whom.
struct Tree {
    by_caller: usize,
    by_a_worker: usize,
    all: usize,
    depth: usize,
}

impl Work {
    fn of(launch: &Launch, part: Part) -> Self {
        let tallies: Vec<&Tally> = launch.of(part).map(|stretch| &stretch.tally).collect();
        let mean = |what: fn(&Tally) -> usize| {
            tallies.iter().map(|tally| what(tally)).sum::<usize>() as f64
                / tallies.len().max(1) as f64
        };
        Self {
            operations: mean(Tally::operations),
            lines: mean(Tally::lines),
            transfers: mean(Tally::transfers),
        }
    }
}

impl Counted {
    fn of(topology: &Topology, seats: usize, schedule: Schedule) -> Self {
        let launch = count(topology, seats, schedule, false);
        let work = |part| Work::of(&launch, part);
        Self {
            launch: work(Part::Launch),
            enter: work(Part::Enter),
            leave: work(Part::Leave),
            end: work(Part::End),
        }
    }
}

impl Tree {
    fn of(topology: &Topology, seats: usize) -> Self {
        let launch = count(topology, seats, Schedule::Steal, true);
        let wakes = |part| launch.of(part).map(|stretch| stretch.tally.count(Kind::Wake));
        let by_workers: Vec<usize> = wakes(Part::Enter).collect();
        let by_caller = wakes(Part::Launch).sum::<usize>();
        Self {
            by_caller,
            by_a_worker: by_workers.iter().copied().max().unwrap_or(0),
            all: by_caller + by_workers.iter().sum::<usize>(),
            depth: launch.depth,
        }
    }
}

/// Finds everything out for one number of seats.
pub(crate) fn row(setting: &Setting, seats: usize) -> Row {
    let (nodes, caches, cores) = Site::shape_of(seats);
    let topology = Topology::regular(nodes, caches, cores);
    let site = Site::of_seats(seats);
    let kernel = Kernel::even(BLOCK * seats as u64, EACH);
    let awake = setting.trial(&site, &kernel);
    let asleep = Trial { trouble: Trouble { asleep: true, ..Trouble::default() }, ..awake.clone() };
    let (awake, asleep) = (awake.run(Arm::LocalFirst).whole, asleep.run(Arm::LocalFirst).whole);
    let long = Kernel::one_long(64 * seats as u64, LONG);
    let looks = setting.trial(&site, &long).run(Arm::LocalFirst).whole.looks;
    Row {
        seats,
        counted: SCHEDULES.map(|(_, schedule)| Counted::of(&topology, seats, schedule)).into(),
        tree: Tree::of(&topology, seats),
        begun: awake.spread,
        begun_asleep: asleep.spread,
        tail: awake.tail,
        looks: looks / (seats * (seats - 1)) as f64,
    }
}

/// Prints the tables; writes the picture into `folder`, if one is given.
pub(crate) fn print(setting: &Setting, folder: Option<&Path>) -> Result<(), String> {
    let rows: Vec<Row> = sizes().map(|seats| row(setting, seats)).collect();
    println!(
        "Counted in the library's code: atomic operations, cache lines touched, cache lines that moved (a participant's\n\
         mean). One iteration a seat; all workers are awake.\n"
    );
    for (k, (name, _)) in SCHEDULES.iter().enumerate() {
        let mut table = Table::new([
            name,
            "caller launches",
            "a worker comes in",
            "a worker leaves",
            "caller ends",
        ]);
        for row in &rows {
            let Counted { launch, enter, leave, end } = &row.counted[k];
            let cell = |work: &Work| {
                format!("{:.0} / {:.0} / {:.0}", work.operations, work.lines, work.transfers)
            };
            table.row([
                format!("{} seats", row.seats),
                cell(launch),
                cell(enter),
                cell(leave),
                cell(end),
            ]);
        }
        println!("{table}");
    }
    println!("All workers are asleep: who wakes how many, counted in the library's code.\n");
    let mut table =
        Table::new(["seats", "by the caller", "by a worker, at most", "in all", "wake-ups deep"]);
    for Row { seats, tree, .. } in &rows {
        let Tree { by_caller, by_a_worker, all, depth } = tree;
        table.row([seats, by_caller, by_a_worker, all, depth].map(ToString::to_string));
    }
    println!("{table}");
    println!(
        "Simulated: a loop of 20 µs of computing a seat, and looks at other seats while one iteration of 10 ms runs.\n"
    );
    let mut table = Table::new([
        "seats",
        "all have begun",
        "the same, asleep",
        "tail",
        "looks a pair of seats",
    ]);
    for row in &rows {
        table.row([
            row.seats.to_string(),
            duration(row.begun),
            duration(row.begun_asleep),
            duration(row.tail),
            format!("{:.1}", row.looks),
        ]);
    }
    println!("{table}");
    match folder {
        Some(folder) => publish(&rows, folder),
        None => Ok(()),
    }
}

#[cfg(not(feature = "plots"))]
fn publish(_: &[Row], _: &Path) -> Result<(), String> {
    Err("built without pictures: add `--features plots`".into())
}

#[cfg(feature = "plots")]
fn publish(rows: &[Row], folder: &Path) -> Result<(), String> {
    let path = folder.join("growth.svg");
    let svg = picture::draw(rows).map_err(|error| format!("{error:#}"))?;
    std::fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("written to {}", path.display());
    Ok(())
}

#[cfg(feature = "plots")]
mod picture {
    use anyhow::Result;

    use super::Row;
    use crate::canvas::{Anchor, BLACK, Canvas, GREY, LogScale, OURS, PALE, svg};
    use crate::table::duration;

    const PANEL: i32 = 640;
    const TOP: i32 = 92;
    const BOTTOM: i32 = 400;
    const LEFT: i32 = 80;
    const RIGHT: i32 = 420;

    /// The second of these colours is that of the caller.
    const COLORS: [plotters::style::RGBColor; 4] = [
        plotters::style::RGBColor(213, 94, 0),
        OURS,
        plotters::style::RGBColor(0, 140, 100),
        plotters::style::RGBColor(150, 110, 190),
    ];

    type Curve = (&'static str, Box<dyn Fn(&Row) -> f64>);

    pub(super) fn draw(rows: &[Row]) -> Result<String> {
        let steal = 1;
        let counts: [Curve; 4] = [
            ("a worker leaves", Box::new(move |row| row.counted[steal].leave.transfers)),
            ("the caller launches", Box::new(move |row| row.counted[steal].launch.transfers)),
            ("a worker comes in", Box::new(move |row| row.counted[steal].enter.transfers)),
            ("wake-ups, one after the other", Box::new(|row| row.tree.depth as f64)),
        ];
        let times: [Curve; 3] = [
            ("tail of a loop of 20 µs", Box::new(|row| row.tail)),
            ("all have begun, awake", Box::new(|row| row.begun)),
            ("all have begun, asleep", Box::new(|row| row.begun_asleep)),
        ];
        svg((2 * PANEL, BOTTOM + 60), |canvas| {
            let title =
                "What launching and ending a loop cost, by the number of seats (lower is better)";
            canvas.bold((12, 18), 17, BLACK, Anchor::Left, title)?;
            let left = "Cache lines that move for one participant, counted in the library's code";
            panel(canvas, 0, left, rows, &counts, &|value| format!("{value:.0}"))?;
            panel(canvas, PANEL, "Time, simulated", rows, &times, &duration)
        })
    }

    fn panel(
        canvas: &Canvas<'_>,
        x: i32,
        title: &str,
        rows: &[Row],
        curves: &[Curve],
        unit: &dyn Fn(f64) -> String,
    ) -> Result<()> {
        canvas.bold((x + 12, 52), 13, BLACK, Anchor::Left, title)?;
        let (left, right) = (x + LEFT, x + RIGHT);
        let across = LogScale::over(rows.iter().map(|row| row.seats as f64), (left, right));
        let values = curves.iter().flat_map(|(_, value)| rows.iter().map(value));
        let up = LogScale::over(values, (BOTTOM, TOP));
        for tick in up.ticks() {
            canvas.path(vec![(left, up.at(tick)), (right, up.at(tick))], PALE, 1)?;
            canvas.text((left - 8, up.at(tick)), 12, GREY, Anchor::Right, &unit(tick))?;
        }
        for row in rows {
            let at = across.at(row.seats as f64);
            canvas.path(vec![(at, BOTTOM), (at, BOTTOM + 5)], GREY, 1)?;
            let label = row.seats.to_string();
            canvas.text((at, BOTTOM + 16), 12, GREY, Anchor::Middle, &label)?;
        }
        let middle = i32::midpoint(left, right);
        canvas.text((middle, BOTTOM + 38), 12, GREY, Anchor::Middle, "seats")?;
        let mut next = TOP;
        let mut ends: Vec<_> = curves.iter().zip(COLORS).collect();
        let end = |value: &dyn Fn(&Row) -> f64| rows.last().map_or(BOTTOM, |row| up.at(value(row)));
        ends.sort_by_key(|((_, value), _)| end(value));
        for ((name, value), color) in ends {
            let points: Vec<_> =
                rows.iter().map(|row| (across.at(row.seats as f64), up.at(value(row)))).collect();
            points.iter().try_for_each(|point| canvas.dot(*point, 4, color))?;
            canvas.path(points, color, 3)?;
            let at = end(value).max(next);
            next = at + 17;
            canvas.text((right + 12, at), 13, color, Anchor::Left, name)?;
        }
        Ok(())
    }
}
