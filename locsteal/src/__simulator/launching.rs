//! What launching a loop takes, counted in the library's own code: the real launch, the real workers' turns and the real
//! ends, on a pool whose workers have no threads. One thread does in turn what each of them would do at the same time.
//!
//! Every block is one iteration, so that a participant's first chunk is all that it has: what is counted is what launching,
//! coming in, looking around and leaving take, and nothing else. A worker comes in while the ones before it are in their
//! chunk; they leave in the opposite order.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::affinity::{Layout, Placement, Seating, mask};
use crate::loops::{Entry, Participant, Plan, launch};
use crate::pool::{Attendant, Pool, Seats, Shared};
use crate::sched::{Locality, Schedule, Thief};
use crate::sync::counted::{self, Parts};
use crate::topology::Topology;

pub use crate::sync::counted::{Access, Kind, Tally, contention};

/// A stretch of what one participant does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The caller, up to its first chunk.
    Launch,
    /// A worker, from its look at the lane up to its first chunk.
    Enter,
    /// A worker, from the end of its last chunk until it watches the lane again.
    Leave,
    /// The caller, from the end of its last chunk until the loop is over.
    End,
}

/// What one participant did in one stretch.
#[derive(Clone, Debug)]
pub struct Stretch {
    pub part: Part,
    pub seat: usize,
    pub tally: Tally,
}

/// What one launch took.
#[derive(Debug)]
pub struct Launch {
    /// In the order in which they ended.
    pub stretches: Vec<Stretch>,
    /// How many wake-ups lie between the caller and the last worker; 0: nobody was woken.
    pub depth: usize,
    parts: Parts,
}

impl Launch {
    pub fn of(&self, part: Part) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter().filter(move |stretch| stretch.part == part)
    }

    /// What was accessed, in words.
    pub fn name(&self, access: &Access) -> &str {
        self.parts.name(access.address)
    }
}

/// Launches a loop of one iteration a seat from the worker of the first seat, the others being awake or asleep, and counts.
/// A loop before has left its traces in the caches.
pub fn count(topology: &Topology, seats: usize, schedule: Schedule, asleep: bool) -> Launch {
    let placement = Placement::Llc;
    let seating = Seating::new(topology, seats).placement(placement).layout(Layout::Compact);
    let seats = Seats::new(topology.clone(), placement, seating.homes());
    // Workers come in one inside of the other.
    let stack = (4 << 20) + seats.count() * (64 << 10);
    let counting = move || count_here(seats, schedule, asleep);
    let thread = std::thread::Builder::new().stack_size(stack).spawn(counting);
    thread.expect("a thread can be had").join().expect("counting does not panic")
}

fn count_here(seats: Seats, schedule: Schedule, asleep: bool) -> Launch {
    // A caller notes on which CPU it is, so this thread must stay where it is; where it cannot, one write more may be counted.
    let _stays = mask::current_cpu().map(|cpu| mask::set(&[cpu].into_iter().collect()));
    let count = seats.count();
    let pool = Pool::unstaffed(seats);
    let shared = pool.shared();
    let workers = (0..count).map(|seat| Some(Attendant::new(shared, seat))).collect();
    let stage = Mutex::new(Stage { workers, ..Stage::default() });
    let script = Script { shared, stage, asleep };
    counted::begin();
    for _ in 0..2 {
        script.prepare();
        counted::play(CALLER);
        shared.take_place(CALLER);
        counted::take();
        let plan = Plan { schedule, locality: Locality::Llc, ..Plan::default() };
        let outcome = launch(&pool, &plan, count as u64, &script);
        assert!(outcome.exit.is_none() && outcome.panic.is_none());
        script.keep(Part::End, CALLER);
    }
    counted::end();
    let stage = script.stage.into_inner().unwrap_or_else(PoisonError::into_inner);
    Launch { stretches: stage.stretches, depth: stage.depth, parts: shared.parts() }
}

/// The seat of the worker that launches.
const CALLER: usize = 0;

/// Who is where in a launch.
#[derive(Default)]
struct Stage<'a> {
    workers: Vec<Option<Attendant<'a>>>,
    /// Who is to come in next, and by how many wake-ups after the launch.
    waiting: VecDeque<(usize, usize)>,
    /// Who was called.
    called: Vec<bool>,
    /// Who is in its chunk, and by how many wake-ups it came.
    current: (usize, usize),
    depth: usize,
    stretches: Vec<Stretch>,
}

struct Script<'a> {
    shared: &'a Shared,
    stage: Mutex<Stage<'a>>,
    asleep: bool,
}

impl<'a> Script<'a> {
    fn stage(&self) -> MutexGuard<'_, Stage<'a>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a launch: who is awake watches, and sees nothing; or all sleep.
    fn prepare(&self) {
        let mut stage = self.stage();
        let workers = std::mem::take(&mut stage.workers);
        *stage = Stage { called: vec![false; workers.len()], workers, ..Stage::default() };
        for (seat, worker) in
            stage.workers.iter_mut().enumerate().filter(|(seat, _)| *seat != CALLER)
        {
            counted::play(seat);
            if self.asleep {
                self.shared.sleepers.announce(seat);
            } else if let Some(worker) = worker {
                worker.turn();
            }
        }
    }

    /// Keeps what was done since the last call.
    fn keep(&self, part: Part, seat: usize) {
        self.stage().stretches.push(Stretch { part, seat, tally: counted::take() });
    }

    /// Puts those who come next at the end of the queue: who was just woken, or all.
    fn call(&self) {
        let mut stage = self.stage();
        let ((current, depth), count) = (stage.current, stage.workers.len());
        let thief = Thief { seat: current, near: current };
        let orders = self.shared.seats.orders();
        let near = orders.local(thief, Locality::Llc, count);
        for seat in near.chain(orders.remote(thief, Locality::Llc, count)) {
            let comes = !self.asleep || counted::aside(|| !self.shared.sleepers.is_asleep(seat));
            if seat != CALLER && comes && !std::mem::replace(&mut stage.called[seat], true) {
                let depth = if self.asleep { depth + 1 } else { 0 };
                stage.depth = stage.depth.max(depth);
                stage.waiting.push_back((seat, depth));
            }
        }
    }

    /// Lets the next one come in, run its part, and leave.
    fn admit(&self) -> bool {
        let (next, mut worker, before) = {
            let mut stage = self.stage();
            let Some(next) = stage.waiting.pop_front() else { return false };
            let worker = stage.workers[next.0].take().expect("a worker comes in once");
            (next, worker, std::mem::replace(&mut stage.current, next))
        };
        let (seat, _) = next;
        counted::play(seat);
        self.shared.take_place(seat);
        if self.asleep {
            self.shared.sleepers.sleep(seat);
        }
        worker.turn();
        self.keep(Part::Leave, seat);
        let mut stage = self.stage();
        stage.workers[seat] = Some(worker);
        stage.current = before;
        counted::play(before.0);
        self.shared.take_place(before.0);
        true
    }
}

impl Entry for Script<'_> {
    fn run(&self, participant: &mut Participant<'_>) {
        let mine = participant.next().is_some();
        let (seat, _) = self.stage().current;
        self.keep(if seat == CALLER { Part::Launch } else { Part::Enter }, seat);
        assert!(mine, "seat {seat} got nothing to run");
        self.call();
        while self.admit() {}
        while participant.next().is_some() {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn machine(seats: usize) -> Topology {
        let cores = seats.min(8);
        let caches = (seats / cores).min(8);
        Topology::regular(seats / cores / caches, caches, cores)
    }

    fn counted(seats: usize, schedule: Schedule, asleep: bool) -> Launch {
        count(&machine(seats), seats, schedule, asleep)
    }

    const SCHEDULES: [Schedule; 3] = [Schedule::Static, Schedule::Steal, Schedule::Dynamic];

    /// The sum over all participants.
    fn sum(launch: &Launch, part: Part, what: impl Fn(&Tally) -> usize) -> usize {
        launch.of(part).map(|stretch| what(&stretch.tally)).sum()
    }

    fn most(launch: &Launch, part: Part, what: impl Fn(&Tally) -> usize) -> usize {
        launch.of(part).map(|stretch| what(&stretch.tally)).max().unwrap_or(0)
    }

    #[test]
    fn everybody_comes_and_goes_once() {
        for asleep in [false, true] {
            for schedule in SCHEDULES {
                let launch = counted(32, schedule, asleep);
                let times = |part| launch.of(part).count();
                assert_eq!(
                    [Part::Launch, Part::Enter, Part::Leave, Part::End].map(times),
                    [1, 31, 31, 1],
                    "{schedule:?}, asleep: {asleep}"
                );
            }
        }
    }

    /// Apart from one look at each 64 sleepers' bits, what a caller does up to its first chunk does not depend on how many
    /// seats there are.
    #[test]
    fn launching_costs_the_caller_as_much_on_a_thousand_seats_as_on_eight() {
        for schedule in SCHEDULES {
            let caller = |seats, what: fn(&Tally) -> usize| {
                sum(&counted(seats, schedule, false), Part::Launch, what)
            };
            let (few, many) = (8, 256);
            let words = many / 64 - 1;
            assert_eq!(
                caller(many, Tally::operations),
                caller(few, Tally::operations) + words,
                "{schedule:?}"
            );
            assert_eq!(
                caller(many, Tally::transfers),
                caller(few, Tally::transfers),
                "{schedule:?}"
            );
            assert_eq!(caller(many, |tally| tally.count(Kind::Wake)), 0);
        }
    }

    /// A caller wakes one, each who comes four, so that the news is there after a logarithm of the seats.
    #[test]
    fn the_news_spreads_like_a_tree() {
        for (seats, deepest) in [(8, 3), (64, 5), (256, 6)] {
            for schedule in SCHEDULES {
                let launch = counted(seats, schedule, true);
                let wakes = |part| most(&launch, part, |tally| tally.count(Kind::Wake));
                assert_eq!(wakes(Part::Launch), 1, "by the caller of {seats}");
                assert!(wakes(Part::Enter) <= 4, "by a worker of {seats}");
                let all = sum(&launch, Part::Launch, |tally| tally.count(Kind::Wake))
                    + sum(&launch, Part::Enter, |tally| tally.count(Kind::Wake));
                assert_eq!(all, seats - 1, "each is woken once");
                assert!(launch.depth <= deepest, "{} wake-ups deep on {seats}", launch.depth);
            }
        }
    }

    /// Who leaves has looked at every other seat once, at two lines of it and three words at most, and has written nothing but its
    /// own.
    #[test]
    fn who_leaves_looks_at_each_seat_once_and_writes_its_own() {
        let seats = 64;
        for schedule in [Schedule::Static, Schedule::Steal] {
            let launch = counted(seats, schedule, false);
            let lines = most(&launch, Part::Leave, Tally::lines);
            assert!((seats..2 * seats + 12).contains(&lines), "{schedule:?}: {lines} lines");
            let loads = most(&launch, Part::Leave, |tally| tally.count(Kind::Load));
            assert!(loads <= 3 * seats + 24, "{schedule:?}: {loads} loads");
            for stretch in launch.of(Part::Leave) {
                let writes = |access: &&Access| !matches!(access.kind, Kind::Load | Kind::Fence);
                for access in stretch.tally.accesses.iter().filter(writes) {
                    let name = launch.name(access);
                    let own = format!("seat {}: ", stretch.seat);
                    assert!(
                        name.starts_with(&own),
                        "{schedule:?}: seat {} wrote {name}",
                        stretch.seat
                    );
                }
            }
        }
    }

    /// What there is to know of a launch is in few lines; each moves once for each who needs it.
    #[test]
    fn a_launch_on_two_seats_moves_few_lines() {
        for (schedule, most) in
            [(Schedule::Static, 4), (Schedule::Steal, 6), (Schedule::Dynamic, 8)]
        {
            let launch = counted(2, schedule, false);
            let moved: usize =
                launch.stretches.iter().map(|stretch| stretch.tally.transfers()).sum();
            assert!(moved <= most, "{schedule:?}: {moved} transfers");
        }
    }
}
