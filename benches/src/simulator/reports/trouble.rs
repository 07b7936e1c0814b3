//! One worker that comes late or never, and one participant that stops on the way.

use locsteal::__simulator::PATIENCE_NS;

use super::Setting;
use crate::engine::Trouble;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::table::{Table, duration};
use crate::time::ns;
use crate::trial::{Arm, Trial};

/// Nanoseconds of each iteration.
const EACH: f64 = 10.0;

/// What one case costs, and what it may cost.
pub(crate) struct Case {
    pub(crate) seats: usize,
    pub(crate) block: f64,
    pub(crate) what: &'static str,
    /// Nanoseconds beyond the same loop without trouble.
    pub(crate) cost: f64,
    pub(crate) bound: f64,
    no_protection: f64,
}

/// Looking around at a thousand seats.
const AROUND: f64 = 20_000.0;

/// What R6 allows: the rest of the fair chance once the others are done; then the rescued block, of which its rescuer
/// runs one chunk, while the others share out the rest. A chunk is at most half of what is left, and takes an eighth of the
/// patience at most.
fn late_bound(block: f64) -> f64 {
    let patience = PATIENCE_NS as f64;
    block.min(patience) + (block / 2.0).min(patience / 8.0) + AROUND
}

/// Nobody else can run what a straggler holds when it stops: of a chunk that holds the middle of its block, and is at most half of
/// what was left when it was taken, no more than a quarter of the block lies behind the middle. It stops half way through its
/// block, for as long as a whole one takes.
fn straggler_bound(block: f64) -> f64 {
    block / 2.0 + block / 4.0 + AROUND
}

/// Each trouble, for each number of seats and each length of a block, in nanoseconds.
pub(crate) fn cases(setting: &Setting, seats: &[usize], blocks: &[f64]) -> Vec<Case> {
    let mut cases = Vec::new();
    for &seats in seats {
        let site = Site::of_seats(seats);
        for &block in blocks {
            let kernel = Kernel::even((block / EACH) as u64 * seats as u64, EACH);
            let calm = setting.trial(&site, &kernel);
            let base = calm.run(Arm::LocalFirst).whole.makespan;
            let last = seats - 1;
            let never = Trouble { late: vec![(last, None)], ..Trouble::default() };
            let stops = vec![(last, ns(block / 2.0), ns(block))];
            let stops = Trouble { stalls: stops, ..Trouble::default() };
            let mut case = |what, trouble, bound| {
                let trial = Trial { trouble, ..calm.clone() };
                let cost = |arm| trial.run(arm).whole.makespan - base;
                let (cost, no_protection) = (cost(Arm::LocalFirst), cost(Arm::NoProtection));
                cases.push(Case { seats, block, what, cost, bound, no_protection });
            };
            case("one worker never comes", never, late_bound(block));
            case("one stops for a block's time", stops.clone(), straggler_bound(block));
            let both = Trouble { late: vec![(last / 2, None)], ..stops };
            case("both", both, late_bound(block).max(straggler_bound(block)));
        }
    }
    cases
}

pub(crate) fn print(setting: &Setting) {
    println!("What one late worker or one straggler adds to a loop that only computes.\n");
    let mut table =
        Table::new(["trouble", "seats", "block", "cost", "bound", "without protection"]);
    for case in cases(setting, &[64, 1024], &[20_000.0, 200_000.0, 2_000_000.0]) {
        table.row([
            case.what.into(),
            case.seats.to_string(),
            duration(case.block),
            duration(case.cost.max(0.0)),
            duration(case.bound),
            duration(case.no_protection.max(0.0)),
        ]);
    }
    println!("{table}");
}
