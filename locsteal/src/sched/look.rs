//! Looking around: what a participant does that has run out of work, victim by victim.

use super::block::Span;
use super::presence::{Phase, Stamp};
use super::rules::{Rules, Sight};
use super::schedule::Kind;
use super::step::{View, Walk, below, dealt_first};

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
        let mut over = None;
        let mut expired =
            |walk: &mut Self| *over.get_or_insert_with(|| walk.had_chance(view, &now));
        for victim in rules.local(view, self.thief) {
            match self.look_at(view, victim, limit, &mut expired, rules) {
                Look::Nothing => {}
                Look::Later => result = Look::Later,
                got @ Look::Got(_) => return got,
            }
        }
        let mut remote = rules.remote(view, self.thief).peekable();
        self.tally.remote_passes += u64::from(remote.peek().is_some());
        for victim in remote {
            match self.look_at(view, victim, limit, &mut expired, rules) {
                Look::Nothing => {}
                Look::Later => result = Look::Later,
                got @ Look::Got(_) => return got,
            }
        }
        result
    }

    /// Whether the owners of blocks that nobody has begun have had a fair chance: about as long as this participant's
    /// own block took, by the one clock that all blocks share, and at most `patience` more.
    fn had_chance(&mut self, view: &View<'_>, now: impl Fn() -> u64) -> bool {
        if view.launched == 0 {
            return true;
        }
        let now = now();
        let own = self.idle_since.get_or_insert(now).saturating_sub(view.launched);
        now.saturating_sub(view.launched) >= own.saturating_add(own.min(view.patience))
    }

    fn look_at(
        &mut self,
        view: &View<'_>,
        victim: usize,
        limit: u32,
        expired: &mut impl FnMut(&mut Self) -> bool,
        rules: &mut impl Rules,
    ) -> Look {
        if victim == self.thief.seat {
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
                if !expired(self) {
                    self.tally.protected_skips += 1;
                    return Look::Later;
                }
                self.rescue(view, victim, limit, seen, rules)
            }
            Some(Phase::Begun | Phase::Taken) if view.kind.publishes() => Look::Later,
            Some(Phase::Present | Phase::Rescued) if view.kind.publishes() => {
                self.steal(view, victim, limit, rules)
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
        if !rest.is_empty() {
            line.block.set(rest);
            line.presence.publish(view.generation, Phase::Rescued);
            self.at_block = victim;
            self.last = first.len();
        }
        if let Kind::StaticChunk(chunk) = view.kind {
            self.dealt = Some(dealt_first(victim, chunk));
            return self.take_dealt(view, chunk, limit).map_or(Look::Later, Look::Got);
        }
        Look::Got(first)
    }

    /// Takes a quarter of what is left in a block, from its back; what is not run at once goes into the own block.
    fn steal<R: Rules>(
        &mut self,
        view: &View<'_>,
        victim: usize,
        limit: u32,
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
        if !rest.is_empty() {
            rules.saw(Sight::Put(self.thief.seat));
        }
        if rest.is_empty() || view.board.seat(self.thief.seat).block.refill(rest) {
            self.last = first.len();
            Look::Got(first)
        } else {
            Look::Got(stolen)
        }
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
