//! Choosing a schedule by experience: each call site remembers, for each size class, what its loops cost.
//!
//! At first a class tries what there is, some times each: stealing, static blocks and, where the loop turned out to be small,
//! the plain serial loop. From then on it uses the best of them. Now and then, more and more seldom, it measures its
//! choice again, and the others if they are not far behind; a surprise makes it measure more often again. While loops run
//! serially, workers fall asleep; so the others are tried some times in a row then, and only the last times count: what
//! counts is what they would cost if they were chosen.
//!
//! Once a loop of a class has been left early, the class begins anew, and from then on tries a shared counter with growing chunks
//! in the place of static blocks: of static blocks, all but the first are run in vain where an early iteration leaves. What a
//! loop that was left cost is counted for the iterations up to the one that left.
//!
//! A small loop that is launched from inside of a loop that is shared with others, or while another caller's loop is, runs serially: the
//! others are busy, and sharing it would only make the other loop look as if it were not worth sharing. Callers at once that
//! each found that sharing pays, by the clock of the one that runs, would take the CPUs from each other. So what a small loop
//! takes that is shared while other callers run loops alone, on CPUs that the pool needs, counts for nothing: it is taken to be
//! better run alone, until that is tried again.
//!
//! The memory is one word a class, read and written without any order: two callers at once may lose each other's
//! lesson, which costs a little time and nothing else. It is written only when something was measured, so callers at
//! once share the line in their caches. When to measure again is drawn by lot, by each thread for itself: a count of
//! loops would be another word to write in each, and would go in step with programs that run several loops in turn.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock;
use crate::sched::Schedule;

/// A call site's memory: one word for each size class. A class holds lengths that differ by less than a factor of four.
#[derive(Debug)]
pub(crate) struct Memory([AtomicU64; CLASSES]);

const CLASSES: usize = 16;

/// What a loop that asks for [`Schedule::Auto`] can be run as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Serial,
    Static,
    Steal,
}

const CHOICES: [Choice; 3] = [Choice::Serial, Choice::Static, Choice::Steal];

impl Choice {
    /// As in the clause `schedule`; `left`: for loops that are left early.
    pub(crate) const fn word(self, left: bool) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Static if left => "dynamic",
            Self::Static => "static",
            Self::Steal => "steal",
        }
    }

    const fn schedule(self, left: bool) -> Schedule {
        match self {
            Self::Serial => Schedule::Serial,
            Self::Static if left => Schedule::Dynamic,
            Self::Static => Schedule::Static,
            Self::Steal => Schedule::Steal,
        }
    }
}

/// How to run one loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) choice: Choice,
    /// Whether to measure it, and call [`Memory::learn`] with the result.
    pub(crate) measured: bool,
    /// Whether loops of the class have been left early.
    pub(crate) left: bool,
}

impl Decision {
    pub(crate) const fn schedule(self) -> Schedule {
        self.choice.schedule(self.left)
    }
}

/// How a loop ended that was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) choice: Choice,
    /// What it took from the caller's view, in nanoseconds.
    pub(crate) ns: u64,
    /// How many iterations had to be run, if it was left early.
    pub(crate) left_after: Option<u64>,
    /// Whether it was shared while other callers, who run their loops alone, needed the CPUs that it took.
    pub(crate) in_company: bool,
}

/// What is known of a class, for people.
pub(crate) struct Known {
    /// The class's least length.
    pub(crate) least: u64,
    /// Whether loops have been left early.
    pub(crate) left: bool,
    /// What it has settled on, once it has.
    pub(crate) settled: Option<Choice>,
    /// What an iteration costs, in nanoseconds, where that was measured.
    pub(crate) costs: [(Choice, Option<f32>); 3],
}

/// What is known of a class, as one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lesson {
    /// The cost of an iteration for each of [`CHOICES`]; 0: not known.
    cost: [Cost; 3],
    /// How many tries of the first phase have been made; from [`SETTLED`] on how often the interval has doubled.
    stage: u8,
    /// Which measurement of a round comes next: 0 that of the choice, which is drawn by lot, then those of the others.
    round: u8,
    /// How often it has been tried in a row: less than [`WAKING_TRIES`] and [`COUNTED_TRIES`] together.
    tries: u8,
    /// Whether a loop has been left early.
    left: bool,
    /// Whether the last measurement was so slow that it was not believed.
    suspect: bool,
}

/// The first phase, one after another. What is tried first pays for waking threads and for touching memory.
pub(crate) const FIRST: [Choice; 8] = [
    Choice::Steal,
    Choice::Steal,
    Choice::Steal,
    Choice::Static,
    Choice::Static,
    Choice::Static,
    Choice::Serial,
    Choice::Serial,
];
/// The first stage past the first phase.
const SETTLED: u8 = FIRST.len() as u8;
/// How often a choice that needs workers is tried in a row, where they have slept, before it counts; and how often it
/// counts: with many callers at once, one loop may be lucky.
const WAKING_TRIES: u8 = 2;
const COUNTED_TRIES: u8 = 2;
const LAST_STAGE: u8 = SETTLED + 3;
/// Loops between two rounds of measurements, on average and as a power of two, at first; twice as many after each round
/// in which little changed.
const INTERVAL_LOG2: u8 = 7;
/// A measurement further than this factor from what was expected makes the interval short again.
const SURPRISE: f32 = 1.5;
/// Choices that cost more than this factor times the best are not tried again while that holds. Each time that one is passed
/// over, its cost is taken to be a little less, so that nothing is held against it for ever.
const HOPELESS: f32 = 3.0;
const FORGETTING: f32 = 0.9;
/// What is shared at the expense of other callers is passed over so often before it is tried again.
const PASSES: i32 = 4;
/// How much longer than it took such a loop takes alone at most, as long as that is not known.
const EXPENSE: f32 = 4.0;
/// The serial loop is tried only where another way took less than this, in nanoseconds: a try costs little then, and a
/// longer loop would not be faster serially.
const SERIAL_BELOW: f32 = 50_000.0;
/// What takes less than this serially, in nanoseconds, is not worth sharing: another thread has not heard of it before half of that
/// is over, and then must say that it is done. No other way is tried again while that holds.
const NOT_WORTH_SHARING: f32 = 200.0;
/// What takes less than this, in nanoseconds, runs serially inside of another loop, and beside those of other callers.
const SMALL: f32 = 20_000.0;

/// A positive number with a sign-less float's 8 bits of exponent and 8 of mantissa.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cost(u16);

impl Cost {
    fn new(value: f32) -> Self {
        Self((value.max(f32::MIN_POSITIVE).to_bits() >> 15) as u16)
    }

    fn value(self) -> Option<f32> {
        (self.0 != 0).then(|| f32::from_bits(u32::from(self.0) << 15))
    }
}

const _: () =
    assert!(SETTLED == 8 && LAST_STAGE < 16, "one bit of the stage tells whether it is settled");
const _: () = assert!(WAKING_TRIES + COUNTED_TRIES <= 4, "two bits count the tries");

/// Whether a class at this stage, which is settled, measures now; `lot` is a random number.
#[inline]
const fn is_drawn(stage: u8, lot: u32) -> bool {
    lot >> (32 - (INTERVAL_LOG2 + (stage - SETTLED))) == 0
}

impl Lesson {
    const LEFT: u16 = 1 << 10;
    const SUSPECT: u16 = 1 << 11;

    fn unpack(word: u64) -> Self {
        let bits = (word >> 48) as u16;
        Self {
            cost: [word, word >> 16, word >> 32].map(|bits| Cost(bits as u16)),
            stage: (bits >> 2) as u8 & 15,
            round: bits as u8 & 3,
            tries: (bits >> 8) as u8 & 3,
            left: bits & Self::LEFT != 0,
            suspect: bits & Self::SUSPECT != 0,
        }
    }

    fn pack(self) -> u64 {
        debug_assert!(self.stage <= LAST_STAGE && self.round < 3, "{self:?}");
        debug_assert!(self.tries < WAKING_TRIES + COUNTED_TRIES, "{self:?}");
        let [a, b, c] = self.cost.map(|cost| u64::from(cost.0));
        let [stage, round, tries] = [self.stage, self.round, self.tries].map(u64::from);
        let flag = |set: bool, bit: u16| if set { u64::from(bit) } else { 0 };
        let flags = flag(self.left, Self::LEFT) | flag(self.suspect, Self::SUSPECT);
        let bits = flags | tries << 8 | (self.best() as u64) << 6 | stage << 2 | round;
        a | b << 16 | c << 32 | bits << 48
    }

    /// Whether the lesson that was packed into `word` is past its first phase, has found the serial loop the best, and waits to be
    /// drawn for its next measurement.
    #[inline]
    const fn is_settled_on_serial(word: u64) -> bool {
        const ROUND: u64 = 3;
        const STAGE_IS_SETTLED: u64 = (SETTLED as u64) << 2;
        const BEST: u64 = 3 << 6;
        const ALL: u64 = ROUND | STAGE_IS_SETTLED | BEST | Lesson::SUSPECT as u64;
        (word >> 48) & ALL == STAGE_IS_SETTLED | (Choice::Serial as u64) << 6
    }

    /// What [`best`](Self::best) is for the lesson that was packed into `word`.
    #[inline]
    fn best_in(word: u64) -> Choice {
        CHOICES[((word >> 54) & 3).min(2) as usize]
    }

    /// The cheapest choice so far; of equal ones the first.
    fn best(self) -> Choice {
        let known = CHOICES.into_iter().zip(self.cost);
        let known = known.filter_map(|(choice, cost)| Some((choice, cost.value()?)));
        known.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(Choice::Steal, |(choice, _)| choice)
    }

    fn known(self, choice: Choice) -> Option<f32> {
        self.cost[choice as usize].value()
    }

    /// Whether a loop of `len` iterations is known to take so little that it is not worth sharing while others are busy.
    #[inline]
    fn is_small(self, len: u64) -> bool {
        let serial = self.known(Choice::Serial).or(self.known(Choice::Steal));
        serial.is_some_and(|cost| cost * (len as f32) < SMALL)
    }

    /// Whether to measure one of the choices now; `lot` is a random number.
    #[inline]
    fn is_due(self, lot: u32) -> bool {
        self.stage < SETTLED || self.round != 0 || self.suspect || is_drawn(self.stage, lot)
    }

    /// Which choice to measure next.
    fn due(self) -> Choice {
        if self.stage < SETTLED {
            return FIRST[usize::from(self.stage)];
        }
        let best = self.best();
        match self.round {
            0 => best,
            round => {
                let mut others = CHOICES.into_iter().filter(|&choice| choice != best);
                others.nth(usize::from(round) - 1).unwrap_or(best)
            }
        }
    }

    /// Whether it is worth measuring `choice` for loops of `len` iterations.
    fn is_hopeful(self, choice: Choice, len: u64) -> bool {
        let Some(best) = self.known(self.best()) else {
            return true;
        };
        let all = best * len as f32;
        let may_help = match choice {
            Choice::Serial => all < SERIAL_BELOW,
            _ => self.best() != Choice::Serial || all >= NOT_WORTH_SHARING,
        };
        may_help && self.known(choice).is_none_or(|cost| cost <= best * HOPELESS)
    }

    /// Goes on to the next measurement that is worth its while.
    fn advance(mut self, len: u64) -> Self {
        loop {
            if self.stage < SETTLED {
                self.stage += 1;
                if self.stage == SETTLED {
                    return self;
                }
            } else if self.round < 2 {
                self.round += 1;
            } else {
                self.round = 0;
                self.stage = (self.stage + 1).min(LAST_STAGE);
                return self;
            }
            let due = self.due();
            if self.is_hopeful(due, len) {
                return self;
            }
            let best = self.known(self.best()).unwrap_or_default();
            let passed_over = self.known(due).filter(|cost| *cost > best * HOPELESS);
            if let Some(cost) = passed_over.filter(|_| self.stage >= SETTLED) {
                self.cost[due as usize] = Cost::new(cost * FORGETTING);
            }
        }
    }

    /// What is known after a small loop that was shared at the expense of other callers: what it took was little because they
    /// had to wait. If the next one is like it, this choice is not for now.
    fn after_company(mut self, len: u64, choice: Choice, sample: f32) -> Self {
        self.tries = self.tries.saturating_sub(1);
        if self.stage >= SETTLED && !self.suspect {
            self.suspect = true;
            return self;
        }
        self.suspect = false;
        let alone = self.known(Choice::Serial).unwrap_or(sample * EXPENSE);
        self.cost[choice as usize] =
            Cost::new(alone.max(sample) * HOPELESS / FORGETTING.powi(PASSES));
        if choice != self.due() {
            return self;
        }
        self.tries = 0;
        self.advance(len)
    }

    /// What is known after a loop of `len` iterations.
    fn after(mut self, len: u64, sample: Sample) -> Self {
        let Sample { choice, ns, left_after, in_company } = sample;
        if left_after.is_some() && !self.left {
            // What is known of loops that ran to their end tells little of this one.
            return Self { left: true, ..Self::default() };
        }
        let len = left_after.unwrap_or(len);
        let woken =
            self.stage >= SETTLED && self.best() == Choice::Serial && choice != Choice::Serial;
        self.tries = if woken { self.tries + 1 } else { 0 };
        if woken && self.tries <= WAKING_TRIES {
            return self;
        }
        let sample = ns.max(1) as f32 / len.max(1) as f32;
        if in_company && (ns as f32) < SMALL {
            return self.after_company(len, choice, sample);
        }
        let new = match self.known(choice) {
            None => sample,
            // The first loops pay for waking threads and touching memory.
            Some(old) if self.stage < SETTLED => old.min(sample),
            Some(old) if sample > old * SURPRISE && !self.suspect => {
                // Something may have interrupted it. The next loop will show.
                self.suspect = true;
                self.tries = self.tries.saturating_sub(1);
                return self;
            }
            Some(old) => {
                if sample > old * SURPRISE || old > sample * SURPRISE {
                    self.stage = SETTLED;
                    // What is known of the others is from before the change.
                    for cost in self.cost.iter_mut().filter(|cost| cost.0 != 0) {
                        *cost = (*cost).min(Cost::new(sample * HOPELESS * FORGETTING));
                    }
                }
                // What disturbs a loop makes it slower, never faster; and an interrupted one must not count for more than
                // a slow one.
                let weight = if sample < old { 0.5 } else { 0.25 };
                old + (sample.min(old * 4.0) - old) * weight
            }
        };
        // What costs much more than was known is measured again at once, until the two agree.
        self.suspect = self.stage >= SETTLED && sample > new * SURPRISE;
        self.cost[choice as usize] = Cost::new(new);
        if self.suspect || choice != self.due() {
            // It is tried again, as often as before.
            self.tries = self.tries.saturating_sub(1);
            return self;
        }
        if woken && self.tries < WAKING_TRIES + COUNTED_TRIES {
            return self;
        }
        self.tries = 0;
        self.advance(len)
    }
}

/// A random number, of a thread's own sequence: good enough that no program's pattern of loops keeps step with it.
#[inline]
fn draw() -> u32 {
    thread_local!(static STATE: Cell<u64> = const { Cell::new(0) });
    // Knuth's linear congruential generator of 64 bits, of which the upper ones are good.
    let next = |state: u64| {
        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
    };
    STATE.with(|state| {
        if state.get() == 0 {
            state.set(seed());
        }
        state.set(next(state.get()));
        (state.get() >> 32) as u32
    })
}

/// Where a thread's numbers begin: threads that launch a few loops each must not all miss the same lots.
#[cold]
fn seed() -> u64 {
    if cfg!(test) {
        // So that tests are the same each time.
        return 1;
    }
    let here = 0_u8;
    // The upper bits of a product depend on all below, which differ.
    let differs = clock::ticks() ^ (std::ptr::from_ref(&here).addr() as u64).rotate_left(32);
    differs.wrapping_mul(6_364_136_223_846_793_005) | 1
}

#[inline]
fn class(len: u64) -> usize {
    (len.max(1).ilog2() as usize / 2).min(CLASSES - 1)
}

impl Memory {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; CLASSES])
    }

    /// How to run a loop of `len` iterations; `busy`: whether the other threads of the pool have work already, another caller's or
    /// that of a loop around this one. Where a class has settled on the serial loop, one load.
    #[inline]
    pub(crate) fn decide(&self, len: u64, busy: impl FnOnce() -> bool) -> Decision {
        let word = self.0[class(len)].load(Relaxed);
        let lot = draw();
        // What tiny loops come to, at the price of a few instructions.
        if Lesson::is_settled_on_serial(word) && !is_drawn((word >> 50) as u8 & 15, lot) {
            return Decision { choice: Choice::Serial, measured: false, left: false };
        }
        Self::decide_by(word, len, busy, lot)
    }

    fn decide_by(word: u64, len: u64, busy: impl FnOnce() -> bool, lot: u32) -> Decision {
        let lesson = Lesson::unpack(word);
        let left = lesson.left;
        // Whether others are busy is seen from lines that they write: it is asked last.
        if lesson.is_small(len) && busy() {
            // The others would come late, if at all; and it would learn nothing of what they could do for this one. What is
            // small when shared may be long by itself: that is found out first, and now and then again.
            let unknown = lesson.known(Choice::Serial).is_none();
            let measured = unknown || lesson.suspect || is_drawn(lesson.stage.max(SETTLED), lot);
            return Decision { choice: Choice::Serial, measured, left };
        }
        if lesson.is_due(lot) {
            return Decision { choice: lesson.due(), measured: true, left };
        }
        Decision { choice: Lesson::best_in(word), measured: false, left }
    }

    /// What came of a loop of `len` iterations.
    pub(crate) fn learn(&self, len: u64, sample: Sample) {
        let word = &self.0[class(len)];
        let lesson = Lesson::unpack(word.load(Relaxed));
        word.store(lesson.after(len, sample).pack(), Relaxed);
    }

    /// What is known of the classes that loops were measured in.
    pub(crate) fn known(&self) -> impl Iterator<Item = Known> {
        let words = self.0.iter().map(|word| word.load(Relaxed)).enumerate();
        words.filter(|&(_, word)| word != 0).map(|(class, word)| {
            let lesson = Lesson::unpack(word);
            let costs = lesson.cost.map(Cost::value);
            Known {
                least: 1 << (2 * class),
                left: lesson.left,
                settled: (lesson.stage >= SETTLED).then(|| lesson.best()),
                costs: std::array::from_fn(|index| (CHOICES[index], costs[index])),
            }
        })
    }

    /// What the class of `len` would choose now, and the nanoseconds an iteration that it expects of serial, static
    /// and stealing loops.
    #[cfg(all(test, not(loom)))]
    fn expectation(&self, len: u64) -> (Choice, [Option<f32>; 3]) {
        let lesson = Lesson::unpack(self.0[class(len)].load(Relaxed));
        (lesson.best(), lesson.cost.map(Cost::value))
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
