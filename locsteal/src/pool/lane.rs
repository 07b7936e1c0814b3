//! A lane: where one caller at a time announces its loop to the workers.
//!
//! What a worker must know to come in (the epoch: generation, width, whether blocks are published) and what it must
//! know to work (the [`Notice`]) share one cache line, which the caller writes once a loop and workers watch.

use std::mem::size_of;

use crossbeam_utils::CachePadded;

use super::fork::Process;
use super::sleep::Bell;
use crate::affinity::environment::MAX_THREADS;
use crate::affinity::mask::current_cpu;
use crate::sched::{Board, Entry, Generation, Kind, Locality};
use crate::stats::Counters;
use crate::sync::{AtomicBool, AtomicU64, Ordering, SharedCell, alone_on_its_lines};

/// What a worker watches: which loop is open here, and for which seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

impl Epoch {
    const WIDTH_BITS: u32 = 13;
    /// The widest loop.
    pub(crate) const MAX_WIDTH: usize = (1 << Self::WIDTH_BITS) - 1;
    const PUBLISHES: u64 = 1 << Self::WIDTH_BITS;
    const HOLD_SHIFT: u32 = Self::WIDTH_BITS + 1;
    /// The greatest [`hold`](Self::hold).
    pub(crate) const MOST_HOLD: u8 = 3;
    const GENERATION_SHIFT: u32 = Self::HOLD_SHIFT + 2;

    pub(crate) const fn new(generation: Generation, width: usize, publishes: bool) -> Self {
        let publishes = if publishes { Self::PUBLISHES } else { 0 };
        Self(generation.bits() << Self::GENERATION_SHIFT | publishes | width as u64)
    }

    /// The same loop, which is so short that workers hold back from it at first: a little at 1, the longer the more.
    #[inline]
    pub(crate) const fn held(self, hold: u8) -> Self {
        debug_assert!(hold <= Self::MOST_HOLD);
        Self(self.0 | (hold as u64) << Self::HOLD_SHIFT)
    }

    /// How long workers hold back; 0: not at all.
    #[inline]
    pub(crate) const fn hold(self) -> u8 {
        (self.0 >> Self::HOLD_SHIFT) as u8 & Self::MOST_HOLD
    }

    #[inline]
    pub(crate) const fn generation(self) -> Generation {
        Generation::from_bits(self.0 >> Self::GENERATION_SHIFT)
    }

    #[inline]
    pub(crate) const fn width(self) -> usize {
        (self.0 & Self::MAX_WIDTH as u64) as usize
    }

    #[inline]
    pub(crate) const fn publishes(self) -> bool {
        self.0 & Self::PUBLISHES != 0
    }
}

const _: () = assert!(Epoch::GENERATION_SHIFT + Generation::BITS == u64::BITS);
const _: () = assert!(Epoch::MAX_WIDTH >= MAX_THREADS);

/// All that a participant needs to work on a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    /// Takes part in the loop: called with `data`, at most once for each seat, between entering and leaving.
    pub(crate) run: unsafe fn(data: *const (), ticket: &super::Ticket<'_>),
    pub(crate) data: *const (),
    pub(crate) len: u64,
    pub(crate) unit: u64,
    pub(crate) launched: u64,
    pub(crate) kind: Kind,
    pub(crate) grain: u32,
    pub(crate) locality: Locality,
    /// The seat that the caller sits in.
    pub(crate) caller: u16,
}

/// Where the lane's caller was last: the CPU, and the seat that it took. Nobody waits for this line: it is written when it changes.
#[derive(Debug)]
struct Whereabouts(AtomicU64);

impl Whereabouts {
    const UNKNOWN: u64 = u64::MAX;

    #[inline]
    fn write(&self, cpu: Option<usize>, seat: usize) {
        let now = cpu.map_or(Self::UNKNOWN, |cpu| (cpu as u64) << 32 | seat as u64);
        if self.0.load(Ordering::Relaxed) != now {
            self.0.store(now, Ordering::Relaxed);
        }
    }

    /// The CPU and the seat.
    #[inline]
    fn read(&self) -> Option<(usize, usize)> {
        let seen = self.0.load(Ordering::Relaxed);
        (seen != Self::UNKNOWN).then_some(((seen >> 32) as usize, seen as u32 as usize))
    }
}

/// The line that workers watch.
#[derive(Debug)]
struct Down {
    epoch: AtomicU64,
    notice: SharedCell<Option<Notice>>,
}

const _: () = assert!(size_of::<(u64, Option<Notice>)>() <= 64, "one cache line must hold it");

/// What only callers touch.
#[derive(Debug)]
struct CallerSide {
    busy: AtomicBool,
    /// Rung by the owner whose leaving the caller awaits in its sleep.
    bell: Bell,
    /// Where the workers are: loops of the pool in children of forks use no lane.
    process: Process,
    counters: Counters,
}

#[derive(Debug)]
pub(crate) struct Lane {
    down: CachePadded<Down>,
    whereabouts: CachePadded<Whereabouts>,
    side: CachePadded<CallerSide>,
    pub(crate) board: Board,
}

alone_on_its_lines!(Lane: down, whereabouts, side);

// SAFETY: all fields but the notice are `Send` and `Sync` by themselves. The notice holds pointers into the frame of
// the caller, who writes it while it holds the lane (`busy`) and nobody is inside the lane's loop; others read it only
// between entering the loop and leaving it, while the caller waits for them (see `read_notice`).
unsafe impl Sync for Lane {}
// SAFETY: as above; nothing is bound to a thread.
unsafe impl Send for Lane {}

impl Lane {
    pub(crate) fn new(seats: usize) -> Self {
        Self {
            down: CachePadded::new(Down {
                epoch: AtomicU64::new(0),
                notice: SharedCell::new(None),
            }),
            whereabouts: CachePadded::new(Whereabouts(AtomicU64::new(Whereabouts::UNKNOWN))),
            side: CachePadded::new(CallerSide {
                busy: AtomicBool::new(false),
                bell: Bell::new(),
                process: Process::this(),
                counters: Counters::default(),
            }),
            board: Board::new(seats),
        }
    }

    /// Takes the lane for one caller; false if another has it.
    pub(crate) fn claim(&self) -> bool {
        // Acquire: pairs with `release`; the board and the notice are this caller's now.
        !self.side.busy.load(Ordering::Relaxed)
            && self
                .side
                .busy
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Whether a caller has it, a moment ago.
    pub(crate) fn is_taken(&self) -> bool {
        self.side.busy.load(Ordering::Relaxed)
    }

    /// Gives the lane back, after every participant has left.
    pub(crate) fn release(&self) {
        // Release: pairs with `claim`.
        self.side.busy.store(false, Ordering::Release);
    }

    /// The generation of the next loop; only while the lane is claimed.
    pub(crate) fn next_generation(&self) -> Generation {
        Epoch(self.down.epoch.load(Ordering::Relaxed)).generation().next()
    }

    /// Opens a loop to the workers.
    ///
    /// # Safety
    ///
    /// The lane is claimed, the board holds no participant but the caller, and `notice.run(notice.data, ..)` may be
    /// called from any thread for every seat below the epoch's width, until the board says that all have left.
    #[inline]
    pub(crate) unsafe fn open(&self, epoch: Epoch, notice: Notice) {
        // SAFETY: nobody is inside the lane's loop, and only those read the notice.
        unsafe { self.down.notice.write(Some(notice)) };
        // Release: pairs with the acquire in `epoch`; who enters sees the notice and what the caller did before.
        self.down.epoch.store(epoch.0, Ordering::Release);
    }

    #[inline]
    pub(crate) fn epoch(&self) -> Epoch {
        // Acquire: pairs with `open`.
        Epoch(self.down.epoch.load(Ordering::Acquire))
    }

    /// The worker of `seat` tries to come into the loop that it saw.
    pub(crate) fn enter(&self, epoch: Epoch, seat: usize) -> Entry {
        if seat >= epoch.width() {
            return Entry::Never;
        }
        self.board.enter(epoch.generation(), seat, epoch.publishes())
    }

    /// Whether the worker of `seat` could come into the loop that it saw, now or soon.
    pub(crate) fn could_enter(&self, epoch: Epoch, seat: usize) -> bool {
        seat < epoch.width() && self.board.could_enter(epoch.generation(), seat)
    }

    /// # Safety
    ///
    /// The calling thread has entered the loop and not left it yet.
    pub(crate) unsafe fn read_notice(&self) -> Notice {
        // SAFETY: whoever is inside has seen the epoch that was stored after the notice was written, and the notice is
        // written again only after everyone has left.
        unsafe { self.down.notice.read() }.expect("a loop is open")
    }

    /// The caller that holds the lane is on this CPU, if that is known, and sits in this seat.
    #[inline]
    pub(crate) fn note_caller(&self, cpu: Option<usize>, seat: usize) {
        self.whereabouts.write(cpu, seat);
    }

    /// The seat of the lane's last caller, if it was on the CPU that the calling thread is on.
    #[inline]
    pub(crate) fn caller_here(&self) -> Option<usize> {
        let (cpu, seat) = self.whereabouts.read()?;
        (current_cpu() == Some(cpu)).then_some(seat)
    }

    /// Where the lane's caller sleeps.
    pub(crate) fn bell(&self) -> &Bell {
        &self.side.bell
    }

    /// Whether the lane's workers are here, and not in a process that this one was forked from.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.side.process.is_this()
    }

    /// Where what is, in words, for who counts accesses.
    #[cfg(feature = "simulator")]
    pub(crate) fn parts(&self, parts: &mut crate::sync::counted::Parts) {
        parts.add("notice", &*self.down);
        parts.add("lane: caller's place", &*self.whereabouts);
        parts.add("lane: taken", &self.side.busy);
        parts.add("lane: bell", &self.side.bell);
        parts.add("lane: counters", &self.side.counters);
        self.board.parts(parts);
    }

    /// Counts for callers; written only while the lane is claimed.
    pub(crate) fn counters(&self) -> &Counters {
        &self.side.counters
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn epochs_come_back() {
        for generation in [0, 1, (1 << Generation::BITS) - 1].map(Generation::from_bits) {
            for width in [1, 2, Epoch::MAX_WIDTH] {
                for publishes in [false, true] {
                    let epoch = Epoch::new(generation, width, publishes);
                    for hold in 0..=Epoch::MOST_HOLD {
                        let held = epoch.held(hold);
                        assert_eq!((held.generation(), held.width()), (generation, width));
                        assert_eq!((held.publishes(), held.hold()), (publishes, hold));
                    }
                    assert_eq!(epoch.held(0), epoch);
                }
            }
        }
    }
}
