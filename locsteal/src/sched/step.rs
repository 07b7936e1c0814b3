//! The step function: what does this participant do next?

use std::ops::Range;

use super::block::{Span, to_edge};
use super::board::Board;
use super::look::Look;
use super::partition::Deal;
use super::presence::{Generation, Phase};
use super::rules::{Rules, Sight, Standard};
use super::schedule::{Kind, Locality};
use super::victims::{Orders, Thief};
use crate::stats::Stats;
use crate::stats::timeline::Origin;

/// One loop as every participant sees it. Times are in any unit, all by the same clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) board: &'a Board,
    pub(crate) orders: &'a Orders,
    pub(crate) deal: Deal,
    pub(crate) kind: Kind,
    pub(crate) locality: Locality,
    /// The smallest number of units worth handing over, at least 1.
    pub(crate) grain: u32,
    /// Tells this loop from the others that used the board.
    pub(crate) generation: Generation,
    /// When the loop was launched; 0: its blocks are too small to protect.
    pub(crate) launched: u64,
    /// The longest time that a participant leaves blocks alone after its own block is done.
    pub(crate) patience: u64,
    /// How many times the caller asks again, once its own work is done, before it looks at what others do: each look would take
    /// a line away from a worker that is about to be done as well.
    pub(crate) grace: u32,
    /// The caller's seat, if it is known. Its block is begun when the loop is opened.
    pub(crate) caller: Option<usize>,
}

impl View<'_> {
    /// The seat that a position was dealt to; `None` where positions are not dealt to seats.
    pub(crate) fn home(&self, position: u64) -> Option<usize> {
        let unit = self.deal.unit_of(position);
        match self.kind {
            Kind::Static | Kind::Steal => Some(self.deal.seat_of(unit)),
            Kind::StaticChunk(chunk) => Some((unit / chunk) as usize % self.deal.width()),
            Kind::Dynamic | Kind::DynamicChunk(_) | Kind::Growing => None,
        }
    }
}

/// How a participant came into the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It launched the loop, and leaves last.
    Caller,
    /// A worker that begins its seat's block.
    Owner,
    /// A worker whose block another has begun.
    Late,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Run these positions.
    Run(Range<u64>),
    /// There is nothing to take now, but there may be soon: ask again. With a seat: the caller has nothing left to do
    /// but to wait for that seat's owner, who is inside, to leave.
    Wait(Option<usize>),
    /// Ask again after some pauses, or when the owner of this seat has left.
    Pause(usize),
    /// The loop holds no more work for this participant; for the caller: everyone else has left.
    Leave,
}

/// One participant's private state.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(super) thief: Thief,
    pub(super) role: Role,
    /// The block of its own seat, whatever has become of it.
    pub(super) own: Span,
    /// Units taken and not yet given out.
    hand: Span,
    /// The first unit of the next dealt chunk ([`Kind::StaticChunk`]); `None`: none.
    pub(super) dealt: Option<u64>,
    /// The seat whose block it takes from the front: its own, or the one that it rescued last.
    pub(super) at_block: usize,
    /// The size of its last chunk, in units.
    pub(super) last: u32,
    /// When that chunk began; 0: that is not known, or its time has been taken.
    began: u64,
    /// How long its chunks take lately.
    pub(super) pace: Pace,
    /// The first time that it knows of; 0: none yet.
    pub(super) since: u64,
    /// When it first ran out of work.
    pub(super) idle_since: Option<u64>,
    /// Seats below this one have left for good, or are shut (the caller only).
    pub(super) settled: usize,
    /// What is left of [`View::grace`] (the caller only).
    grace: u32,
    pub(super) tally: Stats,
}

/// How long some units took that this participant ran lately.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    pub(super) units: u32,
    pub(super) took: u64,
}

impl Pace {
    /// Whether it comes of so many units that the next ones are likely to take as long. The first of a few files may be
    /// empty.
    pub(super) fn foretells(self) -> bool {
        self.units >= SAMPLE
    }

    /// How long so many units take at this pace; `None`: it is not known.
    pub(super) fn time_of(self, units: u32) -> Option<u64> {
        let known = self.units != 0 && self.took != 0;
        known.then(|| u64::from(units).saturating_mul(self.took) / u64::from(self.units))
    }
}

/// A first chunk is this share of the own block, so that one expensive stretch does not end up in one chunk.
const FIRST_SHARE: u32 = 32;
/// A chunk is at most this share of what is left in the block, so that the tail stays fine.
const MOST_SHARE: u32 = 2;
/// Later chunks are to take about this share of [`View::patience`], the time that waking a worker takes: short enough
/// to balance loops that are worth sharing, long enough that taking chunks costs nothing.
const CHUNK_SHARE: u64 = 16;
/// Where a loop may end anywhere, all together hold at most this share of what has been taken already: that is what may turn
/// out to lie above the end.
const GROWTH_SHARE: u32 = 4;
/// So few units that took little say nothing of those that come.
const SAMPLE: u32 = 8;
/// What takes less than this share of it is not worth sharing.
pub(super) const TINY_SHARE: u64 = 128;

impl Walk {
    /// The caller is going to [sit down](Self::sit_down) at `thief.seat`.
    #[inline]
    pub(crate) fn caller(thief: Thief) -> Self {
        Self::new(thief, Role::Caller)
    }

    /// The owner of `seat` has entered and is going to [sit down](Self::sit_down); `late`: its block was begun by another.
    #[inline]
    pub(crate) fn worker(seat: usize, late: bool) -> Self {
        Self::new(Thief { seat, near: seat }, if late { Role::Late } else { Role::Owner })
    }

    /// Lays out the own block: the caller before the loop is opened to others, an owner when it has just entered.
    ///
    /// Apart from making it, so that it is made where it stays: it is large.
    #[inline]
    pub(crate) fn sit_down(&mut self, view: &View<'_>) {
        let seat = self.thief.seat;
        match self.role {
            Role::Caller => {
                self.began = view.launched;
                self.grace = view.grace;
                self.begin_own(view);
                view.board.seat(seat).presence.publish(view.generation, Phase::Present);
            }
            Role::Owner => {
                self.begin_own(view);
                if view.kind.publishes() {
                    view.board.seat(seat).presence.publish(view.generation, Phase::Present);
                }
            }
            Role::Late => {
                self.own = view.deal.block(seat);
                self.last = self.own.len() / (2 * FIRST_SHARE);
            }
        }
    }

    /// The owner of `seat` has just entered as such.
    #[cfg(any(test, feature = "simulator"))]
    pub(crate) fn owner(seat: usize, view: &View<'_>) -> Self {
        Self::worker(seat, false).seated(view)
    }

    /// The owner of `seat` has just entered, and its block was begun by another.
    #[cfg(any(test, feature = "simulator"))]
    pub(crate) fn late(seat: usize, view: &View<'_>) -> Self {
        Self::worker(seat, true).seated(view)
    }

    #[cfg(any(test, feature = "simulator"))]
    pub(crate) fn seated(mut self, view: &View<'_>) -> Self {
        self.sit_down(view);
        self
    }

    #[inline]
    fn new(thief: Thief, role: Role) -> Self {
        Self {
            thief,
            role,
            own: Span::EMPTY,
            hand: Span::EMPTY,
            dealt: None,
            at_block: thief.seat,
            last: 0,
            began: 0,
            pace: Pace::default(),
            since: 0,
            idle_since: None,
            settled: 0,
            grace: 0,
            tally: Stats::default(),
        }
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn seat(&self) -> usize {
        self.thief.seat
    }

    /// Where a position that this participant runs came from.
    pub(crate) fn origin(&self, view: &View<'_>, position: u64) -> Origin {
        match view.home(position) {
            None => Origin::Shared,
            Some(home) if home == self.thief.seat => Origin::Own,
            Some(home) => Origin::Other(view.orders.tier(self.thief.near, home)),
        }
    }

    /// What this participant has counted since the last call.
    #[cfg(any(all(test, not(loom)), feature = "simulator"))]
    pub(crate) fn take_tally(&mut self) -> Stats {
        std::mem::take(&mut self.tally)
    }

    /// What this participant has counted.
    #[inline]
    pub(crate) fn tally(&mut self) -> &mut Stats {
        &mut self.tally
    }

    #[inline]
    fn begin_own(&mut self, view: &View<'_>) {
        match view.kind {
            Kind::Static => {
                self.own = view.deal.block(self.thief.seat);
                self.hand = self.own;
            }
            Kind::StaticChunk(chunk) => self.dealt = Some(dealt_first(self.thief.seat, chunk)),
            Kind::Steal => {
                self.own = view.deal.block(self.thief.seat);
                self.last = self.own.len() / (2 * FIRST_SHARE);
                let (first, rest) = self.own.split_front(self.chunk(self.own, view));
                self.hand = first;
                self.last = first.len();
                view.board.seat(self.thief.seat).block.set(rest);
            }
            Kind::Dynamic | Kind::DynamicChunk(_) | Kind::Growing => {}
        }
    }

    /// What to do next. `now` is asked only when it matters.
    #[inline]
    pub(crate) fn step(&mut self, view: &View<'_>, now: impl Fn() -> u64) -> Step {
        self.step_by(view, now, &mut Standard)
    }

    /// What to do next by other rules than those of the design.
    #[inline]
    pub(crate) fn step_by(
        &mut self,
        view: &View<'_>,
        now: impl Fn() -> u64,
        rules: &mut impl Rules,
    ) -> Step {
        let limit = view.deal.units_below(view.board.ending().bound());
        let own = match view.kind {
            Kind::Static => self.take_held(limit),
            Kind::StaticChunk(chunk) => self.take_dealt(view, chunk, limit),
            Kind::Steal => {
                self.take_held(limit).or_else(|| self.take_front(view, limit, &now, rules))
            }
            Kind::Dynamic => {
                let share = 2 * view.deal.width() as u32;
                rules.saw(Sight::Counted);
                let choose = |taken, left: u32| to_edge(taken, (left / share).max(view.grain));
                some(view.board.take_counted(limit, choose))
            }
            Kind::DynamicChunk(chunk) => {
                rules.saw(Sight::Counted);
                some(view.board.take_counted(limit, |_, _| chunk))
            }
            Kind::Growing => {
                let share = 2 * view.deal.width() as u32;
                let choose = |taken: u32, left: u32| {
                    let grown = taken / GROWTH_SHARE / share;
                    to_edge(taken, grown.min(left / share).max(view.grain))
                };
                rules.saw(Sight::Counted);
                some(view.board.take_counted(limit, choose))
            }
        };
        if let Some(span) = own {
            return self.run(view, span);
        }
        if self.role == Role::Caller {
            let Some(inside) = self.first_inside(view) else {
                return Step::Leave;
            };
            if self.grace > 0 {
                self.grace -= 1;
                return Step::Pause(inside);
            }
        }
        if view.kind.has_blocks() && !self.sees_only_the_caller(view) {
            match self.look_around(view, limit, &now, rules) {
                Look::Got(span) => return self.run(view, span),
                Look::Later => return Step::Wait(None),
                Look::Nothing => {}
            }
        }
        if self.role == Role::Caller { self.settle(view) } else { Step::Leave }
    }

    #[inline]
    fn run(&mut self, view: &View<'_>, span: Span) -> Step {
        let positions = view.deal.positions(span.lo.into(), span.hi.into());
        let iterations = positions.end - positions.start;
        self.tally.chunks += 1;
        self.tally.iterations += iterations;
        if matches!(view.kind, Kind::Static | Kind::Steal)
            && !(self.own.lo <= span.lo && span.hi <= self.own.hi)
        {
            let home = view.deal.seat_of(span.lo);
            *self.tally.moved.at(view.orders.tier(self.thief.near, home)) += iterations;
        }
        Step::Run(positions)
    }

    /// What this participant holds already.
    fn take_held(&mut self, limit: u32) -> Option<Span> {
        let hand = std::mem::take(&mut self.hand);
        some(below(hand, limit))
    }

    /// The next of the chunks that were dealt to a seat.
    pub(super) fn take_dealt(&mut self, view: &View<'_>, chunk: u32, limit: u32) -> Option<Span> {
        let lo = self.dealt?;
        if lo >= u64::from(limit) {
            self.dealt = None;
            return None;
        }
        let chunk = u64::from(chunk);
        self.dealt = Some(lo + chunk * view.deal.width() as u64);
        let hi = (lo + chunk).min(u64::from(limit));
        some(Span::new(lo as u32, hi as u32))
    }

    /// The next chunk from the front of the block that it works on: a rescued one first, then its own.
    fn take_front(
        &mut self,
        view: &View<'_>,
        limit: u32,
        now: impl Fn() -> u64,
        rules: &mut impl Rules,
    ) -> Option<Span> {
        loop {
            rules.saw(Sight::Took(self.at_block));
            let block = &view.board.seat(self.at_block).block;
            if !block.left().is_empty() {
                let now = now();
                self.ends(now);
                let taken = block.take(|left| {
                    let left = below(left, limit);
                    left.split_front(self.chunk(left, view))
                });
                if let Some(span) = taken {
                    self.begins(now, span);
                    return Some(span);
                }
            }
            if self.at_block == self.thief.seat {
                return None;
            }
            self.at_block = self.thief.seat;
        }
    }

    /// The last chunk has ended.
    pub(super) fn ends(&mut self, now: u64) {
        if self.began != 0 {
            self.pace = Pace { units: self.last, took: now.saturating_sub(self.began) };
            self.began = 0;
        }
        if self.since == 0 {
            self.since = now;
        }
    }

    /// The next chunk begins; at 0: it does not matter how long it takes.
    pub(super) fn begins(&mut self, now: u64, chunk: Span) {
        self.last = chunk.len();
        self.began = now;
    }

    /// How many units of `left` make the next chunk.
    pub(super) fn chunk(&self, left: Span, view: &View<'_>) -> u32 {
        let (last, aim) = (self.last, view.patience / CHUNK_SHARE);
        let tiny = if self.pace.foretells() { view.patience / TINY_SHARE } else { 0 };
        // What nobody would steal is not cut any more.
        if self.pace.time_of(left.len()).is_some_and(|time| time < tiny) {
            return left.len();
        }
        let next = match self.pace.time_of(last) {
            None => last.saturating_mul(2),
            Some(time) if time < tiny => last.saturating_mul(8),
            Some(time) if time < aim => last.saturating_mul(2),
            Some(time) if time < 2 * aim => last,
            Some(_) => last / 2,
        };
        next.min(left.len() / MOST_SHARE).max(view.grain)
    }

    /// Whether there is no other seat but the caller's, which has nothing to give where nobody steals.
    #[inline]
    fn sees_only_the_caller(&self, view: &View<'_>) -> bool {
        view.deal.width() == 2 && self.role != Role::Caller && !view.kind.publishes()
    }

    /// The first seat whose owner has not left, whether it came or not; `None`: all have.
    #[inline]
    fn first_inside(&mut self, view: &View<'_>) -> Option<usize> {
        while self.settled < view.deal.width() {
            let seat = self.settled;
            if seat != self.thief.seat && !view.board.departure(seat).has_left(view.generation) {
                return Some(seat);
            }
            self.settled += 1;
        }
        None
    }

    /// Closes the seats that nobody sits in, and waits for those whose owners are inside, one after the other.
    fn settle(&mut self, view: &View<'_>) -> Step {
        while let Some(seat) = self.first_inside(view) {
            let presence = &view.board.seat(seat).presence;
            let seen = presence.read();
            match seen.phase(view.generation) {
                None | Some(Phase::Rescued) => {
                    if !presence.claim(seen, view.generation, Phase::Shut) {
                        continue;
                    }
                }
                Some(Phase::Shut) => {}
                Some(Phase::Begun | Phase::Present) => return Step::Wait(Some(seat)),
                // By a rescuer, who is about to go on. The owner may never come: its leaving is not to be awaited.
                Some(Phase::Taken) => return Step::Wait(None),
            }
            self.settled += 1;
        }
        Step::Leave
    }
}

/// The first unit that [`Kind::StaticChunk`] deals to a seat.
pub(super) fn dealt_first(seat: usize, chunk: u32) -> u64 {
    seat as u64 * u64::from(chunk)
}

pub(super) fn below(span: Span, limit: u32) -> Span {
    Span::new(span.lo, span.hi.min(limit))
}

fn some(span: Span) -> Option<Span> {
    Some(span).filter(|span| !span.is_empty())
}
