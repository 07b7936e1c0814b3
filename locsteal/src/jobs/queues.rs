//! The jobs of a pool that wait for a worker, and the two sides of it: putting a job where a worker finds it, and
//! finding one. `README.md` tells who looks where, in which order, and why no job is forgotten.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use crossbeam_deque::{Injector, Steal};
use crossbeam_utils::CachePadded;

use super::cell::Job;
use super::mailbox::{Mail, Mailbox};
use super::ring::{Ring, RingEntry, ring};
use super::routes::Routes;
use crate::affinity::mask;
use crate::clock::{self, ticks};
use crate::pool::{Process, Shared};
use crate::sync::{AtomicU64, AtomicUsize, Ordering, each_alone_on_its_lines};

/// For so long a worker that was woken has to come from its sleep before workers of other domains help out.
const COURTESY: std::time::Duration = std::time::Duration::from_micros(100);
/// Queues of fewer jobs than this are never swept.
const SWEEP: usize = 256;
/// How often a spinning worker looks at what is not its own: every so many turns.
const LOOK_FAR: u32 = 16;

/// The jobs that wait for workers of a pool.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) routes: Routes,
    domains: Box<[CachePadded<DomainQueue>]>,
    seats: Box<[CachePadded<SeatQueue>]>,
    /// In ticks.
    courtesy: u64,
    process: Process,
}

// Submitters write to one seat's mailbox while the workers of others look at theirs.
each_alone_on_its_lines!(Queues: domains, seats);

/// The jobs that wait in a domain.
#[derive(Debug)]
struct DomainQueue {
    injector: Injector<Job>,
    /// How many jobs stand in the injector and in the queues of the domain's seats. Raised before a job is put there,
    /// and lowered after it was taken.
    waiting: AtomicUsize,
    /// When so many wait, those that were taken back are thrown out; see [`Queues::sweep`].
    sweep_at: AtomicUsize,
    /// Until then workers of other domains leave the jobs alone, as one of the domain's has been woken for them.
    reserved: AtomicU64,
}

/// A seat's mailbox, and the jobs that its worker has submitted itself.
#[derive(Debug)]
struct SeatQueue {
    mailbox: Mailbox,
    ring: Ring,
    /// The end where jobs are put in, which the seat's worker has while it is there.
    entry: Mutex<Option<RingEntry>>,
}

thread_local! {
    /// The queue of the seat that this thread is the worker of.
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

struct Own {
    seat: usize,
    /// It keeps the ring, so that none of another pool is taken for it.
    entry: RingEntry,
}

impl DomainQueue {
    /// Puts the job back if it still waits, else lets it go.
    fn sift(&self, job: Job, put_back: impl FnOnce(Job)) {
        if job.is_waiting() {
            put_back(job);
        } else {
            job.run();
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Queues {
    pub(super) fn new(shared: &Shared) -> Self {
        let seats = &shared.seats;
        let routes = Routes::new(seats.topology(), (0..seats.count()).map(|seat| seats.home(seat)));
        let domain_queue = || DomainQueue {
            injector: Injector::new(),
            waiting: AtomicUsize::new(0),
            sweep_at: AtomicUsize::new(SWEEP),
            reserved: AtomicU64::new(0),
        };
        let seat_queue = || {
            let (entry, ring) = ring();
            SeatQueue { mailbox: Mailbox::new(), ring, entry: Mutex::new(Some(entry)) }
        };
        Self {
            domains: (0..routes.domains()).map(|_| CachePadded::new(domain_queue())).collect(),
            seats: (0..seats.count()).map(|_| CachePadded::new(seat_queue())).collect(),
            courtesy: clock::in_ticks(COURTESY),
            process: Process::this(),
            routes,
        }
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn set_courtesy(&mut self, ticks: u64) {
        self.courtesy = ticks;
    }

    /// The one whose workers look here.
    pub(super) fn process(&self) -> Process {
        self.process
    }

    /// Gives the job to a worker of the domain that is on call.
    pub(super) fn give_in(&self, domain: usize, job: Job) -> Result<(), Job> {
        let seats = self.routes.seats_in(domain);
        give_to_first(seats.map(|seat| &self.seats[seat].mailbox), job)
    }

    /// The same in the other domains, nearest first.
    pub(super) fn give_elsewhere(&self, domain: usize, job: Job) -> Result<(), Job> {
        let seats = self.routes.others(domain).flat_map(|other| self.routes.seats_in(other));
        give_to_first(seats.map(|seat| &self.seats[seat].mailbox), job)
    }

    /// Puts the job into the queue of the calling worker's seat, if its home is the domain, else of the domain. The
    /// caller must see to it that a worker looks.
    pub(super) fn put(&self, domain: usize, job: Job) {
        let queue = &self.domains[domain];
        // Relaxed: `Sleepers::published` comes before sleepers are looked at; see there. A worker that sees the count
        // before the job tries again.
        if queue.waiting.fetch_add(1, Ordering::Relaxed) >= queue.sweep_at.load(Ordering::Relaxed) {
            self.sweep(domain);
        }
        let mut job = Some(job);
        self.with_own(domain, |entry| job = job.take().and_then(|job| entry.put(job).err()));
        if let Some(job) = job {
            queue.injector.push(job);
        }
    }

    /// Calls `f` with the queue of the calling worker's seat, if the seat is one of the pool's and its home is the domain.
    ///
    /// Not if it is called by `f` itself, as it may be by an allocator that submits jobs, nor while the thread's locals are
    /// being destroyed.
    pub(super) fn with_own<T>(
        &self,
        domain: usize,
        f: impl FnOnce(&mut RingEntry) -> T,
    ) -> Option<T> {
        let own = |own: &RefCell<Option<Own>>| {
            let mut own = own.try_borrow_mut().ok()?;
            let own = own.as_mut().filter(|own| self.has(own))?;
            (self.routes.home(own.seat) == Some(domain)).then(|| f(&mut own.entry))
        };
        OWN.try_with(own).ok().flatten()
    }

    /// Whether this is the queue of one of the pool's seats.
    fn has(&self, own: &Own) -> bool {
        self.seats.get(own.seat).is_some_and(|seat| own.entry.is_of(&seat.ring))
    }

    /// Throws jobs out that were taken back. Workers do that in passing; but while all of them are busy, a thread that
    /// submits and joins again and again would pile them up.
    ///
    /// Each job is taken from the front and, if it still waits, put back behind: once through, the order is as before,
    /// and workers can come between at any time. The queues of other seats are left to their workers, and are bounded.
    /// The next sweep comes when twice as many jobs wait in all queues of the domain, so a job has its part in two
    /// sweeps, on average, at most.
    #[cold]
    fn sweep(&self, domain: usize) {
        let queue = &self.domains[domain];
        // One at a time.
        if queue.sweep_at.swap(usize::MAX, Ordering::Relaxed) == usize::MAX {
            return;
        }
        for _ in 0..queue.injector.len() {
            let Some(job) = take_from(&queue.injector) else { break };
            queue.sift(job, |job| queue.injector.push(job));
        }
        self.with_own(domain, |entry| {
            for _ in 0..entry.len() {
                let Some(job) = entry.take() else { break };
                // There is room, since nobody else puts jobs in.
                let put = |job| entry.put(job).unwrap_or_else(|job| queue.injector.push(job));
                queue.sift(job, put);
            }
        });
        let waiting = queue.waiting.load(Ordering::Relaxed);
        queue.sweep_at.store((2 * waiting).max(SWEEP), Ordering::Relaxed);
    }

    /// How many jobs stand in the queues of a domain, with those that were taken back.
    #[cfg(all(test, not(loom)))]
    pub(super) fn waiting(&self, domain: usize) -> usize {
        self.domains[domain].waiting.load(Ordering::Relaxed)
    }

    /// Whether the next job that is put in has the queues swept.
    #[cfg(all(test, not(loom)))]
    pub(super) fn are_to_be_swept(&self, domain: usize) -> bool {
        self.waiting(domain) >= self.domains[domain].sweep_at.load(Ordering::Relaxed)
    }

    /// A worker of the domain has been woken for a job there: others leave it alone for a while.
    pub(super) fn reserve(&self, domain: usize) {
        self.domains[domain].reserved.store(ticks() + self.courtesy, Ordering::Relaxed);
    }

    /// The worker of `seat` is there.
    pub(super) fn arrive(&self, seat: usize) {
        // Another one that has been sent home may still have it; then this one does without.
        if let Some(entry) = self.entry(seat).take() {
            OWN.set(Some(Own { seat, entry }));
        }
    }

    /// The worker of `seat` ends.
    pub(super) fn depart(&self, seat: usize) {
        let own = OWN.take();
        if let Some(own) = own.filter(|own| own.seat == seat && self.has(own)) {
            *self.entry(seat) = Some(own.entry);
        }
    }

    fn entry(&self, seat: usize) -> std::sync::MutexGuard<'_, Option<RingEntry>> {
        self.seats[seat].entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job for the worker of `seat`, which is idle; if there is none, it is on call afterwards.
    pub(super) fn next(&self, shared: &Shared, seat: usize, turn: u32) -> Option<Job> {
        let mailbox = &self.seats[seat].mailbox;
        match mailbox.look() {
            Mail::Job => return mailbox.withdraw(),
            Mail::OnCall => {
                let domain = self.domain_of(shared, seat);
                let far = turn.is_multiple_of(LOOK_FAR);
                if self.domains[domain].waiting.load(Ordering::Relaxed) == 0 && !far {
                    return None;
                }
                if !self.anything_near(domain, far) {
                    return None;
                }
            }
            Mail::Off => {}
        }
        // Not on call while it takes another one.
        let job = mailbox.withdraw().or_else(|| {
            let domain = self.domain_of(shared, seat);
            self.find(domain, seat, turn, false)
        });
        if job.is_none() {
            mailbox.go_on_call();
        }
        job
    }

    pub(super) fn mailbox(&self, seat: usize) -> &Mailbox {
        &self.seats[seat].mailbox
    }

    /// The worker of `seat` turns to something else; gives back the job that it was given meanwhile.
    pub(super) fn withdraw(&self, seat: usize) -> Option<Job> {
        self.seats[seat].mailbox.withdraw()
    }

    /// Any job that waits, for a worker that ends.
    pub(super) fn last(&self, shared: &Shared, seat: usize) -> Option<Job> {
        self.withdraw(seat).or_else(|| self.find(self.domain_of(shared, seat), seat, 0, true))
    }

    /// A domain in whose queues jobs stand.
    pub(super) fn first_waiting(&self) -> Option<usize> {
        self.domains.iter().position(|queue| queue.waiting.load(Ordering::Relaxed) != 0)
    }

    /// Whether it is worth while to look: the domain has jobs, or others have that may be taken now, or that a slow
    /// worker has in its mailbox.
    fn anything_near(&self, domain: usize, far: bool) -> bool {
        self.domains[domain].waiting.load(Ordering::Relaxed) != 0
            || far
                && (self.routes.others(domain).any(|other| self.may_help(other))
                    || self.routes.seats_in(domain).any(|seat| self.has_mail(seat)))
    }

    fn has_mail(&self, seat: usize) -> bool {
        self.seats[seat].mailbox.look() == Mail::Job
    }

    /// Whether another domain has jobs which it is not about to begin itself.
    fn may_help(&self, domain: usize) -> bool {
        let queue = &self.domains[domain];
        queue.waiting.load(Ordering::Relaxed) != 0
            && ticks() >= queue.reserved.load(Ordering::Relaxed)
    }

    /// Looks through the queues: those of the domain, then of the others, nearest first.
    fn find(&self, domain: usize, seat: usize, turn: u32, all: bool) -> Option<Job> {
        let found = self.find_in(domain, seat, turn);
        found.or_else(|| {
            if !all && !turn.is_multiple_of(LOOK_FAR) {
                return None;
            }
            let mut others = self.routes.others(domain);
            let far = others.find_map(|other| {
                (all || self.may_help(other)).then(|| self.find_in(other, seat, turn)).flatten()
            });
            // What a worker of this domain was given and has not come to, since it is not running.
            far.or_else(|| {
                let mut seats = self.routes.seats_in(domain);
                seats.find_map(|other| self.seats[other].mailbox.steal())
            })
        })
    }

    /// The own queue first, then the domain's, then those of the domain's other seats. Every few turns the domain's
    /// comes first, so that jobs that spawn jobs cannot keep others waiting for ever.
    fn find_in(&self, domain: usize, seat: usize, turn: u32) -> Option<Job> {
        let queue = &self.domains[domain];
        if queue.waiting.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let at_home = self.routes.home(seat) == Some(domain);
        let own = || at_home.then(|| self.seats[seat].ring.take()).flatten();
        let injected = || take_from(&queue.injector);
        let first =
            if turn.is_multiple_of(8) { injected().or_else(own) } else { own().or_else(injected) };
        let found = first.or_else(|| {
            let after = self.routes.seats_in(domain).filter(|&other| other > seat);
            let before = self.routes.seats_in(domain).filter(|&other| other < seat);
            after.chain(before).find_map(|other| self.seats[other].ring.take())
        })?;
        queue.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(found)
    }

    /// The domain that the worker of `seat` is in.
    fn domain_of(&self, shared: &Shared, seat: usize) -> usize {
        self.routes.whereabouts(seat, || {
            mask::current_cpu().and_then(|cpu| shared.seats.topology().domain_of(cpu))
        })
    }
}

fn give_to_first<'a>(
    mut mailboxes: impl Iterator<Item = &'a Mailbox>,
    job: Job,
) -> Result<(), Job> {
    match mailboxes.try_fold(job, |job, mailbox| match mailbox.give(job) {
        Ok(()) => Err(()),
        Err(job) => Ok(job),
    }) {
        Ok(job) => Err(job),
        Err(()) => Ok(()),
    }
}

/// Steals until it is clear whether there is something.
fn take_from(injector: &Injector<Job>) -> Option<Job> {
    loop {
        match injector.steal() {
            Steal::Success(job) => return Some(job),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        if !self.process.is_this() {
            // What stands here is the parent's, and may have been caught half-way through a push.
            std::mem::forget(std::mem::take(&mut self.domains));
            std::mem::forget(std::mem::take(&mut self.seats));
            return;
        }
        // Workers leave nothing behind but jobs that were taken back before they came to them.
        for queue in &self.domains {
            while let Some(job) = take_from(&queue.injector) {
                job.run();
            }
        }
        for queue in &self.seats {
            while let Some(job) = queue.ring.take().or_else(|| queue.mailbox.withdraw()) {
                job.run();
            }
        }
    }
}
