//! When a worker moves to another CPU, since the caller of a loop is on its own.
//!
//! The system may put a woken worker where its caller is, although other CPUs are idle; it does so most often where the CPUs
//! are those of a virtual machine, whose idle ones do not count as available. There it stays for milliseconds: what
//! sleeps again after each loop is no load that anybody would balance. Meanwhile the two take turns, and loops take up to twice
//! as long as on the caller alone. The system cannot know that they belong together; the worker does.
//!
//! **What is seen.** A caller leaves its CPU and its seat in the lane. A worker looks there when it leaves a loop, and when it
//! finds one that is over: by its end at the latest it knows whether the two were on one CPU. It never looks in a loop that needs it.
//!
//! **What is done.** The worker moves to the CPU that its own seat stands for; if the caller sits there, to that of the
//! seat that the caller has taken, whose worker has nothing to do. So the workers of a pool do not push one another about. Where seats
//! stand for no CPU, each takes another one of those that share the cache.
//!
//! **What it costs**: one migration; and the mask, although it is as before, is one that the thread has asked for: a worker in
//! a container does not get CPUs that the container is given later.
//!
//! A worker that has moved stays for a millisecond, and the longer the more often moving was in vain. A pool with more seats than CPUs has
//! no place to go to.

use super::shared::Shared;
use crate::affinity::mask::current_cpu;
use crate::affinity::step_aside::step_aside;
use crate::clock;
use crate::stats::Stats;
use std::time::Duration;

/// How long a worker stays, at least, where it has moved to.
const STAY: Duration = Duration::from_millis(1);
/// It is at most so many times as long, where moving is of no use.
const MOST_STAYS: u64 = 64;
/// Who has been left alone for so many times as long as it had to stay is as if it had never moved.
const FORGET: u64 = 8;

/// When a worker may move, in ticks.
#[derive(Debug)]
pub(super) struct Aside {
    /// [`STAY`].
    least: u64,
    stay: u64,
    moved: Option<u64>,
}

impl Aside {
    pub(super) fn new() -> Self {
        let least = clock::in_ticks(STAY);
        Self { least, stay: least, moved: None }
    }

    /// The caller that sits in seat `caller` is on the CPU of the calling thread, the worker of `seat`; gives back whether
    /// the worker has moved.
    #[cold]
    pub(super) fn leave_to(&mut self, shared: &Shared, seat: usize, caller: usize) -> bool {
        // As long as nobody has engaged the crew, its masks are read, and one that is narrow for a moment would be taken for an
        // operator's choice. What a new worker finds then are loops of an earlier crew.
        if shared.width() == 0 || shared.is_crowded() || !self.may_move(clock::ticks()) {
            return false;
        }
        let (seats, topology) = (&shared.seats, shared.seats.topology());
        let stands_for = |seat: usize| seats.home(seat).cpu;
        let domain = current_cpu().and_then(|cpu| topology.domain_of(cpu));
        let near = domain.map_or(topology.cpus(), |domain| topology.domains()[domain].cpus());
        let moved = step_aside(
            [stands_for(seat), stands_for(caller)],
            near,
            seat,
            seats.home(seat).mask.as_ref(),
        );
        if moved {
            shared.count_worker(seat, &Stats { steps_aside: 1, ..Stats::default() });
        } else {
            self.stay = self.least.saturating_mul(MOST_STAYS);
        }
        moved
    }

    /// Whether it has stayed for long enough; if so it moves now.
    fn may_move(&mut self, now: u64) -> bool {
        if let Some(moved) = self.moved {
            let stayed = now.saturating_sub(moved);
            if stayed < self.stay {
                return false;
            }
            self.stay = if stayed < self.stay.saturating_mul(FORGET) {
                self.stay.saturating_mul(2).min(self.least.saturating_mul(MOST_STAYS))
            } else {
                self.least
            };
        }
        self.moved = Some(now);
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_stays_longer_each_time_that_moving_was_in_vain() {
        let mut aside = Aside { least: 10, stay: 10, moved: None };
        let mut now = 3;
        assert!(aside.may_move(now));
        for stay in [10, 20, 40, 80, 160, 320, 640, 640, 640] {
            assert!(!aside.may_move(now + stay - 1), "{stay}");
            now += stay;
            assert!(aside.may_move(now), "{stay}");
        }
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut aside = Aside { least: 10, stay: 10, moved: None };
        for now in [100, 110, 130] {
            assert!(aside.may_move(now));
        }
        assert!(aside.may_move(130 + 40 * 8));
        assert!(!aside.may_move(130 + 40 * 8 + 9));
        assert!(aside.may_move(130 + 40 * 8 + 10));
    }

    #[test]
    fn a_clock_that_steps_back_only_delays() {
        let mut aside = Aside { least: 10, stay: 10, moved: Some(1_000) };
        assert!(!aside.may_move(5));
        assert!(aside.may_move(1_010));
    }
}
