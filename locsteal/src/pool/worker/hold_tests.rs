//! What a worker does between two holds, while tiny loops come fast: it looks for jobs, and counts the loops as work only where
//! it has a place in them. The worker has no thread of its own: the test takes its turns.

use crate::affinity::mask::current_cpu;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use super::*;
use crate::affinity::{Placement, Seating};
use crate::pool::crew::Crew;
use crate::pool::{Pool, Seats, SideWork};
use crate::{Schedule, Topology, clock};

/// So long that another loop has come by its end, unless the thread that launches them does not run.
const HOLD: Duration = Duration::from_millis(10);
/// More turns than it takes until one of them is spent in a hold.
const TURNS: usize = 1000;

/// A pool of two seats whose workers are taken to be there.
fn pool() -> Pool {
    let topology = Topology::regular(1, 1, 2);
    let homes = Seating::new(&topology, 2).placement(Placement::Free).homes();
    let seats = Seats::new(topology, Placement::Free, homes);
    let mut shared = Shared::new(seats, Duration::ZERO);
    shared.hold = clock::in_ticks(HOLD);
    shared.engage(shared.crew(), 2);
    Pool { shared: Arc::new(shared), crew: Crew::new("nobody".into(), None) }
}

fn launch_tiny(pool: &Pool) {
    crate::range(0..2_u32).pool(pool).schedule(Schedule::Static).for_each(|_| {});
}

/// Calls `turns` while tiny loops follow each other.
fn while_loops_come_fast(pool: &Pool, turns: impl FnOnce()) {
    /// Lets the loops end also where the test fails.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let stopped = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stopped.load(Relaxed) {
                launch_tiny(pool);
            }
        });
        let _stop = Stop(&stopped);
        turns();
    });
}

/// Returns when there is a loop that the worker has not dealt with; gives back which one it has dealt with last.
fn await_loop(watch: &Watch<'_>) -> Generation {
    let seen = watch.seen[0];
    while watch.shared.watched().first().is_none_or(|lane| lane.epoch().generation() == seen) {
        thread::yield_now();
    }
    seen
}

/// Work that never comes, and counts who looks for it.
#[derive(Debug)]
struct Looks(Arc<AtomicUsize>);

impl SideWork for Looks {
    fn arrive(&self, _: usize) {}

    fn look(&self, _: &Shared, _: usize, _: u32) -> bool {
        self.0.fetch_add(1, Relaxed);
        false
    }

    fn turn_away(&self, _: &Shared, _: usize) -> bool {
        false
    }

    fn hand_over(&self, _: &Shared) {}

    fn waits(&self) -> bool {
        false
    }

    fn depart(&self, _: &Shared, _: usize) {}
}

#[test]
fn between_holds_a_worker_looks_for_jobs() {
    let pool = pool();
    let shared = pool.shared();
    let looks = Arc::new(AtomicUsize::new(0));
    shared.side_work_or(|| Box::new(Looks(Arc::clone(&looks))));
    let mut watch = Watch::new(shared, 1 - shared.caller_seat(2, current_cpu()).seat);
    while_loops_come_fast(&pool, || {
        let held = (0..TURNS).any(|_| {
            await_loop(&watch);
            let (joins, looked) = (shared.stats().joins, looks.load(Relaxed));
            let took_part = watch.take_part();
            // It took part without having been in a loop: it has held back.
            let held = took_part && shared.stats().joins == joins;
            assert!(!held || looks.load(Relaxed) > looked);
            held
        });
        assert!(held, "who has a place in loops that come fast waits for the next one");
    });
}

#[test]
fn loops_that_a_worker_has_no_place_in_do_not_keep_it_awake() {
    let pool = pool();
    let shared = pool.shared();
    let mut watch = Watch::new(shared, shared.caller_seat(2, current_cpu()).seat);
    // The first loop that it knows of: its seat is the caller's.
    launch_tiny(&pool);
    assert!(!watch.take_part());
    while_loops_come_fast(&pool, || {
        let held = (0..TURNS).any(|_| {
            let seen = await_loop(&watch);
            assert!(!watch.take_part());
            // It has not come to try the door of any loop: it has held back.
            watch.seen[0] == seen && shared.watched()[0].epoch().generation() != seen
        });
        assert!(held, "loops come fast");
    });
}
