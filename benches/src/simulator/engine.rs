//! One run of a loop in virtual time: every participant is an actor, and what each does next is asked of the library's
//! own step function at the time when it would ask.
//!
//! A step takes effect at once; the time that it takes is added afterwards: for each line that the participant reaches
//! for, one after the other, as it gets hold of them, then for the iterations. Waiting, sleeping and waking follow
//! `loops/participant.rs` and `pool/worker.rs`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use locsteal::__simulator::{Entrance, Loop, Sight, Step, Variant, Walker};
use locsteal::Stats;

use super::costs::Costs;
use super::data::Data;
use super::kernels::Kernel;
use super::lines::{Lines, transfer};
use super::machines::Site;
use super::time::{Dice, Time, in_ns, ns};

/// Participants ask again so many times with some pauses between, then with yields.
const SPINS: u32 = 64;
const PAUSES: u64 = 4;

/// What goes wrong in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trouble {
    /// All workers sleep when the loop is launched.
    pub(crate) asleep: bool,
    /// These workers come later by so much; `None`: never.
    pub(crate) late: Vec<(usize, Option<Time>)>,
    /// The participants at these seats stop once, from so long after the launch on, for so long.
    pub(crate) stalls: Vec<(usize, Time, Time)>,
}

/// Iterations that a participant ran at a stretch.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) seat: usize,
    pub(crate) iterations: Range<u64>,
    pub(crate) start: Time,
    pub(crate) end: Time,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// From the launch until the caller has left, in nanoseconds.
    pub(crate) makespan: f64,
    /// What it would be if all seats began at once at what is nearest to them and ended together.
    pub(crate) ideal: f64,
    /// From the launch until the last worker that came has entered.
    pub(crate) spread: f64,
    /// From when half of the seats had run out of work for the first time until the caller has left.
    pub(crate) tail: f64,
    pub(crate) stats: Stats,
    /// How often participants looked at each other's seats, and asked for the next step.
    pub(crate) looks: u64,
    pub(crate) steps: u64,
    pub(crate) chunks: Vec<Chunk>,
}

/// What stays from one run to the next.
pub(crate) struct Place<'m> {
    pub(crate) site: &'m Site,
    pub(crate) costs: &'m Costs,
    pub(crate) kernel: &'m Kernel,
    pub(crate) course: Loop<'m>,
    pub(crate) data: Data,
    pub(crate) lines: Lines,
    pub(crate) now: Time,
}

#[derive(Debug)]
enum State {
    /// A worker that watches the lane, and may have seen the loop.
    Outside,
    /// A worker that sleeps until it is woken.
    Asleep,
    /// It has entered and is about to lay out its block.
    Sitting {
        late: bool,
    },
    /// It is at work, or about to ask again.
    Inside(Walker),
    /// It has asked, and reaches for what that took.
    Reaching(Walker, Reach),
    /// The caller sleeps until this seat is left.
    Sleeping(Walker, usize),
    /// It has found nothing more, and is about to say so.
    Leaving,
    Gone,
}

/// A step on its way: what it reaches for, how far it has come, and what it is to do then.
#[derive(Debug)]
struct Reach {
    sights: Vec<Sight>,
    next: usize,
    step: Step,
}

struct Actor {
    state: State,
    /// How often it has asked in vain since its last chunk, and since when.
    asked: u32,
    asks_since: Time,
    /// Time that its iterations take is multiplied by this.
    slowness: f64,
    late: Option<Time>,
    stall: Option<(Time, Time)>,
    idle: bool,
}

pub(crate) struct Engine<'p, 'm> {
    place: &'p mut Place<'m>,
    variant: Variant,
    caller: usize,
    start: Time,
    actors: Vec<Actor>,
    queue: BinaryHeap<Reverse<(Time, u64, usize)>>,
    queued: u64,
    run: Run,
    /// When each of those who have run out of work did so first.
    idle: Vec<Time>,
    /// Lists to be used again.
    spare: Vec<Vec<Sight>>,
    records: bool,
}

impl<'p, 'm> Engine<'p, 'm> {
    pub(crate) fn new(
        place: &'p mut Place<'m>,
        variant: Variant,
        caller: usize,
        trouble: &Trouble,
        dice: &mut Dice,
    ) -> Self {
        let width = place.course.width();
        let start = place.now;
        let uneven = match place.data.fit() {
            super::data::Fit::Memory => place.costs.uneven_memory,
            _ => place.costs.uneven,
        };
        let mut slowness: Vec<f64> = (0..width).map(|_| (uneven * dice.normal()).exp()).collect();
        if place.data.fit() != super::data::Fit::Private {
            even_out(&mut slowness, place.site);
        }
        let actors = (0..width)
            .map(|seat| Actor {
                state: if trouble.asleep { State::Asleep } else { State::Outside },
                asked: 0,
                asks_since: 0,
                slowness: slowness[seat],
                late: trouble
                    .late
                    .iter()
                    .find(|late| late.0 == seat)
                    .map(|late| late.1.unwrap_or(Time::MAX)),
                stall: trouble
                    .stalls
                    .iter()
                    .find(|stall| stall.0 == seat)
                    .map(|stall| (start + stall.1, stall.2)),
                idle: false,
            })
            .collect();
        Self {
            place,
            variant,
            caller,
            start,
            actors,
            queue: BinaryHeap::new(),
            queued: 0,
            run: Run::default(),
            idle: Vec::new(),
            spare: Vec::new(),
            records: false,
        }
    }

    /// Keeps every chunk.
    pub(crate) fn recording(self) -> Self {
        Self { records: true, ..self }
    }

    pub(crate) fn run(mut self, dice: &mut Dice) -> Run {
        self.run.ideal = self.ideal();
        self.launch(dice);
        let end = loop {
            let Reverse((now, _, seat)) = self.queue.pop().expect("the caller is always expected");
            if let Some(end) = self.act(seat, now) {
                break end;
            }
        };
        self.place.course.close();
        self.place.now = end + ns(1_000.0);
        self.run.makespan = in_ns(end - self.start);
        self.idle.sort_unstable();
        let half = self.idle.get(self.actors.len() / 2).copied().unwrap_or(end);
        self.run.tail = in_ns(end.saturating_sub(half));
        self.run
    }

    fn ideal(&self) -> f64 {
        let all = 0..self.place.kernel.len;
        let work = self.place.kernel.work(&all) + self.place.data.at_home(&all);
        work / self.actors.iter().map(|actor| 1.0 / actor.slowness).sum::<f64>()
    }

    fn launch(&mut self, dice: &mut Dice) {
        let (place, caller) = (&mut *self.place, self.caller);
        let walker = place.course.launch(caller, self.start, &self.variant);
        let open = self.start + place.costs.launch;
        self.actors[caller].state = State::Inside(walker);
        let busy = self.wakes_some(caller, self.place.costs.caller_wakes, open);
        self.expect(caller, busy);
        // The line that says so goes to one core of each cache after the other, and there from core to core.
        let (site, costs) = (self.place.site, self.place.costs);
        let width = self.actors.len();
        let order: Vec<usize> = site.seats.near_first(caller, width).collect();
        let mut caches: Vec<(Option<usize>, Time)> = Vec::new();
        for seat in order {
            if !matches!(self.actors[seat].state, State::Outside) {
                continue;
            }
            let domain = site.seats.place(seat).0;
            let reached = match caches.iter_mut().find(|cache| cache.0 == domain) {
                Some((_, reached)) => {
                    *reached += costs.line_busy;
                    *reached + costs.line_llc
                }
                None => {
                    let queue = costs.line_busy * caches.len() as Time;
                    let reached = open + queue + transfer(site, costs, seat, caller);
                    caches.push((domain, reached));
                    reached
                }
            };
            let looks = (costs.watch as f64 * dice.fraction()) as Time;
            self.expect_worker(seat, reached + looks);
        }
    }

    /// The worker of `seat` comes at this time, or as much later as it is late.
    fn expect_worker(&mut self, seat: usize, at: Time) {
        self.actors[seat].state = State::Outside;
        match self.actors[seat].late {
            Some(Time::MAX) => {}
            late => self.expect(seat, at + late.unwrap_or(0)),
        }
    }

    fn expect(&mut self, seat: usize, at: Time) {
        self.queued += 1;
        self.queue.push(Reverse((at, self.queued, seat)));
    }

    /// Wakes the nearest sleepers, up to so many; when it has done so.
    fn wakes_some(&mut self, waker: usize, most: f64, now: Time) -> Time {
        let width = self.actors.len();
        let mut ready = now;
        for _ in 0..most as usize {
            let asleep = |&seat: &usize| matches!(self.actors[seat].state, State::Asleep);
            let Some(sleeper) = self.place.site.seats.near_first(waker, width).find(asleep) else {
                break;
            };
            ready += self.place.costs.wake_call;
            self.expect_worker(sleeper, ready + self.place.costs.wake_latency);
        }
        ready
    }

    /// Lets one participant do what is due; the time when the caller has left.
    fn act(&mut self, seat: usize, now: Time) -> Option<Time> {
        match std::mem::replace(&mut self.actors[seat].state, State::Gone) {
            State::Outside => match self.place.course.enter(seat) {
                Entrance::Enters { late } => {
                    self.run.spread = in_ns(now - self.start);
                    self.actors[seat].state = State::Sitting { late };
                    self.expect(seat, now + self.place.costs.join);
                }
                Entrance::NotNow => {
                    self.actors[seat].state = State::Outside;
                    self.expect(seat, now + self.place.costs.watch);
                }
                Entrance::Never => {}
            },
            State::Sitting { late } => {
                let walker = self.place.course.sit(seat, late);
                let ready = self.wakes_some(seat, self.place.costs.worker_wakes, now);
                if ready == now {
                    return self.ask(seat, walker, now);
                }
                self.actors[seat].state = State::Inside(walker);
                self.expect(seat, ready);
            }
            State::Inside(walker) | State::Sleeping(walker, _) => {
                return self.ask(seat, walker, now);
            }
            State::Reaching(walker, reach) => return self.reach(seat, walker, reach, now),
            State::Leaving => {
                self.place.course.leave(seat);
                let caller = &mut self.actors[self.caller].state;
                if matches!(caller, State::Sleeping(_, awaited) if *awaited == seat) {
                    let costs = self.place.costs;
                    self.expect(self.caller, now + costs.wake_call + costs.wake_latency);
                }
            }
            State::Asleep | State::Gone => {}
        }
        None
    }

    fn ask(&mut self, seat: usize, mut walker: Walker, now: Time) -> Option<Time> {
        self.run.steps += 1;
        let mut sights = self.spare.pop().unwrap_or_default();
        let step = self.place.course.step(&mut walker, now, &mut self.variant, &mut sights);
        if !matches!(step, Step::Run(_)) && !self.actors[seat].idle {
            self.actors[seat].idle = true;
            self.idle.push(now);
        }
        let now = now + self.place.costs.step;
        self.reach(seat, walker, Reach { sights, next: 0, step }, now)
    }

    /// Gets hold of lines up to the first that is not at hand; with the last, does what the step says.
    fn reach(&mut self, seat: usize, walker: Walker, mut reach: Reach, now: Time) -> Option<Time> {
        let mut at = now;
        while let Some(&sight) = reach.sights.get(reach.next) {
            let Place { site, costs, lines, .. } = &mut *self.place;
            // A block that is seen to be empty is not written.
            let took = |sight: &Sight| matches!(sight, Sight::Took(_));
            let takes = matches!(reach.step, Step::Run(_))
                && !reach.sights[reach.next + 1..].iter().any(took);
            reach.next += 1;
            let had = match sight {
                Sight::Looked(victim) => {
                    self.run.looks += 1;
                    lines.read(seat, victim, at, site, costs)
                }
                Sight::Took(victim) if takes => lines.write(seat, victim, at, site, costs),
                Sight::Took(victim) => lines.read(seat, victim, at, site, costs),
                Sight::Put(own) | Sight::Rescued(own) => lines.write(seat, own, at, site, costs),
                Sight::Counted => lines.write(seat, lines.shared(), at, site, costs),
            };
            let at_hand = had <= at + costs.hit;
            at = had;
            if !at_hand {
                self.actors[seat].state = State::Reaching(walker, reach);
                self.expect(seat, at);
                return None;
            }
        }
        reach.sights.clear();
        self.spare.push(reach.sights);
        self.follow(seat, walker, reach.step, at)
    }

    /// Does what a step says.
    fn follow(&mut self, seat: usize, mut walker: Walker, step: Step, now: Time) -> Option<Time> {
        match step {
            Step::Run(range) => {
                self.actors[seat].asked = 0;
                let end = self.work(seat, &range, now);
                if self.records {
                    self.run.chunks.push(Chunk { seat, iterations: range, start: now, end });
                }
                self.actors[seat].state = State::Inside(walker);
                self.expect(seat, end);
            }
            Step::Wait(awaited) => {
                let asked = self.actors[seat].asked;
                self.actors[seat].asked += 1;
                if asked == 0 {
                    self.actors[seat].asks_since = now;
                }
                if let Some(awaited) = awaited
                    && now - self.actors[seat].asks_since >= self.place.costs.caller_spin
                    && !matches!(self.actors[awaited].state, State::Leaving | State::Gone)
                {
                    self.actors[seat].state = State::Sleeping(walker, awaited);
                    return None;
                }
                let costs = self.place.costs;
                let pause = if asked < SPINS { costs.pause * PAUSES } else { costs.yielding };
                self.actors[seat].state = State::Inside(walker);
                self.expect(seat, now + pause);
            }
            Step::Leave => {
                self.run.stats += walker.take_stats();
                if seat == self.caller {
                    return Some(now);
                }
                self.actors[seat].state = State::Leaving;
                self.expect(seat, now);
            }
        }
        None
    }

    /// When a participant that begins these iterations now has run them.
    fn work(&mut self, seat: usize, range: &Range<u64>, now: Time) -> Time {
        let Place { site, costs, kernel, data, .. } = &mut *self.place;
        let home = kernel.work(range) + data.at_home(range);
        let away = data.touch(range, seat, kernel.bytes, site, costs);
        let actor = &mut self.actors[seat];
        let end = now + ns((home + away) * actor.slowness);
        match actor.stall {
            Some((from, length)) if end > from => {
                actor.stall = None;
                end + length
            }
            _ => end,
        }
    }
}

/// The cores of a last-level cache share what goes in and out of it: what one gets more of, the others get less of.
fn even_out(slowness: &mut [f64], site: &Site) {
    let cache = |seat: usize| site.seats.place(seat).0;
    let speed = |slowness: &[f64], of| {
        let seats = (0..slowness.len()).filter(|&seat| cache(seat) == of);
        let speeds: Vec<f64> = seats.map(|seat| 1.0 / slowness[seat]).collect();
        speeds.iter().sum::<f64>() / speeds.len() as f64
    };
    let means: Vec<f64> = (0..slowness.len()).map(|seat| speed(slowness, cache(seat))).collect();
    for (slowness, mean) in slowness.iter_mut().zip(means) {
        *slowness *= mean;
    }
}
