//! A thread at work on a loop: it asks the step function what to do, and waits where it must.

use std::cell::Cell;
use std::ops::Range;

use crate::clock;
use crate::pool::{Lane, Ticket};
use crate::sched::{Ending, Step, View, Walk};
use crate::stats::Stats;
use crate::stats::timeline::{Origin, Track};
use crate::sync::{spin_loop, yield_now};

/// A thread that works on a loop.
pub(crate) struct Participant<'a> {
    work: Work<'a>,
    ending: &'a Ending,
    /// Which position runs; `None` outside of chunks.
    position: Cell<Option<u64>>,
    left: bool,
    /// What it does, while loops are recorded.
    track: Option<Box<Track>>,
}

/// Where chunks come from.
enum Work<'a> {
    /// The loop is shared with others.
    Shared { view: &'a View<'a>, walk: &'a mut Walk, wait: Wait<'a> },
    /// The caller runs the loop alone: what is left.
    Alone(Range<u64>),
}

/// How a participant waits.
enum Wait<'a> {
    /// It sleeps in the end, on its lane's bell.
    Caller {
        ticket: &'a Ticket<'a>,
        /// After how many chunks to look for sleepers; 0: never.
        look_after: u8,
    },
    /// It only lets others run.
    Worker,
    /// There is nobody to wait for: a fork inside of the loop has left them behind.
    Nobody,
}

impl<'a> Participant<'a> {
    pub(in crate::loops) fn alone(len: u64, ending: &'a Ending) -> Self {
        let (work, position) = (Work::Alone(0..len), Cell::new(None));
        Self { work, ending, position, left: false, track: None }
    }

    /// The caller, who has sat down.
    #[inline]
    pub(super) fn caller(ticket: &'a Ticket<'a>, walk: &'a mut Walk) -> Self {
        Self::shared(&ticket.view, walk, Wait::Caller { ticket, look_after: 0 })
    }

    /// The caller is to look for workers that sleep, once it has run a chunk.
    #[inline]
    pub(super) fn look_for_sleepers(&mut self) {
        if let Work::Shared { wait: Wait::Caller { look_after, .. }, .. } = &mut self.work {
            // The second time that it asks for a chunk.
            *look_after = 2;
        }
    }

    /// A worker that has entered the loop.
    #[inline]
    pub(super) fn worker(ticket: &'a Ticket<'a>, walk: &'a mut Walk) -> Self {
        Self::shared(&ticket.view, walk, Wait::Worker)
    }

    #[inline]
    fn shared(view: &'a View<'a>, walk: &'a mut Walk, wait: Wait<'a>) -> Self {
        Self {
            ending: view.board.ending(),
            work: Work::Shared { view, walk, wait },
            position: Cell::new(None),
            left: false,
            track: None,
        }
    }

    /// The next chunk of positions to run, never empty; `None` once the loop holds no more work for this participant.
    /// For the caller that is when all others have left.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Range<u64>> {
        if self.track.is_some() { self.take_recorded() } else { self.take() }
    }

    #[cold]
    fn take_recorded(&mut self) -> Option<Range<u64>> {
        if let Some(track) = &mut self.track {
            track.ends(clock::ticks());
        }
        let chunk = self.take();
        if let Some((track, chunk)) = self.track.as_mut().zip(chunk.as_ref()) {
            let origin = match &self.work {
                Work::Shared { view, walk, .. } => walk.origin(view, chunk.start),
                Work::Alone(_) => Origin::Own,
            };
            track.begins(chunk.clone(), origin, clock::ticks());
        }
        chunk
    }

    #[inline]
    fn take(&mut self) -> Option<Range<u64>> {
        self.position.set(None);
        let chunk = match &mut self.work {
            Work::Alone(left) => {
                let end = left.end.min(self.ending.bound());
                let chunk = left.start..end;
                *left = end..end;
                Some(chunk).filter(|chunk| !chunk.is_empty())
            }
            Work::Shared { view, walk, wait } => next_shared(view, walk, wait),
        };
        self.position.set(chunk.as_ref().map(|chunk| chunk.start));
        self.left = chunk.is_none();
        chunk
    }

    /// Positions at or above this one need not be started any more (`u64::MAX`: nothing has ended the loop yet).
    /// One relaxed load of a line that is written only when a loop is left early.
    #[inline]
    pub(crate) fn bound(&self) -> u64 {
        self.ending.bound()
    }

    /// Where the loop's end is told.
    #[inline]
    pub(super) fn ending(&self) -> &'a Ending {
        self.ending
    }

    /// Says that the iteration at `position` left the loop: everything below still runs, nothing above is started.
    pub(crate) fn exit_at(&self, position: u64) {
        self.ending.exit_at(position);
    }

    /// Says which position was running, from a guard that is dropped while a panic unwinds. Without it a panic counts
    /// as one of the first position of the chunk.
    pub(crate) fn panicked_at(&self, position: u64) {
        self.position.set(Some(position));
    }

    /// Where a panic that was just caught came from. Before and between chunks that is before everything, as where a state
    /// is made; once there are no more chunks it is after everything, as where a state is dropped: then the panics of
    /// iterations are lower, but it counts wherever the loop was left.
    pub(super) fn position(&self) -> u64 {
        if self.left { u64::MAX } else { self.position.get().unwrap_or(0) }
    }

    /// Whether [`next`](Self::next) has said that there is no more work.
    pub(super) fn has_left(&self) -> bool {
        self.left
    }

    /// Writes what it does into `track` from now on, if there is one.
    pub(super) fn record(&mut self, track: Option<Box<Track>>) {
        self.track = track;
    }

    pub(super) fn take_track(&mut self) -> Option<Box<Track>> {
        self.track.take()
    }

    /// What was counted so far, if the loop is shared with others.
    #[inline]
    pub(super) fn tally(&mut self) -> Option<&mut Stats> {
        match &mut self.work {
            Work::Alone(_) => None,
            Work::Shared { walk, .. } => Some(walk.tally()),
        }
    }
}

/// How many times a participant asks again after a few pauses before it lets other threads run: some microseconds, which
/// is what a call of the system takes.
const SPINS: u32 = 64;
/// The pauses between two questions, some 40 nanoseconds: nobody who waits longer than that for an answer waits for nothing.
const PAUSES: u32 = 4;
/// How many times it lets others run at least before the caller sleeps, and for which share of the longest patience:
/// about as long as being woken would take, so that sleeping never costs more than twice the wait.
const YIELDS: u32 = 32;
const SLEEP_SHARE: u64 = 2;

fn next_shared(view: &View<'_>, walk: &mut Walk, wait: &mut Wait<'_>) -> Option<Range<u64>> {
    if let Wait::Caller { ticket, look_after } = wait
        && *look_after > 0
    {
        *look_after -= 1;
        if *look_after == 0 {
            walk.tally().wakes += ticket.wake_overlooked();
        }
    }
    let mut asked = 0;
    let mut yields_since = 0;
    loop {
        match walk.step(view, clock::ticks) {
            Step::Run(chunk) => return Some(chunk),
            Step::Leave => return None,
            Step::Pause(seat) => pause(view, Some(seat)),
            Step::Wait(seat) => {
                if asked < SPINS {
                    pause(view, seat);
                } else {
                    if asked == SPINS {
                        yields_since = clock::ticks();
                    }
                    let waited = || clock::ticks().saturating_sub(yields_since);
                    if asked == SPINS + YIELDS {
                        look_for_others(wait);
                    }
                    match (&*wait, seat) {
                        (Wait::Nobody, _) => return None,
                        (Wait::Caller { ticket, .. }, Some(seat))
                            if asked >= SPINS + YIELDS
                                && waited() >= view.patience / SLEEP_SHARE =>
                        {
                            sleep_until_left(view, ticket.lane, seat);
                        }
                        _ => yield_now(),
                    }
                }
                asked = asked.saturating_add(1);
            }
        }
    }
}

/// The caller has waited for a while. The child of a fork inside of a loop's body would wait for ever: it says so instead,
/// once, and is alone from then on.
#[cold]
fn look_for_others(wait: &mut Wait<'_>) {
    if let Wait::Caller { ticket, .. } = wait
        && !ticket.lane.is_of_this_process()
    {
        *wait = Wait::Nobody;
        panic!(
            "this process is the child of a fork that was made inside of a parallel loop: the threads that were at work \
             on the loop are the parent's, so it cannot end here. Fork outside of loops, or end the child inside of \
             the body, as by `exec` or `_exit`"
        );
    }
}

/// Waits for some pauses, or until the owner of `seat`, if it is one that is waited for, has left.
#[inline]
fn pause(view: &View<'_>, seat: Option<usize>) {
    for _ in 0..PAUSES {
        if seat.is_some_and(|seat| view.board.departure(seat).has_left(view.generation)) {
            return;
        }
        spin_loop();
    }
}

/// The caller has nothing left to do but to wait for the owner of `seat` to leave, which takes its time.
#[cold]
fn sleep_until_left(view: &View<'_>, lane: &Lane, seat: usize) {
    if view.board.departure(seat).await_leave(view.generation) {
        lane.bell().wait();
    } else {
        yield_now();
    }
}
