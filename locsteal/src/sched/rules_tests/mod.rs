//! The rules of the scheduling core, one by one, on made-up homes: several participants of one board, driven by one
//! thread in a chosen order, with a clock that is set by hand.
//!
//! `docs/mutations.md` tells which of these tests fails when a rule is broken.

mod crossing;
mod once;
mod order;
mod sparing;
mod starting;
mod stealing;

use std::cell::Cell;
use std::ops::Range;

use super::{Board, Deal, Entry, Generation, Kind, Locality, Orders, SeatHome, Step, Thief};
use super::{View, Walk};

/// One loop, of as many iterations as units.
struct Rig {
    seats: usize,
    board: Board,
    orders: Orders,
    deal: Deal,
    kind: Kind,
    locality: Locality,
    grain: u32,
    launched: u64,
    patience: u64,
    grace: u32,
    now: Cell<u64>,
}

/// When the loops of these tests are launched, unless they are too small to be protected.
const LAUNCHED: u64 = 1_000;

impl Rig {
    /// A balanced loop over all seats, `block` iterations each, handed over from single iterations on.
    fn new((orders, seats): (Orders, usize), block: u64) -> Self {
        Self {
            seats,
            board: Board::new(seats),
            deal: Deal::new(block * seats as u64, 1, seats),
            orders,
            kind: Kind::Steal,
            locality: Locality::Llc,
            grain: 1,
            launched: LAUNCHED,
            patience: 1_000_000,
            grace: 0,
            now: Cell::new(LAUNCHED),
        }
    }

    /// The same loop over fewer seats.
    fn width(self, width: usize) -> Self {
        let units = u64::from(self.deal.units());
        Self { deal: Deal::new(units, 1, width), ..self }
    }

    fn view(&self) -> View<'_> {
        View {
            board: &self.board,
            orders: &self.orders,
            deal: self.deal,
            kind: self.kind,
            locality: self.locality,
            grain: self.grain,
            generation: Generation::default().next(),
            launched: self.launched,
            patience: self.patience,
            grace: self.grace,
            caller: None,
        }
    }

    fn caller(&self, seat: usize) -> Walk {
        self.caller_near(seat, seat)
    }

    fn caller_near(&self, seat: usize, near: usize) -> Walk {
        Walk::caller(Thief { seat, near }).seated(&self.view())
    }

    fn try_enter(&self, seat: usize) -> Entry {
        self.board.enter(self.view().generation, seat, self.kind.publishes())
    }

    fn owner(&self, seat: usize) -> Walk {
        assert_eq!(self.try_enter(seat), Entry::Owner);
        Walk::owner(seat, &self.view())
    }

    fn late(&self, seat: usize) -> Walk {
        assert_eq!(self.try_enter(seat), Entry::Late);
        Walk::late(seat, &self.view())
    }

    fn leave(&self, walk: &Walk) {
        self.board.departure(walk.seat()).leave(self.view().generation);
    }

    fn step(&self, walk: &mut Walk) -> Step {
        walk.step(&self.view(), || self.now.get())
    }

    /// A step of a participant that must find something to run.
    fn run(&self, walk: &mut Walk) -> Range<u64> {
        match self.step(walk) {
            Step::Run(chunk) => chunk,
            other => panic!("seat {} found {other:?}", walk.seat()),
        }
    }

    /// The seat that these iterations were dealt to.
    fn home(&self, chunk: &Range<u64>) -> usize {
        let home = |i: u64| match self.kind {
            Kind::StaticChunk(dealt) => (i / u64::from(dealt)) as usize % self.deal.width(),
            _ => self.deal.seat_of(i as u32),
        };
        assert_eq!(home(chunk.start), home(chunk.end - 1), "{chunk:?} is of two blocks");
        home(chunk.start)
    }

    /// Runs what was dealt to a participant's seat, to its end and no further, while nobody may take any of it.
    fn run_own(&self, walk: &mut Walk) {
        let all = 0..u64::from(self.deal.units());
        let mut left = all.filter(|&i| self.home(&(i..i + 1)) == walk.seat()).count();
        while left > 0 {
            let chunk = self.run(walk);
            assert_eq!(self.home(&chunk), walk.seat(), "{:?}: {chunk:?}", self.kind);
            left -= chunk.count();
        }
    }

    /// Runs chunks for as long as they are of the block of `seat`; the first step that is something else.
    fn run_while(&self, walk: &mut Walk, seat: usize) -> Step {
        loop {
            match self.step(walk) {
                Step::Run(chunk) if self.home(&chunk) == seat => {}
                other => return other,
            }
        }
    }

    fn block(&self, seat: usize) -> Range<u64> {
        let block = self.deal.block(seat);
        block.lo.into()..block.hi.into()
    }

    /// What nobody has taken yet of what stands at a seat.
    fn left_at(&self, seat: usize) -> Range<u64> {
        let mut left = 0..0;
        self.board.seat(seat).block.take(|span| {
            left = span.lo.into()..span.hi.into();
            (super::block::Span::EMPTY, span)
        });
        left
    }

    /// Puts iterations at a seat, in place of what stands there.
    fn put(&self, seat: usize, units: Range<u32>) {
        self.board.seat(seat).block.set(super::block::Span::new(units.start, units.end));
    }

    /// Lets the clock go on, `after` the launch.
    fn at(&self, after: u64) {
        self.now.set(LAUNCHED + after);
    }
}

/// Seats in domains of `domain` seats, in nodes of `node` seats, as distant as `|a - b|`.
fn machine(seats: usize, domain: usize, node: usize) -> (Orders, usize) {
    let homes: Vec<SeatHome> = (0..seats)
        .map(|seat| SeatHome { domain: Some(seat / domain), node: seat / node })
        .collect();
    (Orders::new(&homes, |a, b| a.abs_diff(b) as u32), seats)
}

/// Numbers that look random; the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
