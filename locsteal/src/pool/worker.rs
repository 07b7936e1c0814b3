//! A worker's life: watch the lanes, take part in loops, do side work, spin for a while, sleep.
//!
//! A worker looks at loops and at side work in turn: after a loop at side work first, after a piece of side work at
//! loops first. So neither keeps it from the other for longer than one loop, or one piece of work, lasts.

use super::aside::Aside;
use super::fork::Process;
use super::lane::{Epoch, Lane};
use super::shared::{Shared, Ticket};
use crate::clock::ticks;
use crate::sched::{Entry, Generation};
use crate::stats::Stats;

/// Works at `seat` until the crew is dismissed.
pub(crate) fn work(shared: &Shared, seat: usize, crew: u64) {
    shared.take_place(seat);
    let mut watch = Watch::new(shared, seat);
    let mut idle = Idle::new(shared.spin);
    while shared.crew() == crew {
        let took_part = watch.take_part();
        if let Some(caller) = watch.beside.take() {
            let moved = watch.aside.leave_to(shared, seat, caller);
            idle.end(if moved { Waiting::Nobody } else { Waiting::Somebody });
        } else if took_part {
            idle.end(Waiting::Nobody);
        } else if watch.side.look() {
            idle.end(Waiting::Somebody);
        } else {
            match idle.next() {
                Pause::Spin => watch.spin(),
                Pause::Yield => crate::sync::yield_now(),
                Pause::Sleep => watch.sleep(crew),
            }
        }
    }
    watch.side.depart();
    shared.sleepers.part(seat);
}

/// How often an idle worker looks whether there is a loop, before it looks at everything else that there may be for it.
const PAUSES: u32 = 4;

/// Which loop of each lane the worker has dealt with.
struct Watch<'a> {
    shared: &'a Shared,
    seat: usize,
    seen: Vec<Generation>,
    /// Whether it could come into the last loop that it tried there: not where the caller sits in its seat.
    welcome: Vec<bool>,
    side: Side<'a>,
    /// The seat of a caller that was found on the same CPU, which it may be waiting for.
    beside: Option<usize>,
    aside: Aside,
    process: Process,
}

/// The worker's part in what it does besides loops.
struct Side<'a> {
    shared: &'a Shared,
    seat: usize,
    /// Whether there is any such work on this pool, and it knows of this worker.
    arrived: bool,
    /// Counts the looks.
    turn: u32,
}

impl Side<'_> {
    /// Does one piece of work, if there is any.
    #[inline]
    fn look(&mut self) -> bool {
        let Some(work) = self.shared.side_work() else {
            return false;
        };
        if !self.arrived {
            self.arrived = true;
            work.arrive(self.seat);
        }
        self.turn = self.turn.wrapping_add(1);
        work.look(self.shared, self.seat, self.turn)
    }

    /// The worker is about to do something else for a while; gives back whether it has done some work first.
    fn turn_away(&self) -> bool {
        let work = self.shared.side_work().filter(|_| self.arrived);
        work.is_some_and(|work| work.turn_away(self.shared, self.seat))
    }

    /// As [`turn_away`](Self::turn_away), for a loop: work that waits is left to others.
    #[cold]
    fn turn_to_loop(&self) -> bool {
        let worked = self.turn_away();
        if let Some(work) = self.shared.side_work() {
            work.hand_over(self.shared);
        }
        worked
    }

    fn waits(&self) -> bool {
        self.shared.side_work().is_some_and(super::side_work::SideWork::waits)
    }

    fn depart(&self) {
        if let Some(work) = self.shared.side_work() {
            work.depart(self.shared, self.seat);
        }
    }
}

impl<'a> Watch<'a> {
    fn new(shared: &'a Shared, seat: usize) -> Self {
        Self {
            shared,
            seat,
            seen: vec![Generation::default(); shared.lanes()],
            welcome: vec![true; shared.lanes()],
            side: Side { shared, seat, arrived: false, turn: 0 },
            beside: None,
            aside: Aside::new(),
            process: Process::this(),
        }
    }

    /// Takes part in every open loop that has room for this seat; gives back whether there was one, or other work.
    fn take_part(&mut self) -> bool {
        let mut took_part = false;
        let side = &mut self.side;
        let known = self.seen.iter_mut().zip(&mut self.welcome);
        for (lane, (seen, welcome)) in self.shared.watched().iter().zip(known) {
            let mut epoch = lane.epoch();
            if epoch.generation() == *seen {
                continue;
            }
            if self.seat >= epoch.width() {
                *seen = epoch.generation();
                continue;
            }
            if epoch.hold() > 0 && !outlives(lane, epoch, self.shared.hold) {
                // Loops come fast: others may be worth it, if this worker has a place in them at all. Jobs do not wait for them.
                took_part |= *welcome;
                side.look();
                continue;
            }
            if side.arrived && lane.could_enter(epoch, self.seat) && side.turn_to_loop() {
                took_part = true;
                epoch = lane.epoch();
            }
            match lane.enter(epoch, self.seat) {
                Entry::NotNow => {}
                Entry::Never => {
                    (*seen, *welcome) = (epoch.generation(), false);
                    // Who has no place in a loop because its caller sits there has nothing to move for.
                    let caller = lane.caller_here().filter(|caller| *caller != self.seat);
                    self.beside = self.beside.or(caller);
                }
                entry @ (Entry::Owner | Entry::Late) => {
                    (*seen, *welcome) = (epoch.generation(), true);
                    self.beside = join(self.shared, lane, epoch, self.seat, entry);
                    self.process.ends_in_child();
                    took_part = true;
                    side.look();
                }
            }
        }
        took_part
    }

    /// Waits for some pauses, or until a loop is announced.
    #[inline]
    fn spin(&self) {
        for _ in 0..PAUSES {
            crate::sync::spin_loop();
            let mut lanes = self.shared.watched().iter().zip(&self.seen);
            if lanes.any(|(lane, seen)| lane.epoch().generation() != *seen) {
                return;
            }
        }
    }

    /// Sleeps until woken, unless there is something to do.
    fn sleep(&mut self, crew: u64) {
        if self.side.turn_away() {
            return;
        }
        self.shared.sleepers.announce(self.seat);
        let open = |(lane, &seen): (&Lane, &Generation)| {
            let epoch = lane.epoch();
            epoch.generation() != seen && lane.could_enter(epoch, self.seat)
        };
        if self.shared.crew() != crew
            || self.shared.watched().iter().zip(&self.seen).any(open)
            || self.side.waits()
        {
            self.shared.sleepers.retract(self.seat);
            return;
        }
        self.shared.count_worker(self.seat, &Stats { parks: 1, ..Stats::default() });
        self.shared.sleepers.sleep(self.seat);
    }
}

/// Whether a tiny loop is not followed by another while the worker holds back, in units of `hold` ticks. Meanwhile the caller
/// has all cache lines for itself.
#[inline]
fn outlives(lane: &Lane, epoch: Epoch, hold: u64) -> bool {
    let (since, hold) = (ticks(), hold << (epoch.hold() - 1));
    // A clock that steps back ends it.
    while ticks().wrapping_sub(since) < hold {
        crate::sync::spin_loop();
    }
    lane.epoch() == epoch
}

/// The worker is inside the loop: works on it, and leaves. The result is the seat of its caller, if that is on the same CPU.
fn join(shared: &Shared, lane: &Lane, epoch: Epoch, seat: usize, entry: Entry) -> Option<usize> {
    // SAFETY: this thread has entered the loop, and leaves it below.
    let notice = unsafe { lane.read_notice() };
    let ticket = Ticket::new(shared, lane, epoch, (seat, entry), &notice);
    // SAFETY: `open` vouched for the call: this seat is below the width, entered, and calls once.
    unsafe { (notice.run)(notice.data, &ticket) };
    if lane.board.departure(seat).leave(epoch.generation()) {
        lane.bell().ring();
    }
    lane.caller_here()
}

/// How long a worker without work spins before it sleeps: as long as it pays, by what the last gaps were like.
struct Idle {
    most: u64,
    /// How long it spins at most before it lets another thread run that may be waiting for this very CPU.
    longest: u64,
    /// The same for now; twice as long each time. Short at first after side work, whose result may be waited for, and after a
    /// loop of a caller on the same CPU. Else another loop may follow at once.
    stretch: u64,
    /// When this gap began; 0: there is work.
    since: u64,
    /// When it last let others run.
    yielded: u64,
    /// The usual length of a gap: a moving average in which one gap counts a quarter.
    usual: u64,
}

/// Who may be waiting for an idle worker's CPU, by what it did last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Nobody,
    Somebody,
}

#[derive(Debug, PartialEq, Eq)]
enum Pause {
    Spin,
    Yield,
    Sleep,
}

impl Idle {
    fn new(most: u64) -> Self {
        let longest = most / 32;
        Self { most, longest, stretch: longest, since: 0, yielded: 0, usual: 0 }
    }

    /// Work has come, and been done.
    fn end(&mut self, waiting: Waiting) {
        self.stretch = match waiting {
            Waiting::Nobody => self.longest,
            Waiting::Somebody => self.longest / 16,
        };
        if self.since != 0 {
            self.end_at(ticks());
        }
    }

    fn end_at(&mut self, now: u64) {
        if self.since != 0 {
            let gap = now.saturating_sub(self.since).min(self.most.saturating_mul(8));
            self.usual = self.usual - self.usual / 4 + gap / 4;
            self.since = 0;
        }
    }

    fn next(&mut self) -> Pause {
        self.next_at(ticks())
    }

    fn next_at(&mut self, now: u64) -> Pause {
        if self.since == 0 {
            (self.since, self.yielded) = (now, now);
        }
        // Where gaps are mostly longer than the longest spin, spinning to the end would be in vain.
        let budget = if self.usual <= self.most { self.most } else { self.most / 8 };
        if now.saturating_sub(self.since) >= budget {
            return Pause::Sleep;
        }
        if now.saturating_sub(self.yielded) >= self.stretch {
            self.yielded = now;
            self.stretch = self.longest.min(self.stretch * 2);
            return Pause::Yield;
        }
        Pause::Spin
    }
}

/// An idle worker without a thread, for who counts what it does.
#[cfg(feature = "simulator")]
pub(crate) struct Attendant<'a>(Watch<'a>);

#[cfg(feature = "simulator")]
impl<'a> Attendant<'a> {
    pub(crate) fn new(shared: &'a Shared, seat: usize) -> Self {
        Self(Watch::new(shared, seat))
    }

    /// One turn of [`work`]: takes part in every loop that is open to it.
    pub(crate) fn turn(&mut self) {
        let shared = self.0.shared;
        shared.crew();
        if !self.0.take_part() {
            self.0.side.look();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod hold_tests;
#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;
    use crate::affinity::{Placement, Seating};
    use crate::pool::{Notice, Seats};
    use crate::sched::{Kind, Locality};
    use crate::topology::Topology;

    #[test]
    fn long_gaps_shorten_the_spin_and_short_ones_bring_it_back() {
        let mut idle = Idle::new(8_000);
        idle.usual = 8_001;
        assert_eq!(idle.next_at(100_000), Pause::Spin);
        assert_ne!(idle.next_at(100_999), Pause::Sleep);
        assert_eq!(idle.next_at(101_000), Pause::Sleep, "an eighth has passed");
        for gap in 0..8 {
            idle.end_at(200_000 + gap);
            idle.next_at(200_000 + gap);
        }
        assert_ne!(idle.next_at(205_000), Pause::Sleep, "gaps are short again");
        assert_eq!(idle.next_at(209_000), Pause::Sleep);
    }

    #[test]
    fn a_spinning_worker_lets_others_run_now_and_then() {
        let mut idle = Idle::new(512_000);
        idle.end(Waiting::Somebody);
        assert_eq!(idle.next_at(10_000), Pause::Spin);
        assert_eq!(idle.next_at(10_999), Pause::Spin);
        assert_eq!(idle.next_at(11_000), Pause::Yield, "a 512th has passed");
        assert_eq!(idle.next_at(12_999), Pause::Spin, "the second time comes later");
        assert_eq!(idle.next_at(13_000), Pause::Yield);
        // After a loop nobody waits for this thread.
        idle.end(Waiting::Nobody);
        assert_eq!(idle.next_at(20_000), Pause::Spin);
        assert_eq!(idle.next_at(35_999), Pause::Spin);
        assert_eq!(idle.next_at(36_000), Pause::Yield);
    }

    /// A loop of this epoch is open; whoever comes in notes it.
    fn open(lane: &Lane, epoch: Epoch, came: &Cell<u32>) {
        unsafe fn note(data: *const (), _: &Ticket<'_>) {
            // SAFETY: it is the cell below, of this thread.
            let came = unsafe { &*data.cast::<Cell<u32>>() };
            came.set(came.get() + 1);
        }
        let notice = Notice {
            run: note,
            data: std::ptr::from_ref(came).cast(),
            len: 2,
            unit: 1,
            launched: 0,
            kind: Kind::Static,
            grain: 1,
            locality: Locality::Llc,
            from_front: false,
            caller: 0,
        };
        // SAFETY: there is but this thread, which is inside of no loop of the lane when it comes here, and the cell outlives
        // what it does with the lane.
        unsafe { lane.open(epoch, notice) };
    }

    fn epoch(number: u64, hold: u8) -> Epoch {
        Epoch::new(Generation::from_bits(number), 2, false).held(hold)
    }

    #[test]
    fn workers_hold_back_from_tiny_loops_the_longer_the_more_there_is_to_do() {
        let machine = Topology::regular(1, 1, 2);
        let homes = Seating::new(&machine, 2).placement(Placement::Free).homes();
        let seats = Seats::new(machine, Placement::Free, homes);
        let mut shared = Shared::new(seats, Duration::ZERO);
        shared.hold = 1 << 16;
        let (lane, came) = (shared.claim_lane().unwrap(), Cell::new(0));
        let mut watch = Watch::new(&shared, 1);
        for (number, hold) in [(1, 1), (2, 2), (3, Epoch::MOST_HOLD)] {
            open(lane, epoch(number, hold), &came);
            let before = ticks();
            assert!(watch.take_part());
            let waited = ticks() - before;
            assert!(waited >= 1 << (15 + hold), "{waited} ticks at {hold}");
            assert_eq!(u64::from(came.get()), number, "it came in the end");
        }
        open(lane, epoch(4, 0), &came);
        assert!(watch.take_part() && came.get() == 4);
    }

    #[test]
    fn who_has_held_back_leaves_a_loop_alone_that_is_over() {
        let (lane, came) = (Lane::new(2), Cell::new(0));
        open(&lane, epoch(2, 1), &came);
        assert!(outlives(&lane, epoch(2, 1), 10));
        assert!(!outlives(&lane, epoch(1, 1), 10), "another has been opened meanwhile");
    }

    #[test]
    fn no_spin_sleeps_at_once() {
        assert_eq!(Idle::new(0).next_at(1), Pause::Sleep);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn a_worker_sees_that_a_caller_is_on_its_own_cpu() {
        use crate::affinity::mask::{current_cpu, set};
        use crate::pool::Seats;
        use crate::pool::lane::Notice;
        use crate::sched::{Deal, Kind, Locality, Step, Thief, View, Walk};
        use crate::{Placement, Seating, Topology};

        unsafe fn nothing(_: *const (), _: &Ticket<'_>) {}

        /// Opens a loop for seats 0 and 1, whose caller sits in seat 0; runs all of it, if told so.
        fn call(shared: &Shared, lane: &Lane, alone: bool) {
            let (kind, locality) = (Kind::Static, Locality::Llc);
            let epoch = Epoch::new(lane.next_generation(), 2, kind.publishes());
            let (generation, deal) = (epoch.generation(), Deal::new(2, 1, 2));
            let view = View {
                board: &lane.board,
                orders: shared.seats.orders(),
                deal,
                kind,
                locality,
                grain: 1,
                generation,
                launched: 0,
                patience: 0,
                grace: 0,
                caller: Some(0),
            };
            let mut walk = Walk::caller(Thief { seat: 0, near: 0 }).seated(&view);
            let (data, caller) = (std::ptr::null(), 0);
            let (run, len, unit) = (nothing as _, 2, 1);
            let notice = Notice {
                run,
                data,
                len,
                unit,
                launched: 0,
                kind,
                grain: 1,
                locality,
                from_front: false,
                caller,
            };
            // SAFETY: the test holds the lane, and `nothing` looks at nothing.
            unsafe { lane.open(epoch, notice) };
            while alone && !matches!(walk.step(&view, || 1), Step::Leave) {}
        }

        std::thread::spawn(|| {
            let here = current_cpu().unwrap();
            set(&[here].into_iter().collect()).unwrap();
            let machine = Topology::regular(1, 1, 2);
            let homes = Seating::new(&machine, 2).homes();
            let seats = Seats::new(machine, Placement::Llc, homes);
            let shared = Shared::new(seats, Duration::ZERO);
            let lane = shared.claim_lane().unwrap();
            for (near, here, alone) in [
                (true, here, true),
                (true, here, false),
                (false, here + 1, true),
                (false, here + 1, false),
            ] {
                lane.note_caller(Some(here), 0);
                call(&shared, lane, alone);
                let mut watch = Watch::new(&shared, 1);
                assert_eq!(watch.take_part(), !alone, "it comes into a loop that is open");
                assert_eq!(watch.beside, near.then_some(0));
                let mut watch = Watch::new(&shared, 0);
                assert!(!watch.take_part());
                assert_eq!(watch.beside, None, "the caller sits in its seat");
            }
        })
        .join()
        .unwrap();
    }
}
