//! Models of the pool's protocols, checked with every interleaving (up to a bound of preemptions) by loom. The code
//! that runs in them is the code that the pool runs: lanes, boards, walks and sleepers.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;

use super::lane::{Epoch, Lane, Notice};
use super::sleep::Sleepers;
use crate::sched::{Deal, Entry, Kind, Locality, Orders, Step, Thief, View, Walk};
use crate::sync::Ordering;

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 100_000;
    builder.check(model);
}

/// What the iterations of a loop write: a cell each, so that an iteration that runs twice, or whose write is not handed
/// over to the caller, is a data race that loom sees.
struct Cells(Vec<UnsafeCell<u32>>);

// SAFETY: not sound by itself; loom checks every access.
unsafe impl Sync for Cells {}
// SAFETY: as above.
unsafe impl Send for Cells {}

impl Cells {
    fn new(len: u64) -> Self {
        Self((0..len).map(|_| UnsafeCell::new(0)).collect())
    }

    fn write(&self, index: u64) {
        // SAFETY: loom reports it if another thread accesses the cell meanwhile.
        self.0[index as usize].with_mut(|cell| unsafe { *cell += 1 });
    }

    fn read(&self, index: u64) -> u32 {
        // SAFETY: as above.
        self.0[index as usize].with(|cell| unsafe { *cell })
    }
}

#[derive(Clone, Copy)]
struct Loop {
    kind: Kind,
    len: u64,
    width: usize,
}

unsafe fn never_called(_: *const (), _: &super::Ticket<'_>) {
    unreachable!("the model calls participants itself");
}

fn view<'a>(lane: &'a Lane, orders: &'a Orders, epoch: Epoch, this: Loop) -> View<'a> {
    View {
        board: &lane.board,
        orders,
        deal: Deal::new(this.len, 1, epoch.width()),
        kind: this.kind,
        locality: Locality::Llc,
        grain: 1,
        generation: epoch.generation(),
        launched: 0,
        patience: 0,
        grace: 0,
        caller: Some(0),
    }
}

fn participate(view: &View<'_>, mut walk: Walk, cells: &Cells) {
    loop {
        match walk.step(view, || 1) {
            Step::Run(positions) => positions.for_each(|i| cells.write(i)),
            Step::Wait(_) | Step::Pause(_) => thread::yield_now(),
            Step::Leave => return,
        }
    }
}

/// As the launcher does it.
fn call(lane: &Lane, orders: &Orders, this: Loop, cells: &Cells) {
    let epoch = Epoch::new(lane.next_generation(), this.width, this.kind.publishes());
    let notice = Notice {
        run: never_called,
        data: std::ptr::null(),
        len: this.len,
        unit: 1,
        launched: 0,
        kind: this.kind,
        grain: 1,
        locality: Locality::Llc,
        from_front: false,
        caller: 0,
    };
    if !this.kind.has_blocks() {
        lane.board.reset_counter();
    }
    let view = view(lane, orders, epoch, this);
    let walk = Walk::caller(Thief { seat: 0, near: 0 }).seated(&view);
    // SAFETY: the model holds the lane, and nobody calls `run`.
    unsafe { lane.open(epoch, notice) };
    participate(&view, walk, cells);
    lane.board.clear(&view.deal);
    for index in 0..this.len {
        assert_eq!(cells.read(index), 1, "iteration {index}");
    }
}

/// As a worker does it, `looks` times.
fn work(lane: &Lane, orders: &Orders, seat: usize, loops: &[(Loop, Cells)], looks: usize) {
    let mut seen = Epoch::new(crate::sched::Generation::default(), 0, false).generation();
    for _ in 0..looks {
        let epoch = lane.epoch();
        if epoch.generation() == seen {
            thread::yield_now();
            continue;
        }
        seen = epoch.generation();
        let entry = lane.enter(epoch, seat);
        if matches!(entry, Entry::Never | Entry::NotNow) {
            continue;
        }
        // SAFETY: this thread is inside the loop.
        let notice = unsafe { lane.read_notice() };
        let (this, cells) = &loops[epoch.generation().bits() as usize - 1];
        assert_eq!((notice.len, notice.kind), (this.len, this.kind));
        let view = view(lane, orders, epoch, *this);
        let walk = match entry {
            Entry::Late => Walk::late(seat, &view),
            _ => Walk::owner(seat, &view),
        };
        participate(&view, walk, cells);
        if lane.board.departure(seat).leave(epoch.generation()) {
            lane.bell().ring();
        }
    }
}

/// A caller runs these loops one after the other while workers come and go.
fn loops_on_one_lane(loops: &'static [Loop], workers: usize, looks: usize) {
    check(move || {
        let lane = Arc::new(Lane::new(workers + 1));
        let orders = Arc::new(Orders::cyclic());
        let loops: Arc<Vec<(Loop, Cells)>> =
            Arc::new(loops.iter().map(|&this| (this, Cells::new(this.len))).collect());
        let workers: Vec<_> = (1..=workers)
            .map(|seat| {
                let (lane, orders, loops) = (lane.clone(), orders.clone(), loops.clone());
                thread::spawn(move || work(&lane, &orders, seat, &loops, looks))
            })
            .collect();
        assert!(lane.claim());
        for (this, cells) in loops.iter() {
            call(&lane, &orders, *this, cells);
        }
        lane.release();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn loom_steal_two_participants() {
    loops_on_one_lane(&[Loop { kind: Kind::Steal, len: 4, width: 2 }], 1, 1);
}

#[test]
fn loom_steal_three_participants() {
    loops_on_one_lane(&[Loop { kind: Kind::Steal, len: 3, width: 3 }], 2, 1);
}

#[test]
fn loom_static_two_participants() {
    loops_on_one_lane(&[Loop { kind: Kind::Static, len: 2, width: 2 }], 1, 1);
}

#[test]
fn loom_dealt_chunks_two_participants() {
    loops_on_one_lane(&[Loop { kind: Kind::StaticChunk(1), len: 4, width: 2 }], 1, 1);
}

#[test]
fn loom_counter_two_participants() {
    loops_on_one_lane(&[Loop { kind: Kind::DynamicChunk(1), len: 3, width: 2 }], 1, 1);
}

/// A worker that saw the first loop may come only when the second is open: it must get into neither wrongly. This is
/// the race in which a claim repeated after a lost compare-exchange once entered a loop that was over.
#[test]
fn loom_a_slow_worker_never_enters_a_loop_that_is_over() {
    static LOOPS: [Loop; 2] = [
        Loop { kind: Kind::Steal, len: 2, width: 2 },
        Loop { kind: Kind::Steal, len: 3, width: 2 },
    ];
    loops_on_one_lane(&LOOPS, 1, 2);
}

/// Loops of different widths: the seat's word is not touched by the narrow one.
#[test]
fn loom_narrow_loops_between_wide_ones() {
    static LOOPS: [Loop; 3] = [
        Loop { kind: Kind::Static, len: 2, width: 2 },
        Loop { kind: Kind::Static, len: 1, width: 1 },
        Loop { kind: Kind::Steal, len: 2, width: 2 },
    ];
    loops_on_one_lane(&LOOPS, 1, 2);
}

/// An exit empties the board for the next loop.
#[test]
fn loom_exit_then_the_next_loop() {
    check(|| {
        let lane = Arc::new(Lane::new(2));
        let orders = Arc::new(Orders::cyclic());
        let this = Loop { kind: Kind::Steal, len: 4, width: 2 };
        let loops = Arc::new(vec![(this, Cells::new(4)), (this, Cells::new(4))]);
        let worker = {
            let (lane, orders, loops) = (lane.clone(), orders.clone(), loops.clone());
            thread::spawn(move || work(&lane, &orders, 1, &loops, 2))
        };
        assert!(lane.claim());
        lane.board.ending().exit_at(1);
        let epoch = Epoch::new(lane.next_generation(), 2, true);
        let notice = Notice {
            run: never_called,
            data: std::ptr::null(),
            len: 4,
            unit: 1,
            launched: 0,
            kind: this.kind,
            grain: 1,
            locality: Locality::Llc,
            from_front: false,
            caller: 0,
        };
        let view = view(&lane, &orders, epoch, this);
        let walk = Walk::caller(Thief { seat: 0, near: 0 }).seated(&view);
        // SAFETY: the model holds the lane, and nobody calls `run`.
        unsafe { lane.open(epoch, notice) };
        participate(&view, walk, &loops[0].1);
        assert_eq!(loops[0].1.read(0), 1);
        assert_eq!((1..4).map(|i| loops[0].1.read(i)).sum::<u32>(), 0);
        lane.board.clear(&view.deal);
        call(&lane, &orders, this, &loops[1].1);
        lane.release();
        worker.join().unwrap();
    });
}

/// The caller sleeps until the worker of seat 1 leaves. In some interleavings it must indeed have slept.
fn the_sleeping_caller_is_woken(kind: Kind) {
    let slept = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let sleeps = slept.clone();
    check(move || {
        let lane = Arc::new(Lane::new(2));
        let orders = Arc::new(Orders::cyclic());
        let this = Loop { kind, len: 2, width: 2 };
        let cells = Arc::new(Cells::new(2));
        let epoch = Epoch::new(lane.next_generation(), 2, kind.publishes());
        let notice = Notice {
            run: never_called,
            data: std::ptr::null(),
            len: 2,
            unit: 1,
            launched: 0,
            kind: this.kind,
            grain: 1,
            locality: Locality::Llc,
            from_front: false,
            caller: 0,
        };
        assert!(lane.claim());
        let view = view(&lane, &orders, epoch, this);
        let mut walk = Walk::caller(Thief { seat: 0, near: 0 }).seated(&view);
        // SAFETY: the model holds the lane, and nobody calls `run`.
        unsafe { lane.open(epoch, notice) };
        // The worker has come in already: what matters here is how it leaves.
        assert_eq!(lane.enter(epoch, 1), Entry::Owner);
        let worker = {
            let (lane, orders, cells) = (lane.clone(), orders.clone(), cells.clone());
            thread::spawn(move || {
                let view = self::view(&lane, &orders, epoch, this);
                participate(&view, Walk::owner(1, &view), &cells);
                if lane.board.departure(1).leave(epoch.generation()) {
                    lane.bell().ring();
                }
            })
        };
        loop {
            match walk.step(&view, || 1) {
                Step::Run(positions) => positions.for_each(|i| cells.write(i)),
                Step::Wait(Some(seat)) => {
                    if view.board.departure(seat).await_leave(view.generation) {
                        sleeps.fetch_add(1, Ordering::Relaxed);
                        lane.bell().wait();
                    } else {
                        thread::yield_now();
                    }
                }
                Step::Wait(None) | Step::Pause(_) => thread::yield_now(),
                Step::Leave => break,
            }
        }
        assert_eq!(cells.read(0) + cells.read(1), 2);
        lane.release();
        worker.join().unwrap();
    });
    assert!(slept.load(Ordering::Relaxed) > 0, "the caller never slept");
}

#[test]
fn loom_the_sleeping_caller_is_woken() {
    the_sleeping_caller_is_woken(Kind::Static);
}

#[test]
fn loom_the_sleeping_caller_of_a_loop_with_stealing_is_woken() {
    the_sleeping_caller_is_woken(Kind::Steal);
}

/// A worker that falls asleep while a loop is opened may be overlooked, but not once the caller has run its first chunk.
#[test]
fn loom_a_worker_that_falls_asleep_during_a_launch_is_woken() {
    check(|| {
        let shared = Arc::new((Lane::new(2), Sleepers::new(2)));
        let (lane, sleepers) = &*shared;
        let first = lane.next_generation();
        let worker = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (lane, sleepers) = &*shared;
                let is_open = || lane.epoch().generation() == first;
                while !is_open() {
                    sleepers.announce(1);
                    if is_open() {
                        sleepers.retract(1);
                    } else {
                        sleepers.sleep(1);
                    }
                }
                // SAFETY: this thread has seen the epoch, and the notice is not written again.
                assert_eq!(unsafe { lane.read_notice() }.len, 2);
            })
        };
        let notice = Notice {
            run: never_called,
            data: std::ptr::null(),
            len: 2,
            unit: 1,
            launched: 0,
            kind: Kind::Static,
            grain: 1,
            locality: Locality::Llc,
            from_front: false,
            caller: 0,
        };
        assert!(lane.claim());
        // SAFETY: the model holds the lane, and nobody calls `run`.
        unsafe { lane.open(Epoch::new(first, 2, false), notice) };
        // As `Shared::wake_near` and `Ticket::wake_overlooked` do it.
        if !(sleepers.any_below(2, 0) && sleepers.wake(1)) {
            sleepers.published();
            if sleepers.any_below(2, 0) {
                sleepers.wake(1);
            }
        }
        worker.join().unwrap();
    });
}

/// A worker that goes to sleep while work is published never sleeps through it.
#[test]
fn loom_no_wake_up_is_lost() {
    check(|| {
        let sleepers = Arc::new(Sleepers::new(1));
        let work = Arc::new(AtomicBool::new(false));
        let worker = {
            let (sleepers, work) = (sleepers.clone(), work.clone());
            thread::spawn(move || {
                while !work.load(Ordering::Acquire) {
                    sleepers.announce(0);
                    if work.load(Ordering::Acquire) {
                        sleepers.retract(0);
                    } else {
                        sleepers.sleep(0);
                    }
                }
                // A ring that was not taken would end the next sleep at once, which is harmless, but none may be owed.
                assert!(!sleepers.wake(0));
            })
        };
        work.store(true, Ordering::Release);
        sleepers.published();
        sleepers.wake(0);
        worker.join().unwrap();
    });
}

/// Two wakers and one sleeper: the sleeper is woken by one of them, once.
#[test]
fn loom_two_wakers_ring_once() {
    check(|| {
        let sleepers = Arc::new(Sleepers::new(1));
        sleepers.announce(0);
        let other = {
            let sleepers = sleepers.clone();
            thread::spawn(move || sleepers.wake(0))
        };
        let here = sleepers.wake(0);
        let there = other.join().unwrap();
        assert!(here != there);
        sleepers.sleep(0);
    });
}

/// Only one caller gets a lane, and the next sees all that the last one did.
#[test]
fn loom_a_lane_has_one_caller() {
    check(|| {
        let lane = Arc::new(Lane::new(1));
        let cells = Arc::new(Cells::new(1));
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let (lane, cells) = (lane.clone(), cells.clone());
                thread::spawn(move || {
                    if lane.claim() {
                        cells.write(0);
                        lane.release();
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
        assert!(cells.read(0) >= 1);
    });
}
