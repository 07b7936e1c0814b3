//! What a pool's workers and callers share, for as long as the pool lives.

use std::cell::Cell;

use crossbeam_utils::CachePadded;

use super::alone::Alone;
use super::lane::{Epoch, Lane, Notice};
use super::seats::Seats;
use super::side_work::SideWork;
use super::sleep::Sleepers;
use crate::clock;
use crate::grown::Grown;
use crate::sched::{Deal, Entry, Locality, Thief, View};
use crate::stats::timeline::{LoopId, Recorder, Track, Who};
use crate::stats::{Counters, Stats};
use crate::sync::{AtomicU64, AtomicUsize, Ordering, alone_on_its_lines, each_alone_on_its_lines};

/// How many sleepers a worker wakes that has come into a loop. With fewer the last of many workers comes much later;
/// with more those that are awake have little time for the loop itself. See `docs/simulator.md`.
const WAKES_PER_WORKER: usize = 4;
/// The same where there are more seats than CPUs: who is woken takes the CPU of somebody who is at work, and a short loop is
/// over before all would have come.
const WAKES_IN_A_CROWD: usize = 1;

/// The longest that late workers are waited for. About what waking one takes.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_micros(100);

/// How long a worker leaves the tiniest loops to their caller, which by itself is done before the two could have told each
/// other anything; with longer ones, twice or four times that.
const HOLD: std::time::Duration = std::time::Duration::from_nanos(300);

/// See [`View::grace`]. Each time is some pauses, so that all take about as long as a line takes to cross a socket.
pub(crate) const GRACE: u32 = 8;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) seats: Seats,
    lanes: Box<[Lane]>,
    /// Lanes from this one on have never been used; workers need not watch them.
    lanes_used: AtomicUsize,
    pub(crate) sleepers: Sleepers,
    /// Which crew is meant to work, and how many seats have a worker of it ([`WIDTH_BITS`] bits): the widest loop. A
    /// worker of another crew ends. Width 0: no crew is there.
    crew: AtomicU64,
    /// Each written by the worker of its seat only.
    counters: Box<[CachePadded<Counters>]>,
    pub(crate) recorder: Recorder,
    /// Loops that ran on their caller alone.
    alone: Alone,
    /// Jobs that ran in their submitter. Beside it nothing that launching or idling looks at.
    inline_jobs: CachePadded<AtomicU64>,
    /// Work besides loops, once there is any.
    side_work: Grown<Box<dyn SideWork>>,
    /// The longest time that an idle worker spins before it sleeps, in ticks.
    pub(crate) spin: u64,
    /// See [`View::patience`].
    pub(crate) patience: u64,
    /// How many sleepers a worker wakes that has come into a loop.
    pub(crate) wakes_per_worker: usize,
    /// Whether there are more seats than CPUs.
    crowded: bool,
    /// [`HOLD`] in ticks.
    pub(crate) hold: u64,
}

alone_on_its_lines!(Shared: alone, inline_jobs);
each_alone_on_its_lines!(Shared: lanes, counters);

const WIDTH_BITS: u32 = 16;
const WIDTH_MASK: u64 = (1 << WIDTH_BITS) - 1;

thread_local! {
    /// The pool and the seat that the current thread works for, and the lane it took last.
    static PLACE: Cell<Place> = const { Cell::new(Place { pool: 0, seat: 0 }) };
    static LAST_LANE: Cell<usize> = const { Cell::new(0) };
}

/// Which pool and seat a thread works for, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The address of the pool's [`Shared`]; 0: the thread is nobody's worker.
    pool: usize,
    seat: usize,
}

impl Place {
    /// The calling thread's.
    pub(crate) fn here() -> Self {
        PLACE.get()
    }

    /// The calling thread works in the stead of the thread whose place this is, which waits for it meanwhile.
    pub(crate) fn take_over(self) {
        PLACE.set(self);
    }
}

/// A participant's right to be inside a loop.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) lane: &'a Lane,
    pub(crate) seat: usize,
    pub(crate) entry: Entry,
    pub(crate) epoch: Epoch,
    pub(crate) view: View<'a>,
}

impl<'a> Ticket<'a> {
    /// A worker has entered the loop and read its notice.
    #[inline]
    pub(crate) fn new(
        shared: &'a Shared,
        lane: &'a Lane,
        epoch: Epoch,
        (seat, entry): (usize, Entry),
        notice: &Notice,
    ) -> Self {
        let &Notice { len, unit, launched, kind, grain, locality, from_front, caller, .. } = notice;
        let view = View {
            board: &lane.board,
            orders: shared.seats.orders(),
            deal: Deal::new(len, unit, epoch.width()).dealt_from_front(from_front),
            kind,
            locality,
            grain,
            generation: epoch.generation(),
            launched,
            patience: shared.patience,
            grace: 0,
            caller: Some(caller.into()),
        };
        Self { shared, lane, seat, entry, epoch, view }
    }

    /// The loop, for a recording.
    pub(crate) fn loop_id(&self) -> LoopId {
        LoopId::Shared(std::ptr::from_ref(self.lane).addr(), self.view.generation.bits())
    }

    /// Tells sleeping workers of the loop, and gives back how many: a few for each worker that comes in, so that the news
    /// spreads like a tree. Each call takes a while, so the seat's block should be laid out before, for others to steal
    /// from meanwhile.
    #[inline]
    pub(crate) fn wake_others(&self) -> u64 {
        self.wake(self.shared.wakes_per_worker)
    }

    /// Wakes a worker that was falling asleep while the loop was opened, and has seen nothing of it.
    pub(crate) fn wake_overlooked(&self) -> u64 {
        self.shared.sleepers.published();
        self.wake(1)
    }

    /// Wakes up to `most` sleeping workers that the loop has seats for, near ones first.
    #[inline]
    pub(crate) fn wake(&self, most: usize) -> u64 {
        // The worker whose seat the caller sits in may sleep on.
        let taken = self.view.caller.unwrap_or(self.seat);
        if self.shared.sleepers.any_below(self.view.deal.width(), taken) {
            self.wake_sleepers(most)
        } else {
            0
        }
    }

    fn wake_sleepers(&self, most: usize) -> u64 {
        let width = self.view.deal.width();
        let thief = Thief { seat: self.seat, near: self.seat };
        let orders = self.shared.seats.orders();
        let near = orders.local(thief, Locality::Llc, width);
        let far = orders.remote(thief, Locality::Llc, width);
        // A seat that the caller or a rescuer has filled needs no worker.
        near.chain(far)
            .filter(|&other| {
                self.lane.could_enter(self.epoch, other) && self.shared.sleepers.wake(other)
            })
            .take(most)
            .count() as u64
    }
}

impl Shared {
    pub(crate) fn new(seats: Seats, spin: std::time::Duration) -> Self {
        let count = seats.count();
        let crowded = count > seats.topology().cpus().len();
        // One lane a seat lets every worker launch a loop of its own beside that of an outside caller.
        let lanes = (count + 4).clamp(8, 32);
        Self {
            lanes: (0..lanes).map(|_| Lane::new(count)).collect(),
            lanes_used: AtomicUsize::new(0),
            sleepers: Sleepers::new(count),
            crew: AtomicU64::new(0),
            counters: (0..count).map(|_| CachePadded::new(Counters::default())).collect(),
            recorder: Recorder::default(),
            alone: Alone::new(),
            inline_jobs: CachePadded::new(AtomicU64::new(0)),
            side_work: Grown::new(),
            spin: clock::in_ticks(spin),
            patience: clock::in_ticks(PATIENCE),
            wakes_per_worker: if crowded { WAKES_IN_A_CROWD } else { WAKES_PER_WORKER },
            crowded,
            hold: clock::in_ticks(HOLD),
            seats,
        }
    }

    /// Whether there are more seats than CPUs.
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// How many seats have a worker; 0: no crew is there.
    #[inline]
    pub(crate) fn width(&self) -> usize {
        (self.crew.load(Ordering::Relaxed) & WIDTH_MASK) as usize
    }

    pub(crate) fn crew(&self) -> u64 {
        // Acquire: pairs with `dismiss`, so that a worker that ends has seen all that came before.
        self.crew.load(Ordering::Acquire) >> WIDTH_BITS
    }

    /// `width` workers of `crew` are there; unless it has been dismissed meanwhile.
    pub(crate) fn engage(&self, crew: u64, width: usize) {
        let absent = crew << WIDTH_BITS;
        let there = absent | width as u64;
        let _ = self.crew.compare_exchange(absent, there, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Sends the present crew home: every worker ends once it is idle. In one step, so that the width of a crew that is
    /// just being engaged does not outlive it.
    pub(crate) fn dismiss(&self) {
        let mut seen = self.crew.load(Ordering::Relaxed);
        while let Err(now) = self.crew.compare_exchange_weak(
            seen,
            (seen >> WIDTH_BITS).wrapping_add(1) << WIDTH_BITS,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            seen = now;
        }
        self.sleepers.published();
        for seat in 0..self.seats.count() {
            self.sleepers.wake(seat);
        }
    }

    /// The seat of the current thread if it is a worker of this pool.
    #[inline]
    pub(crate) fn own_seat(&self) -> Option<usize> {
        let place = PLACE.get();
        (place.pool == std::ptr::from_ref(self).addr()).then_some(place.seat)
    }

    /// A track for the calling thread in a loop, if loops are recorded. `near`: where a caller from outside is.
    #[inline]
    pub(crate) fn track(
        &self,
        near: usize,
        of: impl FnOnce(&Recorder) -> LoopId,
    ) -> Option<Box<Track>> {
        self.recorder.is_on().then(|| {
            let who = match self.own_seat() {
                Some(seat) => Who::Worker(seat),
                None => {
                    let seats = self.seats.count();
                    let near =
                        if near < seats { near } else { self.seats.nearest_below(near, seats) };
                    Who::Caller(std::thread::current().id(), near)
                }
            };
            Box::new(Track::new(who, of(&self.recorder)))
        })
    }

    /// The current thread is the worker of `seat` from now on.
    pub(crate) fn take_place(&self, seat: usize) {
        PLACE.set(Place { pool: std::ptr::from_ref(self).addr(), seat });
    }

    /// Where the calling thread, which runs on this CPU, sits in a loop of `width` seats that it launches.
    pub(crate) fn caller_seat(&self, width: usize, cpu: Option<usize>) -> Thief {
        let near = self.own_seat().unwrap_or_else(|| self.seats.near_caller(cpu));
        if near < width {
            return Thief { seat: near, near };
        }
        Thief { seat: self.seats.nearest_below(near, width), near }
    }

    /// A lane for one loop; `None` if all are taken.
    pub(crate) fn claim_lane(&self) -> Option<&Lane> {
        let last = LAST_LANE.get();
        let count = self.lanes.len();
        for step in 0..count {
            let index = if step == 0 && last < count { last } else { (last + step) % count };
            if self.lanes[index].claim() {
                if step > 0 {
                    LAST_LANE.set(index);
                }
                if index >= self.lanes_used.load(Ordering::Relaxed) {
                    self.lanes_used.fetch_max(index + 1, Ordering::Relaxed);
                }
                return Some(&self.lanes[index]);
            }
        }
        None
    }

    /// Whether a loop is shared at the moment.
    pub(crate) fn has_caller(&self) -> bool {
        self.watched().iter().any(Lane::is_taken)
    }

    /// The lanes that workers watch.
    #[inline]
    pub(crate) fn watched(&self) -> &[Lane] {
        &self.lanes[..self.lanes_used.load(Ordering::Relaxed)]
    }

    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Where what is, in words, for who counts accesses.
    #[cfg(feature = "simulator")]
    pub(crate) fn parts(&self) -> crate::sync::counted::Parts {
        let mut parts = crate::sync::counted::Parts::default();
        self.lanes.iter().for_each(|lane| lane.parts(&mut parts));
        self.sleepers.parts(&mut parts);
        for (seat, counters) in self.counters.iter().enumerate() {
            parts.add(format!("seat {seat}: counters"), &**counters);
        }
        self.alone.parts(&mut parts);
        parts.add("pool: lanes in use", &self.lanes_used);
        parts.add("pool: width", &self.crew);
        parts.add("pool", self);
        parts
    }

    pub(crate) fn count_worker(&self, seat: usize, stats: &Stats) {
        self.counters[seat].add(stats);
    }

    #[inline]
    pub(crate) fn count_serial(&self) {
        self.alone.count(Place::here().pool != 0);
    }

    /// Whether other callers, as far as they have run loops alone of late, need at least half as many CPUs as the pool has
    /// seats; `took`: about how long such a loop takes, in ticks. For a moment it says what it has said.
    pub(crate) fn has_company(&self, took: u64) -> bool {
        let others = self.alone.others(took, self.patience / 2);
        others != 0 && 2 * others >= self.width()
    }

    pub(crate) fn count_inline_job(&self) {
        self.inline_jobs.fetch_add(1, Ordering::Relaxed);
    }

    /// Work besides loops, if there ever was any.
    #[inline]
    pub(crate) fn side_work(&self) -> Option<&dyn SideWork> {
        self.side_work.newest().map(|work| &**work)
    }

    /// Work besides loops; `make` makes the place for it.
    pub(crate) fn side_work_or(&self, make: impl FnOnce() -> Box<dyn SideWork>) -> &dyn SideWork {
        &**self.side_work.newest_or_add(make)
    }

    pub(crate) fn stats(&self) -> Stats {
        let mut sum = Stats {
            serial_loops: self.alone.total(),
            jobs_inline: self.inline_jobs.load(Ordering::Relaxed),
            ..Stats::default()
        };
        for counters in &self.counters {
            sum += counters.read();
        }
        for lane in &self.lanes {
            sum += lane.counters().read();
        }
        sum
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Pool, Topology};

    /// Where seats crowd, who comes in wakes one more; else some.
    #[test]
    fn crowds_are_woken_one_by_one() {
        let wakes = |threads| {
            let topology = Topology::regular(1, 1, 4);
            let pool = Pool::builder().threads(threads).topology(topology).build().unwrap();
            pool.shared().wakes_per_worker
        };
        assert_eq!((wakes(4), wakes(5)), (4, 1));
    }
}
