//! A pool's desk for jobs: where submitters hand them in, and what idle workers of the pool do about them.

use std::any::Any;
use std::time::Duration;

use super::cell::Job;
use super::queues::Queues;
use crate::affinity::guard_pin::{Confines, Pin};
use crate::affinity::kernel::Kernel;
use crate::affinity::{Near, Unpinned, mask};
use crate::clock;
use crate::pool::{Shared, SideWork};
use crate::stats::{ByTier, Stats};

/// What a pool keeps for jobs, from the first one on.
#[derive(Debug)]
pub(super) struct Desk {
    queues: Queues,
    /// What workers are pinned to that run a job of another domain; `None` where there is nothing to choose.
    confinement: Option<Confinement>,
    /// How long it is worth while to spin for an outcome, in ticks.
    spin: u64,
}

/// About what a sleep and being woken cost: who has spun for that long may as well sleep.
const SPIN: Duration = Duration::from_micros(50);

/// Where workers are pinned to for the time of a job.
#[derive(Debug)]
enum Confinement {
    /// The machine's domains, shared with all guards; for each domain of the pool the machine's.
    Machine(Box<[usize]>),
    /// Those of a made-up machine.
    Own(Confines),
}

/// What has become of a job that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Submitted {
    /// A worker has it, or is going to find it.
    Accepted,
    /// The pool's workers are ending and may not have seen it: the submitter is to take it back.
    Doubtful,
}

impl Desk {
    fn new(shared: &Shared) -> Self {
        let queues = Queues::new(shared);
        let confinement = queues.routes.tells_domains().then(|| Confinement::new(shared));
        Self { queues, confinement, spin: clock::in_ticks(SPIN).min(shared.spin) }
    }

    /// That of a pool.
    pub(super) fn of(shared: &Shared) -> &Self {
        let side: &dyn Any = shared.side_work_or(|| Box::new(Self::new(shared)));
        side.downcast_ref().expect("jobs are the only side work that there is")
    }

    /// As [`of`](Self::of), with this many ticks of courtesy, and the queues of a desk.
    #[cfg(all(test, not(loom)))]
    pub(super) fn of_patience(shared: &Shared, courtesy: u64) -> &Self {
        let side: &dyn Any = shared.side_work_or(|| {
            let mut desk = Self::new(shared);
            desk.queues.set_courtesy(courtesy);
            Box::new(desk)
        });
        side.downcast_ref().expect("jobs are the only side work that there is")
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The domain of a place, by default the calling thread's; `None` where there is nothing to choose, or where the
    /// place is unknown.
    pub(super) fn domain_near(&self, shared: &Shared, near: Option<Near>) -> Option<usize> {
        if !self.queues.routes.tells_domains() {
            return None;
        }
        shared.seats.topology().domain_of(near.unwrap_or_else(Near::here).cpu()?)
    }

    /// How long a joiner should spin before it sleeps, in ticks.
    pub(super) fn spin(&self) -> u64 {
        self.spin
    }

    /// Hands a job in. No system call is made if a worker of the domain is awake and idle.
    pub(super) fn submit(&self, shared: &Shared, domain: Option<usize>, job: Job) -> Submitted {
        let (queues, sleepers) = (&self.queues, &shared.sleepers);
        // Who does not know its place is near to everyone.
        let domain = domain.unwrap_or(0);
        let Err(mut job) = queues.give_in(domain, job) else {
            return Submitted::Accepted;
        };
        // A sleeping worker of the domain is better than one elsewhere that is awake.
        if !queues.routes.seats_in(domain).any(|seat| sleepers.is_asleep(seat)) {
            match queues.give_elsewhere(domain, job) {
                Ok(()) => return Submitted::Accepted,
                Err(back) => job = back,
            }
        }
        self.put(shared, domain, job);
        // Zero once the workers have been sent home. A worker that ends looks at the queues after it has seen that; the
        // fences of both sides (`published`) stand between the writing and the looking of each, so either it has seen
        // the job, or this is zero.
        if shared.width() == 0 { Submitted::Doubtful } else { Submitted::Accepted }
    }

    /// Puts a job where workers find it, and wakes one.
    fn put(&self, shared: &Shared, domain: usize, job: Job) {
        self.queues.put(domain, job);
        shared.sleepers.published();
        self.wake_for(shared, domain);
    }

    /// Wakes a worker for a job that waits in a domain, a near one if possible.
    fn wake_for(&self, shared: &Shared, domain: usize) {
        let routes = &self.queues.routes;
        if routes.seats_in(domain).any(|seat| shared.sleepers.wake(seat)) {
            self.queues.reserve(domain);
            return;
        }
        let near = routes.others(domain).flat_map(|other| routes.seats_in(other));
        // Last those that nobody knows the whereabouts of.
        near.chain(0..shared.seats.count()).any(|seat| shared.sleepers.wake(seat));
    }

    /// Runs a job, in the domain that it belongs near to if that can be had. `looks_next`: the worker looks for work
    /// next, so that it may go on call.
    fn run(&self, shared: &Shared, seat: usize, job: Job, looks_next: bool) {
        // One that was taken back needs nothing.
        if !job.is_waiting() {
            job.run();
            return;
        }
        let domain = job.domain();
        let pin = domain.map(|domain| self.pin(shared, seat, domain));
        let jobs = self.distance(shared, domain);
        let jobs_pinned = u64::from(matches!(pin, Some(Ok(_))));
        let ran = if looks_next {
            let give_back = |job: Job| self.put(shared, job.domain().unwrap_or(0), job);
            job.run_on_call(self.queues.mailbox(seat), &give_back)
        } else {
            job.run()
        };
        if ran {
            self.queues.process().ends_in_child();
            shared.count_worker(seat, &Stats { jobs, jobs_pinned, ..Stats::default() });
        }
    }

    /// Pins the worker of `seat` to a domain, unless it is known that it is there or cannot be.
    fn pin(&self, shared: &Shared, seat: usize, domain: usize) -> Result<Pin<'_>, Unpinned> {
        let Some(confinement) = &self.confinement else {
            return Err(Unpinned::OneDomain);
        };
        if shared.seats.in_place() {
            match self.queues.routes.home(seat) {
                Some(home) if home == domain => return Err(Unpinned::AlreadyThere),
                Some(_) => return Err(Unpinned::TooFewCpus),
                None => {}
            }
        }
        match confinement {
            Confinement::Machine(domains) => Confines::of_machine().pin(domains[domain], Kernel),
            Confinement::Own(confines) => confines.pin(domain, Kernel),
        }
    }

    /// One job, counted by how far from its domain it runs.
    fn distance(&self, shared: &Shared, domain: Option<usize>) -> ByTier {
        let topology = shared.seats.topology();
        let one_domain = !self.queues.routes.tells_domains() && topology.domains().len() == 1;
        let here = || topology.domain_of(mask::current_cpu()?);
        let mut jobs = ByTier::default();
        match (domain, domain.and_then(|_| here())) {
            _ if one_domain => jobs.llc = 1,
            (Some(domain), Some(here)) if domain == here => jobs.llc = 1,
            (Some(domain), Some(here)) => {
                let node = |domain: usize| topology.domains()[domain].node();
                if node(domain) == node(here) { jobs.node = 1 } else { jobs.remote = 1 }
            }
            _ => jobs.unknown = 1,
        }
        jobs
    }
}

impl SideWork for Desk {
    fn arrive(&self, seat: usize) {
        self.queues.arrive(seat);
    }

    fn look(&self, shared: &Shared, seat: usize, turn: u32) -> bool {
        let job = self.queues.next(shared, seat, turn);
        job.map(|job| self.run(shared, seat, job, true)).is_some()
    }

    fn turn_away(&self, shared: &Shared, seat: usize) -> bool {
        let job = self.queues.withdraw(seat);
        job.map(|job| self.run(shared, seat, job, false)).is_some()
    }

    fn hand_over(&self, shared: &Shared) {
        if let Some(domain) = self.queues.first_waiting() {
            self.wake_for(shared, domain);
        }
    }

    fn waits(&self) -> bool {
        self.queues.first_waiting().is_some()
    }

    fn depart(&self, shared: &Shared, seat: usize) {
        // See `submit`.
        shared.sleepers.published();
        while let Some(job) = self.queues.last(shared, seat) {
            self.run(shared, seat, job, false);
        }
        self.queues.depart(seat);
    }
}

impl Confinement {
    fn new(shared: &Shared) -> Self {
        let topology = shared.seats.topology();
        let machine = Confines::of_machine().topology();
        let same = topology.domains().iter().map(|domain| {
            let same = machine.domain_of(domain.cpus().first()?)?;
            let there = machine.domains()[same].cpus().intersection(topology.cpus());
            (there == *domain.cpus()).then_some(same)
        });
        // A topology that was given to the pool may differ from the machine.
        match same.collect() {
            Some(domains) => Self::Machine(domains),
            None => Self::Own(Confines::new(topology.clone())),
        }
    }
}
