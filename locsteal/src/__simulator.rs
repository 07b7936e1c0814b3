//! The scheduling core without threads, for the simulator: who drives it says what time it is, who comes when, and how
//! long everything takes.
//!
//! Behind the feature `simulator`, hidden, and no part of the library's face: it changes as the core does.

#![allow(missing_docs, reason = "for the project's own simulator")]

pub mod guarding;
pub mod launching;

use std::ops::Range;
use std::time::Duration;

use crate::affinity::{Layout, Placement, Seating};
use crate::loops::{Plan, Shape};
use crate::pool::{PATIENCE, Seats};
use crate::sched::{
    self, Board, Entry, Generation, Locality, Orders, Rules, Schedule, SeatHome, Standard, Thief,
    View, Walk,
};
use crate::stats::Stats;
use crate::stats::timeline::{Launch, LoopId, Origin, Timeline, Track, Who};
use crate::topology::Topology;

pub use crate::stats::Tier;

/// How long the threaded runtime's participants wait for late owners at most.
pub const PATIENCE_NS: u64 = PATIENCE.as_nanos() as u64;

/// The seats of a pool, where they are, and in which order each of them visits the others.
#[derive(Clone, Debug)]
pub struct Machine {
    orders: Orders,
    /// Each seat's domain and node, as far as they are known.
    places: Vec<(Option<usize>, Option<usize>)>,
}

impl Machine {
    /// A pool of `seats` on a machine, placed by domain, as the library lays it out.
    pub fn new(topology: &Topology, seats: usize, layout: Layout) -> Self {
        let placement = Placement::Llc;
        let homes = Seating::new(topology, seats).placement(placement).layout(layout).homes();
        let places = homes.iter().map(|home| (home.domain, home.node)).collect();
        let orders = Seats::new(topology.clone(), placement, homes).orders().clone();
        Self { orders, places }
    }

    /// Seats at these domains and nodes, in this order.
    pub fn at(places: &[(usize, usize)], distance: impl Fn(usize, usize) -> u32) -> Self {
        let home = |&(domain, node): &(usize, usize)| SeatHome { domain: Some(domain), node };
        let homes: Vec<SeatHome> = places.iter().map(home).collect();
        Self {
            orders: Orders::new(&homes, distance),
            places: places.iter().map(|&(domain, node)| (Some(domain), Some(node))).collect(),
        }
    }

    pub fn seats(&self) -> usize {
        self.places.len()
    }

    /// A seat's domain and node.
    pub fn place(&self, seat: usize) -> (Option<usize>, Option<usize>) {
        self.places[seat]
    }

    /// Whether near victims come first; else the order is a cycle.
    pub fn is_tiered(&self) -> bool {
        !self.orders.is_cyclic()
    }

    pub fn tier(&self, a: usize, b: usize) -> Tier {
        self.orders.tier(a, b)
    }

    /// The other seats below `width`, nearest first: the order in which sleepers are woken.
    pub fn near_first(&self, seat: usize, width: usize) -> impl Iterator<Item = usize> {
        let thief = Thief { seat, near: seat };
        let near = self.orders.local(thief, Locality::Llc, width);
        near.chain(self.orders.remote(thief, Locality::Llc, width))
    }
}

/// What a loop is, apart from its iterations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spec {
    pub len: u64,
    pub schedule: Schedule,
    pub locality: Locality,
    /// 0: the default.
    pub grain: u64,
    /// 0: all seats.
    pub threads: usize,
    /// In the unit of the simulated clock.
    pub patience: u64,
}

/// The rules that participants go by.
#[derive(Clone, Debug, Default)]
pub enum Variant {
    /// Those of the library.
    #[default]
    Standard,
    /// A thief takes half.
    HalfSteal,
    /// Victims in an order that is rolled anew for each look around.
    RandomVictim { seed: u64 },
    /// No block waits for its owner.
    NoProtection,
}

/// A loop that is run again and again on one machine.
#[derive(Debug)]
pub struct Loop<'m> {
    machine: &'m Machine,
    board: Board,
    shape: Shape,
    spec: Spec,
    generation: Generation,
    launched: u64,
}

/// A participant.
#[derive(Debug)]
pub struct Walker(Walk);

/// How a worker that wants to come in fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    /// It may [sit down](Loop::sit), having begun its block or not.
    Enters {
        late: bool,
    },
    /// Ask again.
    NotNow,
    Never,
}

/// What a participant does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Run(Range<u64>),
    /// Ask again; with a seat, the caller may sleep until that seat is left.
    Wait(Option<usize>),
    Leave,
}

/// What a participant reaches for on the way to its next chunk, by seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It looked at a seat's line.
    Looked(usize),
    /// It took from the block at a seat, or saw that it is empty: its own, one that it rescued, or a victim's.
    Took(usize),
    /// It put the rest of what it stole into the block at a seat.
    Put(usize),
    /// It claimed a block in place of its owner.
    Rescued(usize),
    /// It took from the counter that all share.
    Counted,
}

impl<'m> Loop<'m> {
    pub fn new(machine: &'m Machine, spec: Spec) -> Self {
        let plan = Plan {
            schedule: spec.schedule,
            locality: spec.locality,
            grain: spec.grain,
            threads: spec.threads,
            ..Plan::default()
        };
        let width = plan.width(machine.seats(), spec.len);
        Self {
            machine,
            board: Board::new(machine.seats()),
            shape: plan.shape(spec.len, width),
            spec,
            generation: Generation::default(),
            launched: 0,
        }
    }

    pub fn width(&self) -> usize {
        self.shape.deal.width()
    }

    /// The smallest number of iterations that is handed over.
    pub fn grain(&self) -> u64 {
        self.shape.deal.positions(0, self.shape.grain.into()).end
    }

    /// Whether blocks wait for their owners.
    pub fn is_protected(&self) -> bool {
        self.shape.is_protected()
    }

    /// The iterations dealt to a seat.
    pub fn block(&self, seat: usize) -> Range<u64> {
        let block = self.shape.deal.block(seat);
        self.shape.deal.positions(block.lo.into(), block.hi.into())
    }

    /// The seat that an iteration was dealt to; `None` where iterations are not dealt to seats.
    pub fn home(&self, iteration: u64) -> Option<usize> {
        self.view().home(iteration)
    }

    /// Launches the loop once more, with its caller at this seat.
    pub fn launch(&mut self, seat: usize, now: u64, variant: &Variant) -> Walker {
        let waits = self.shape.is_protected() && !matches!(variant, Variant::NoProtection);
        self.launched = if waits { now.max(1) } else { 0 };
        self.generation = self.generation.next();
        self.board.reset_counter();
        Walker(Walk::caller(Thief { seat, near: seat }).seated(&self.view()))
    }

    /// The worker of a seat tries to come in.
    pub fn enter(&self, seat: usize) -> Entrance {
        if seat >= self.width() {
            return Entrance::Never;
        }
        match self.board.enter(self.generation, seat, self.shape.kind.publishes()) {
            Entry::Owner => Entrance::Enters { late: false },
            Entry::Late => Entrance::Enters { late: true },
            Entry::NotNow => Entrance::NotNow,
            Entry::Never => Entrance::Never,
        }
    }

    /// The worker of a seat has entered.
    pub fn sit(&self, seat: usize, late: bool) -> Walker {
        let view = self.view();
        Walker(if late { Walk::late(seat, &view) } else { Walk::owner(seat, &view) })
    }

    /// What a participant does next; what it reaches for on the way is added to `sights`.
    pub fn step(
        &self,
        walker: &mut Walker,
        now: u64,
        variant: &mut Variant,
        sights: &mut Vec<Sight>,
    ) -> Step {
        let (walk, view, now) = (&mut walker.0, self.view(), || now);
        let step = match variant {
            Variant::Standard | Variant::NoProtection => {
                walk.step_by(&view, now, &mut Seen(sights, Standard))
            }
            Variant::HalfSteal => walk.step_by(&view, now, &mut Seen(sights, Half)),
            Variant::RandomVictim { seed } => {
                walk.step_by(&view, now, &mut Seen(sights, Random(seed)))
            }
        };
        match step {
            sched::Step::Run(chunk) => Step::Run(chunk),
            sched::Step::Wait(seat) => Step::Wait(seat),
            sched::Step::Pause(_) => Step::Wait(None),
            sched::Step::Leave => Step::Leave,
        }
    }

    /// A worker that was told to leave does so.
    pub fn leave(&self, seat: usize) {
        self.board.departure(seat).leave(self.generation);
    }

    /// What one run of the loop looked like. Times are in nanoseconds; `ran` is what each seat ran, in order.
    pub fn timeline(
        &self,
        name: &str,
        time: Range<u64>,
        ran: impl IntoIterator<Item = (usize, Range<u64>, Range<u64>)>,
    ) -> Timeline {
        let of = LoopId::Alone(0);
        let width = self.width();
        let mut tracks: Vec<Track> =
            (0..width).map(|seat| Track::new(Who::Worker(seat), of)).collect();
        for (seat, iterations, time) in ran {
            let origin = match self.view().home(iterations.start) {
                None => Origin::Shared,
                Some(home) if home == seat => Origin::Own,
                Some(home) => Origin::Other(self.machine.tier(seat, home)),
            };
            tracks[seat].begins(iterations, origin, time.start);
            tracks[seat].ends(time.end);
        }
        let launch = Launch { name: name.into(), iterations: self.spec.len, width, time };
        tracks[0].launch = Some(launch);
        let place = |seat: usize| self.machine.place(seat);
        Timeline::new(tracks, self.machine.seats(), place, Duration::from_nanos)
    }

    /// Everyone has left.
    pub fn close(&self) {
        self.board.clear(&self.shape.deal);
    }

    fn view(&self) -> View<'_> {
        View {
            board: &self.board,
            orders: &self.machine.orders,
            deal: self.shape.deal,
            kind: self.shape.kind,
            locality: self.spec.locality,
            grain: self.shape.grain,
            generation: self.generation,
            launched: self.launched,
            patience: self.spec.patience,
            grace: 0,
            caller: None,
        }
    }
}

impl Walker {
    /// What the participant has counted since the last call.
    pub fn take_stats(&mut self) -> Stats {
        self.0.take_tally()
    }
}

/// Rules, with everything they show written down.
struct Seen<'s, R>(&'s mut Vec<Sight>, R);

impl<'s, R: Rules> Rules for Seen<'s, R> {
    const STEAL_SHARE: u32 = R::STEAL_SHARE;

    fn local<'a>(
        &mut self,
        view: &View<'a>,
        thief: Thief,
    ) -> impl Iterator<Item = usize> + use<'a, 's, R> {
        self.1.local(view, thief)
    }

    fn remote<'a>(
        &mut self,
        view: &View<'a>,
        thief: Thief,
    ) -> impl Iterator<Item = usize> + use<'a, 's, R> {
        self.1.remote(view, thief)
    }

    fn saw(&mut self, sight: sched::Sight) {
        self.0.push(match sight {
            sched::Sight::Looked(seat) => Sight::Looked(seat),
            sched::Sight::Took(seat) => Sight::Took(seat),
            sched::Sight::Put(seat) => Sight::Put(seat),
            sched::Sight::Rescued(seat) => Sight::Rescued(seat),
            sched::Sight::Counted => Sight::Counted,
        });
    }
}

struct Half;

impl Rules for Half {
    const STEAL_SHARE: u32 = 2;
}

struct Random<'s>(&'s mut u64);

impl<'s> Rules for Random<'s> {
    fn local<'a>(
        &mut self,
        view: &View<'a>,
        thief: Thief,
    ) -> impl Iterator<Item = usize> + use<'a, 's> {
        let mut victims: Vec<usize> =
            (0..view.deal.width()).filter(|&seat| seat != thief.seat).collect();
        for index in (1..victims.len()).rev() {
            victims.swap(index, roll(self.0, index + 1));
        }
        victims.into_iter()
    }

    fn remote<'a>(
        &mut self,
        _view: &View<'a>,
        _thief: Thief,
    ) -> impl Iterator<Item = usize> + use<'a, 's> {
        std::iter::empty()
    }
}

/// A number below `end`, by xorshift.
fn roll(seed: &mut u64, end: usize) -> usize {
    *seed = (*seed).max(1);
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed % end as u64) as usize
}
