//! Routing on a made-up machine, with workers that are moved by hand: who gets which job, who is woken, who may help.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use super::cell::{Circumstances, Job, make};
use super::desk::{Desk, Submitted};
use super::policy::Lesson;
use super::queues::Queues;
use super::ring;
use crate::affinity::{Near, Placement, Seating};
use crate::pool::{Seats, Shared};
use crate::topology::Topology;

/// Two nodes with two domains each; two seats in each domain.
fn shared() -> Shared {
    let machine = Topology::regular(2, 2, 2);
    let homes = Seating::new(&machine, 8).placement(Placement::Llc).homes();
    let shared = Shared::new(Seats::new(machine, Placement::Llc, homes), Duration::ZERO);
    shared.engage(shared.crew(), 8);
    shared
}

/// A turn in which a worker looks at its own domain alone, and one in which it looks far.
const NEAR: u32 = 1;
const FAR: u32 = 0;

struct Jobs(Arc<AtomicUsize>);

impl Jobs {
    fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(0)))
    }

    /// A job near to a domain that notes its number when it runs.
    fn job(&self, domain: usize, number: usize) -> Job {
        let ran = Arc::clone(&self.0);
        let circumstances =
            Circumstances { domain: Some(domain), lesson: Lesson::NONE, scope: None };
        // SAFETY: nothing is borrowed.
        let (job, claim) = unsafe { make(move || ran.store(number, SeqCst), circumstances) };
        drop(claim);
        job
    }

    /// Runs a job; gives back its number.
    fn number(&self, job: Option<Job>) -> Option<usize> {
        self.0.store(usize::MAX, SeqCst);
        assert!(job?.run());
        Some(self.0.load(SeqCst))
    }
}

fn submit(desk: &Desk, shared: &Shared, job: Job) {
    let domain = job.domain();
    assert_eq!(desk.submit(shared, domain, job), Submitted::Accepted);
}

#[test]
fn a_worker_on_call_in_the_domain_gets_the_job() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    let queues: &Queues = desk.queues();
    for seat in 0..8 {
        assert!(queues.next(&shared, seat, NEAR).is_none(), "goes on call");
    }
    submit(desk, &shared, jobs.job(2, 1));
    submit(desk, &shared, jobs.job(2, 2));
    assert_eq!(jobs.number(queues.next(&shared, 4, NEAR)), Some(1));
    assert_eq!(jobs.number(queues.next(&shared, 5, NEAR)), Some(2));
    for seat in 0..8 {
        assert!(queues.withdraw(seat).is_none(), "seat {seat}");
    }
}

#[test]
fn with_the_domain_busy_the_nearest_one_on_call_gets_it() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    // On call: one on the other node, then one on the same.
    assert!(desk.queues().next(&shared, 1, NEAR).is_none());
    submit(desk, &shared, jobs.job(2, 1));
    assert_eq!(jobs.number(desk.queues().withdraw(1)), Some(1));
    for seat in [1, 7] {
        assert!(desk.queues().next(&shared, seat, NEAR).is_none());
    }
    submit(desk, &shared, jobs.job(2, 2));
    assert_eq!(jobs.number(desk.queues().withdraw(7)), Some(2));
}

#[test]
fn a_sleeping_worker_of_the_domain_comes_before_one_elsewhere_that_is_awake() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of_patience(&shared, u64::MAX / 2);
    assert!(desk.queues().next(&shared, 6, NEAR).is_none(), "on call in the next domain");
    shared.sleepers.announce(5);
    submit(desk, &shared, jobs.job(2, 1));
    assert!(!shared.sleepers.is_asleep(5), "it was woken");
    // The others leave the job to it.
    assert!(desk.queues().next(&shared, 6, FAR).is_none());
    assert_eq!(jobs.number(desk.queues().next(&shared, 5, NEAR)), Some(1));
}

#[test]
fn workers_elsewhere_help_when_nobody_of_the_domain_comes() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of_patience(&shared, 0);
    submit(desk, &shared, jobs.job(2, 1));
    submit(desk, &shared, jobs.job(2, 2));
    assert!(desk.queues().next(&shared, 0, NEAR).is_none());
    assert_eq!(jobs.number(desk.queues().next(&shared, 0, FAR)), Some(1), "the older one");
    // Woken, but not there in time.
    shared.sleepers.announce(4);
    submit(desk, &shared, jobs.job(2, 3));
    assert!(!shared.sleepers.is_asleep(4));
    assert_eq!(jobs.number(desk.queues().next(&shared, 6, FAR)), Some(2));
    assert_eq!(jobs.number(desk.queues().next(&shared, 4, NEAR)), Some(3));
}

#[test]
fn the_nearest_sleeper_is_woken_if_all_of_the_domain_are_busy() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    for seat in [0, 3, 6] {
        shared.sleepers.announce(seat);
    }
    let mut woken = Vec::new();
    for number in 0..4 {
        submit(desk, &shared, jobs.job(2, number));
        woken.extend([0, 3, 6].into_iter().filter(|&seat| !shared.sleepers.is_asleep(seat)));
    }
    woken.dedup();
    assert_eq!(woken[0], 6, "on the same node");
    assert_eq!((0..8).filter(|&seat| shared.sleepers.is_asleep(seat)).count(), 0);
}

#[test]
fn nobody_sleeps_over_a_job_and_who_joins_a_loop_wakes_another() {
    use crate::pool::SideWork;
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    submit(desk, &shared, jobs.job(1, 1));
    assert!(desk.waits());
    shared.sleepers.announce(3);
    desk.hand_over(&shared);
    assert!(!shared.sleepers.is_asleep(3));
    assert_eq!(jobs.number(desk.queues().next(&shared, 3, NEAR)), Some(1));
    assert!(!desk.waits());
    // A job given to a worker on call is done before the worker turns to a loop, or sleeps.
    assert!(desk.queues().next(&shared, 3, NEAR).is_none());
    submit(desk, &shared, jobs.job(1, 2));
    assert!(!desk.waits() && desk.turn_away(&shared, 3));
    assert_eq!(jobs.0.load(SeqCst), 2);
    assert!(!desk.turn_away(&shared, 3));
}

#[test]
fn a_worker_that_does_not_come_to_its_mailbox_loses_the_job() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    for seat in [2, 3] {
        assert!(desk.queues().next(&shared, seat, NEAR).is_none());
    }
    submit(desk, &shared, jobs.job(1, 1));
    assert!(desk.queues().next(&shared, 3, NEAR).is_none());
    assert_eq!(jobs.number(desk.queues().next(&shared, 3, FAR)), Some(1));
    assert!(desk.queues().withdraw(2).is_none());
}

#[test]
fn jobs_of_a_worker_stand_in_its_own_queue_and_can_be_stolen() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    let queues = desk.queues();
    queues.arrive(2);
    for number in 0..3 {
        submit(desk, &shared, jobs.job(1, number));
    }
    // One for another domain goes there.
    submit(desk, &shared, jobs.job(3, 9));
    assert_eq!(jobs.number(queues.next(&shared, 2, NEAR)), Some(0), "first in, first out");
    assert_eq!(jobs.number(queues.next(&shared, 3, NEAR)), Some(1), "its neighbour steals");
    assert_eq!(jobs.number(queues.next(&shared, 7, NEAR)), Some(9));
    queues.depart(2);
    // It is gone, its job is not.
    assert_eq!(jobs.number(queues.next(&shared, 3, NEAR)), Some(2));
}

#[test]
fn what_a_full_queue_does_not_take_goes_to_the_domain() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    let queues = desk.queues();
    queues.arrive(2);
    let numbers = 0..ring::MOST + 100;
    for number in numbers.clone() {
        submit(desk, &shared, jobs.job(1, number));
    }
    // By turns the worker and its neighbour, which finds the domain's queue first.
    let mut taken: Vec<_> = numbers
        .clone()
        .filter_map(|turn| jobs.number(queues.next(&shared, 2 + turn % 2, NEAR)))
        .collect();
    taken.sort_unstable();
    assert!(taken.into_iter().eq(numbers));
    assert_eq!(queues.waiting(1), 0);
    queues.depart(2);
}

#[test]
fn what_is_submitted_while_the_queue_is_in_use_goes_to_the_domain() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    let queues = desk.queues();
    queues.arrive(2);
    submit(desk, &shared, jobs.job(1, 1));
    // As by an allocator, while the queue grows.
    let here = queues.with_own(1, |_| submit(desk, &shared, jobs.job(1, 2)));
    assert!(here.is_some(), "the worker has a queue");
    assert_eq!(jobs.number(queues.next(&shared, 2, NEAR)), Some(1));
    assert_eq!(jobs.number(queues.next(&shared, 2, NEAR)), Some(2));
    queues.depart(2);
}

#[test]
fn jobs_that_spawn_jobs_do_not_keep_others_waiting_for_ever() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    let queues = desk.queues();
    submit(desk, &shared, jobs.job(1, 100));
    queues.arrive(2);
    submit(desk, &shared, jobs.job(1, 0));
    for turn in 1..=8 {
        let number = jobs.number(queues.next(&shared, 2, turn)).unwrap();
        assert_eq!(number == 100, turn == 8, "turn {turn}");
        submit(desk, &shared, jobs.job(1, turn as usize));
    }
    queues.depart(2);
    while queues.last(&shared, 2).is_some_and(Job::run) {}
}

#[test]
fn jobs_that_were_taken_back_do_not_pile_up() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    let queues = desk.queues();
    // From outside, and on a worker.
    for seat in [None, Some(2)] {
        if let Some(seat) = seat {
            queues.arrive(seat);
        }
        for number in 0..20_000 {
            if number % 1_000 == 0 {
                submit(desk, &shared, jobs.job(1, number));
            }
            let circumstances =
                Circumstances { domain: Some(1), lesson: Lesson::NONE, scope: None };
            // SAFETY: nothing is borrowed.
            let (job, claim) = unsafe { make(move || number, circumstances) };
            submit(desk, &shared, job);
            assert_eq!(claim.take_back().unwrap().run().unwrap(), number);
            assert!(queues.waiting(1) < 600, "{}", queues.waiting(1));
        }
        // Those that still wait come in their order.
        let mut next = 0;
        while let Some(job) = queues.last(&shared, 2) {
            if job.is_waiting() {
                assert_eq!(jobs.number(Some(job)), Some(next));
                next += 1_000;
            } else {
                job.run();
            }
        }
        assert_eq!((next, queues.waiting(1)), (20_000, 0));
    }
    queues.depart(2);
}

#[test]
fn jobs_in_the_queues_of_others_do_not_have_queues_swept_again_and_again() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    let queues = desk.queues();
    let mut sweeps = 0;
    for (seat, numbers) in [(2, 0..3000), (3, 3000..6000)] {
        queues.arrive(seat);
        for number in numbers {
            sweeps += usize::from(queues.are_to_be_swept(1));
            submit(desk, &shared, jobs.job(1, number));
        }
        queues.depart(seat);
    }
    assert_eq!(sweeps, 5, "when there are 256, and whenever there are twice as many");
    while queues.last(&shared, 2).is_some_and(Job::run) {}
}

#[test]
fn a_second_crew_does_without_the_queues_of_the_first() {
    let (shared, jobs) = (shared(), Jobs::new());
    let queues = Desk::of(&shared).queues();
    queues.arrive(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            queues.arrive(2);
            queues.put(1, jobs.job(1, 5));
            queues.depart(2);
        });
    });
    queues.depart(2);
    assert_eq!(jobs.number(queues.next(&shared, 3, NEAR)), Some(5));
}

#[test]
fn the_queue_of_a_pool_that_is_gone_gets_no_jobs_of_another() {
    // The next one mostly stands where this one did.
    for _ in 0..10 {
        let (shared, jobs) = (shared(), Jobs::new());
        let queues = Desk::of(&shared).queues();
        queues.put(1, jobs.job(1, 5));
        assert_eq!(jobs.number(queues.next(&shared, 3, NEAR)), Some(5));
        // As in the child of a fork, where a worker ends by a panic.
        queues.arrive(2);
    }
}

#[test]
fn a_job_for_workers_that_are_ending_is_doubtful() {
    let (shared, jobs) = (shared(), Jobs::new());
    let desk = Desk::of(&shared);
    shared.dismiss();
    assert_eq!(desk.submit(&shared, Some(1), jobs.job(1, 1)), Submitted::Doubtful);
    // Whoever drops the desk leaves nothing behind.
    drop(shared);
    assert_eq!(jobs.0.load(SeqCst), 1);
}

#[test]
fn places_are_those_of_the_pools_machine() {
    let shared = shared();
    let desk = Desk::of(&shared);
    assert_eq!(desk.domain_near(&shared, Some(Near::of(5))), Some(2));
    assert_eq!(desk.domain_near(&shared, Some(Near::of(500))), None);
}
