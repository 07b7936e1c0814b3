//! Inline or offloaded: what one call site has learnt about its jobs of one size class, and what it decides.
//!
//! Two numbers are compared:
//!
//! - the job's **own time**: how long the closure runs. Measured where it runs: in the submitter, or on the worker.
//! - the **cost** of offloading it: the time that its submitter loses on top of it. That is the time to submit it, and
//!   of the time that somebody then waits for it, the part in which it does not run: before it is begun, and from its
//!   end until the outcome is there. How long a waiter waits *while* the job runs is not charged, except for what the
//!   job runs longer elsewhere than in its submitter, whose cache has the data. So both legs are charged to who waits
//!   for them, and nothing to who does not, however the handle is used:
//!
//! | the handle is | charged is |
//! | --- | --- |
//! | joined, and the job is not begun (so it is taken back) | submitting |
//! | joined while the job runs | submitting, from its end to the joiner's going on, its running longer elsewhere |
//! | joined later | submitting, and taking the outcome |
//! | awaited | submitting, from the first poll to its beginning, from its end to the last poll, its running longer |
//! | dropped | submitting |
//!
//! **Inline** is preferred when the job's own time is at most the cost, and at most [`BUDGET`] in its estimate and in
//! the last inline run. First come [`FIRST_TRIES`] offloaded jobs, then, if the job is within the budget, one inline.
//!
//! Later the other side is **probed** now and then, since jobs and machines change. Each run of the preferred side pays
//! a share of the job's own time into an account, from which a probe's loss is paid: the share starts at 1/32 and is
//! halved each time that a probe confirms the preference, down to 1/1024, and is back at 1/32 when the preference
//! changes, or a probe turns out much better than expected. At least [`PROBE_GAP`] runs lie between two probes. So probes cost at most 1/32, about 3 %, of a call
//! site's time, beyond the first tries and the surprise of the last probe; and an offloaded job beyond the budget is
//! never probed inline.
//!
//! **Estimates** follow samples downwards by half and upwards by a quarter, and take a sample that is more than eight
//! times too high for one eight times too high: noise makes times longer, never shorter. Only jobs that return teach;
//! a panic after a microsecond does not make a job small.
//!
//! The numbers are written by many threads without care for each other (`Relaxed`, no read-modify-write): a lost sample
//! is as good as none.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::clock::ticks;

/// A job that runs longer than this never runs in its submitter, unless no worker can be had.
pub(super) const BUDGET: Duration = Duration::from_millis(1);
/// So many jobs are offloaded before anything is decided.
const FIRST_TRIES: u64 = 2;
/// So many runs lie between two probes at least.
const PROBE_GAP: u64 = 8;
/// What a run pays for probes is its own time divided by two to the power of this.
const FIRST_SHARE: u64 = 5;
const LAST_SHARE: u64 = 10;
/// After a probe, the account holds so many expected losses at most, that of the probe included.
const SAVINGS: i64 = 4;
/// The account is as fine as the smallest share.
const FRACTION: i64 = 1 << LAST_SHARE;

/// Where a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// In its submitter, at once.
    Inline,
    /// On a worker.
    Offload,
}

/// A decision about one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) side: Side,
    /// Whether the job runs there only to see whether that side is still the worse one.
    pub(super) is_probe: bool,
}

/// What is known of the jobs of one size class. All times are in ticks; 0: not known.
#[derive(Debug, Default)]
pub(super) struct Class {
    /// The own time in the submitter, and on a worker.
    inline_time: AtomicU64,
    away_time: AtomicU64,
    /// What offloading costs.
    cost: AtomicU64,
    /// The last inline run as it was measured.
    last_inline: AtomicU64,
    /// How many jobs were decided to run inline, and to be offloaded, and how many costs were measured.
    inlined: AtomicU64,
    offloaded: AtomicU64,
    costs: AtomicU64,
    prefers_inline: AtomicBool,
    /// Runs since the last probe.
    gap: AtomicU64,
    /// What probes may cost now, in 1/[`FRACTION`] ticks; below zero after one that cost more than expected.
    account: AtomicI64,
    /// The loss that was expected of the last probe, and paid for it.
    expected: AtomicU64,
    /// See [`FIRST_SHARE`].
    share: AtomicU64,
    /// How many probes there were.
    probes: AtomicU64,
}

/// A class for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Knowledge {
    pub(super) inline_time: u64,
    pub(super) away_time: u64,
    pub(super) cost: u64,
    pub(super) inlined: u64,
    pub(super) offloaded: u64,
    pub(super) probes: u64,
    pub(super) prefers_inline: bool,
}

impl Class {
    /// Decides where the next job runs; `budget` is [`BUDGET`] in ticks.
    pub(super) fn decide(&self, budget: u64) -> Decision {
        let decision = self.choose(budget);
        match decision.side {
            Side::Inline => bump(&self.inlined),
            Side::Offload => bump(&self.offloaded),
        }
        if decision.is_probe {
            bump(&self.probes);
        }
        decision
    }

    fn choose(&self, budget: u64) -> Decision {
        let decided = |side| Decision { side, is_probe: false };
        let (inline_time, away_time) =
            (self.inline_time.load(Relaxed), self.away_time.load(Relaxed));
        let cost = self.cost.load(Relaxed);
        if self.costs.load(Relaxed) < FIRST_TRIES || (inline_time == 0 && away_time == 0) {
            return decided(Side::Offload);
        }
        if inline_time == 0 && away_time <= budget {
            return decided(Side::Inline);
        }
        let own = self.own_time(inline_time, away_time);
        let slow_last_time = self.last_inline.load(Relaxed) > budget;
        let prefers_inline = own <= cost && own <= budget && !slow_last_time;
        if self.prefers_inline.load(Relaxed) != prefers_inline {
            self.prefers_inline.store(prefers_inline, Relaxed);
            self.share.store(FIRST_SHARE, Relaxed);
            self.gap.store(0, Relaxed);
        }
        let (preferred, other, loss) = if prefers_inline {
            (Side::Inline, Side::Offload, cost.saturating_sub(own))
        } else {
            (Side::Offload, Side::Inline, own.saturating_sub(cost))
        };
        let may_probe = prefers_inline || own <= budget;
        if may_probe && self.probes_now(loss) {
            return Decision { side: other, is_probe: true };
        }
        decided(preferred)
    }

    /// The job's own time in its submitter, by the side that is measured now: what was measured on the other side may
    /// be out of date.
    fn own_time(&self, inline_time: u64, away_time: u64) -> u64 {
        match (inline_time, away_time) {
            (0, time) | (time, 0) => time,
            (inline, _) if self.prefers_inline.load(Relaxed) => inline,
            // Elsewhere jobs run as long or longer.
            (inline, away) => inline.min(away),
        }
    }

    /// Whether one of the calls now is to probe the other side, by an expected loss.
    fn probes_now(&self, loss: u64) -> bool {
        let gap = self.gap.load(Relaxed) + 1;
        self.gap.store(gap, Relaxed);
        let account = self.account.load(Relaxed);
        if gap <= PROBE_GAP || account < in_account(loss) {
            return false;
        }
        // One of several callers at once.
        let claimed = self.gap.compare_exchange(gap, 0, Relaxed, Relaxed).is_ok();
        if claimed {
            // Savings of quiet times are not kept for a spree.
            let left = account.min(in_account(loss).saturating_mul(SAVINGS)) - in_account(loss);
            self.account.store(left, Relaxed);
            self.expected.store(loss, Relaxed);
        }
        claimed
    }

    /// A job has run in its submitter.
    fn ran_inline(&self, time: u64, is_probe: bool) {
        self.last_inline.store(time, Relaxed);
        follow(&self.inline_time, time);
        if is_probe {
            self.pay_for_probe(time, self.cost.load(Relaxed));
        } else if self.prefers_inline.load(Relaxed) {
            self.pay_in(time);
        }
    }

    /// A job has run on a worker, or in the joiner that has taken it back.
    fn ran_elsewhere(&self, time: u64, is_probe: bool) {
        follow(&self.away_time, time);
        if !is_probe && !self.prefers_inline.load(Relaxed) {
            self.pay_in(time);
        }
    }

    /// The cost of an offloaded job is known.
    fn offloaded(&self, cost: u64, is_probe: bool) {
        let cost = cost.max(1);
        let costs = self.costs.load(Relaxed);
        if costs < FIRST_TRIES {
            // Of the first ones, which may include the making of threads, the least counts.
            let before = self.cost.load(Relaxed);
            self.cost.store(if before == 0 { cost } else { before.min(cost) }, Relaxed);
        } else {
            follow(&self.cost, cost);
        }
        self.costs.store(costs + 1, Relaxed);
        if is_probe {
            self.pay_for_probe(cost, self.inline_time.load(Relaxed));
        }
    }

    /// A probe has taken `took` where the preferred side would have taken about `instead`; its expected loss is paid
    /// already.
    fn pay_for_probe(&self, took: u64, instead: u64) {
        let (loss, expected) = (took.saturating_sub(instead), self.expected.load(Relaxed));
        let account = self.account.load(Relaxed).saturating_add(in_account(expected));
        self.account.store(account.saturating_sub(in_account(loss)), Relaxed);
        // One that went much better than expected confirms nothing: the next one should come soon.
        let confirms = loss >= expected / 2;
        let share = self.share.load(Relaxed).max(FIRST_SHARE);
        self.share.store(if confirms { (share + 1).min(LAST_SHARE) } else { FIRST_SHARE }, Relaxed);
    }

    fn pay_in(&self, time: u64) {
        let share = self.share.load(Relaxed).max(FIRST_SHARE);
        let paid = in_account(time) >> share;
        self.account.store(self.account.load(Relaxed).saturating_add(paid), Relaxed);
    }

    /// How much longer a job that ran `away` ran than it would have in its submitter.
    fn excess(&self, away: u64) -> u64 {
        match self.inline_time.load(Relaxed) {
            0 => 0,
            inline => away.saturating_sub(inline),
        }
    }

    pub(super) fn knowledge(&self) -> Knowledge {
        Knowledge {
            inline_time: self.inline_time.load(Relaxed),
            away_time: self.away_time.load(Relaxed),
            cost: self.cost.load(Relaxed),
            inlined: self.inlined.load(Relaxed),
            offloaded: self.offloaded.load(Relaxed),
            probes: self.probes.load(Relaxed),
            prefers_inline: self.prefers_inline.load(Relaxed),
        }
    }
}

fn in_account(ticks: u64) -> i64 {
    i64::try_from(ticks).unwrap_or(i64::MAX).saturating_mul(FRACTION)
}

fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

/// Moves an estimate towards a sample.
fn follow(estimate: &AtomicU64, sample: u64) {
    let sample = sample.max(1);
    let now = match estimate.load(Relaxed) {
        0 => sample,
        old if sample <= old => sample + (old - sample) / 2,
        old => old + (sample.min(old.saturating_mul(8)) - old).div_ceil(4),
    };
    estimate.store(now, Relaxed);
}

/// When what happened to an offloaded job, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Journey {
    /// What submitting it took its submitter.
    pub(super) submitting: u64,
    /// When its handle was first waited for.
    pub(super) waited_from: u64,
    pub(super) started: u64,
    pub(super) ended: u64,
    /// When whoever waited went on.
    pub(super) received: u64,
}

impl Journey {
    /// What the job's being offloaded has cost; `excess`: how much longer it ran than it would have inline.
    fn cost(&self, excess: u64) -> u64 {
        let Self { submitting, waited_from, started, ended, received } = *self;
        let before = started.saturating_sub(waited_from);
        let after = received.saturating_sub(ended.max(waited_from));
        let during = ended.saturating_sub(started.max(waited_from));
        submitting + before + after + excess.min(during)
    }
}

/// Whom the measurements of one job teach.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lesson {
    class: Option<&'static Class>,
    is_probe: bool,
}

impl Lesson {
    /// Measurements are for nobody.
    pub(super) const NONE: Self = Self { class: None, is_probe: false };

    pub(super) fn new(class: &'static Class, decision: Decision) -> Self {
        Self { class: Some(class), is_probe: decision.is_probe }
    }

    /// The time now for a measurement, in ticks; 0 where nobody is taught, since reading the clock is a good part of what
    /// an empty job costs.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        if self.class.is_some() { ticks() } else { 0 }
    }

    pub(super) fn ran_inline(&self, time: u64) {
        if let Some(class) = self.class {
            class.ran_inline(time, self.is_probe);
        }
    }

    pub(super) fn ran_elsewhere(&self, time: u64) {
        if let Some(class) = self.class {
            class.ran_elsewhere(time, self.is_probe);
        }
    }

    /// Nobody has waited for the job, or it was taken back.
    pub(super) fn offloaded(&self, submitting: u64) {
        if let Some(class) = self.class {
            class.offloaded(submitting, self.is_probe);
        }
    }

    /// Somebody has waited for the job and got its outcome.
    pub(super) fn waited_for(&self, journey: &Journey) {
        if let Some(class) = self.class {
            let excess = class.excess(journey.ended.saturating_sub(journey.started));
            class.offloaded(journey.cost(excess), self.is_probe);
        }
    }
}
