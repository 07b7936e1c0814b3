//! Looking around: what a participant does that has run out of work, victim by victim.

use super::block::Span;
use super::presence::{Phase, Stamp};
use super::rules::{Rules, Sight};
use super::schedule::{Kind, Locality};
use super::step::{Pace, Role, TINY_SHARE, View, Walk, below, dealt_first};
use crate::stats::Tier;

/// What a look at one victim came to.
pub(super) enum Look {
    Got(Span),
    /// Nothing now, perhaps later.
    Later,
    Nothing,
}

impl Walk {
    /// One pass over the near victims, then, if that found nothing, one over the far ones.
    pub(super) fn look_around(
        &mut self,
        view: &View<'_>,
        limit: u32,
        now: impl Fn() -> u64,
        rules: &mut impl Rules,
    ) -> Look {
        let mut result = Look::Nothing;
        let mut clock = Clock { now, read: None };
        for victim in rules.local(view, self.thief) {
            match self.look_at(view, victim, limit, &mut clock, rules) {
                Look::Nothing => {}
                Look::Later => result = Look::Later,
                got @ Look::Got(_) => return got,
            }
        }
        let mut remote = rules.remote(view, self.thief).peekable();
        self.tally.remote_passes += u64::from(remote.peek().is_some());
        for victim in remote {
            match self.look_at(view, victim, limit, &mut clock, rules) {
                Look::Nothing => {}
                Look::Later => result = Look::Later,
                got @ Look::Got(_) => return got,
            }
        }
        result
    }

    /// Whether the owners of blocks that nobody has begun have had a fair chance: about as long as this participant's
    /// own block took, by the one clock that all blocks share, and at most `patience` more.
    fn had_chance(&mut self, view: &View<'_>, clock: &mut Clock<impl Fn() -> u64>) -> bool {
        if view.launched == 0 {
            return true;
        }
        let now = clock.now();
        let own = self.idle_since.get_or_insert(now).saturating_sub(view.launched);
        now.saturating_sub(view.launched) >= own.saturating_add(own.min(view.patience))
    }

    fn look_at(
        &mut self,
        view: &View<'_>,
        victim: usize,
        limit: u32,
        clock: &mut Clock<impl Fn() -> u64>,
        rules: &mut impl Rules,
    ) -> Look {
        if victim == self.thief.seat || (view.caller == Some(victim) && !view.kind.publishes()) {
            // Where nobody steals, the caller's line is read by nobody, and its to write without asking.
            return Look::Nothing;
        }
        if self.role == Role::Caller && view.board.departure(victim).has_left(view.generation) {
            // Its line is left to its owner. Others do not ask: they do not read that line anyway, as the caller must.
            return Look::Nothing;
        }
        rules.saw(Sight::Looked(victim));
        let line = view.board.seat(victim);
        let seen = line.presence.read();
        match seen.phase(view.generation) {
            None => {
                if !has_work(view, victim, limit) {
                    return Look::Nothing;
                }
                if !self.had_chance(view, clock) {
                    self.tally.protected_skips += 1;
                    return Look::Later;
                }
                self.rescue(view, victim, limit, seen, clock, rules)
            }
            Some(Phase::Begun | Phase::Taken) if view.kind.publishes() => Look::Later,
            Some(Phase::Present | Phase::Rescued) if view.kind.publishes() => {
                if self.spares(view, victim, clock) {
                    return Look::Nothing;
                }
                self.steal(view, victim, limit, clock, rules)
            }
            Some(_) => Look::Nothing,
        }
    }

    /// Begins a block in place of its owner.
    fn rescue(
        &mut self,
        view: &View<'_>,
        victim: usize,
        limit: u32,
        seen: Stamp,
        clock: &Clock<impl Fn() -> u64>,
        rules: &mut impl Rules,
    ) -> Look {
        let line = view.board.seat(victim);
        let block = below(view.deal.block(victim), limit);
        let (first, rest) = match view.kind {
            Kind::Steal => block.split_front(self.chunk(block, view)),
            _ => (block, Span::EMPTY),
        };
        // What is taken whole leaves nothing that a late owner could help with.
        let phase = if rest.is_empty() { Phase::Shut } else { Phase::Taken };
        if !line.presence.claim(seen, view.generation, phase) {
            return Look::Later;
        }
        rules.saw(Sight::Rescued(victim));
        self.tally.rescues += 1;
        if rest.is_empty() && self.role == Role::Caller && view.deal.width() == 2 {
            // The only other seat is shut: there is nobody to look for, or to wait for.
            self.settled = 2;
        }
        if !rest.is_empty() {
            line.block.set(rest);
            line.presence.publish(view.generation, Phase::Rescued);
            self.at_block = victim;
            self.begins((clock.now)(), first);
        }
        if let Kind::StaticChunk(chunk) = view.kind {
            self.dealt = Some(dealt_first(victim, chunk));
            return self.take_dealt(view, chunk, limit).map_or(Look::Later, Look::Got);
        }
        Look::Got(first)
    }

    /// Whether what is left in a block is best left to its owner: going by the time that the owner has needed so far,
    /// and by that which this participant needed lately, it will be done before a thief has brought the data over.
    fn spares(
        &mut self,
        view: &View<'_>,
        victim: usize,
        clock: &mut Clock<impl Fn() -> u64>,
    ) -> bool {
        let (left, block) = (view.board.seat(victim).block.left(), view.deal.block(victim));
        // What a thief put there tells nothing of its owner's pace.
        if left.is_empty() || left.lo <= block.lo || left.hi > block.hi {
            return false;
        }
        let now = clock.now();
        self.ends(now);
        let since = if view.launched == 0 { self.since } else { view.launched };
        if since == 0 {
            return false;
        }
        let times = match view.orders.tier(self.thief.near, victim) {
            _ if view.locality == Locality::Flat => WORTH_IN_CACHE,
            Tier::Llc | Tier::Unknown => WORTH_IN_CACHE,
            Tier::Node => WORTH_IN_NODE,
            Tier::Remote => WORTH_ACROSS_NODES,
        };
        let worth = view.patience / TINY_SHARE * times;
        let owner = Pace { units: left.lo - block.lo, took: now.saturating_sub(since) };
        owner.foretells()
            && owner.time_of(left.len()).is_some_and(|time| time < worth)
            && self.pace.time_of(left.len()).is_none_or(|time| time < worth)
    }

    /// Takes a quarter of what is left in a block, from its back; what is not run at once goes into the own block.
    fn steal<R: Rules>(
        &mut self,
        view: &View<'_>,
        victim: usize,
        limit: u32,
        clock: &Clock<impl Fn() -> u64>,
        rules: &mut R,
    ) -> Look {
        let stolen = view.board.seat(victim).block.take(|left| {
            let left = below(left, limit);
            left.split_back((left.len() / R::STEAL_SHARE).max(view.grain))
        });
        let Some(stolen) = stolen else {
            return Look::Nothing;
        };
        rules.saw(Sight::Took(victim));
        *self.tally.steals.at(view.orders.tier(self.thief.near, victim)) += 1;
        self.at_block = self.thief.seat;
        let (first, rest) = stolen.split_front(self.chunk(stolen, view));
        if rest.is_empty() {
            self.begins(0, first);
            return Look::Got(first);
        }
        rules.saw(Sight::Put(self.thief.seat));
        self.begins((clock.now)(), first);
        if view.board.seat(self.thief.seat).block.refill(rest) {
            Look::Got(first)
        } else {
            Look::Got(stolen)
        }
    }
}

/// What is left in a block is worth a thief's while if it takes so many times what is worth sharing at all
/// ([`TINY_SHARE`]): more where the data is farther away.
const WORTH_IN_CACHE: u64 = 1;
const WORTH_IN_NODE: u64 = 2;
const WORTH_ACROSS_NODES: u64 = 4;

/// A clock that is read at most once a look around.
struct Clock<F> {
    now: F,
    read: Option<u64>,
}

impl<F: Fn() -> u64> Clock<F> {
    fn now(&mut self) -> u64 {
        *self.read.get_or_insert_with(&self.now)
    }
}

/// Whether a seat that nobody has begun has anything to begin.
fn has_work(view: &View<'_>, seat: usize, limit: u32) -> bool {
    if let Kind::StaticChunk(chunk) = view.kind {
        dealt_first(seat, chunk) < u64::from(limit)
    } else {
        !below(view.deal.block(seat), limit).is_empty()
    }
}
