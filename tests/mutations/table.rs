//! The rules of the step function and its shared state, and how each is broken. Those of launching stand in `launching.rs`.

/// A change of the source that breaks a rule.
pub(crate) struct Mutation {
    pub(crate) rule: &'static str,
    pub(crate) broken: &'static str,
    pub(crate) file: &'static str,
    /// Stands in the file exactly once.
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

impl Mutation {
    /// The tests under which it must not survive, by what their names begin with: those of the runtime's part that is broken.
    pub(crate) fn tests(&self) -> String {
        let inside = self.file.trim_start_matches("locsteal/src/");
        inside.split('/').next().map_or_else(String::new, |part| format!("{part}::"))
    }

    /// The source with the rule broken.
    pub(crate) fn apply(&self, source: &str) -> Result<String, String> {
        match source.matches(self.from).count() {
            1 => Ok(source.replacen(self.from, self.to, 1)),
            count => Err(format!(
                "to break {} ({}), one place of {} must read as follows, and {count} do: bring the table of \
                 mutations in line with the source\n{}",
                self.rule, self.broken, self.file, self.from
            )),
        }
    }
}

const BLOCK: &str = "locsteal/src/sched/block.rs";
const BOARD: &str = "locsteal/src/sched/board.rs";
const ENDING: &str = "locsteal/src/sched/ending.rs";
const LOOK: &str = "locsteal/src/sched/look.rs";
const PARTITION: &str = "locsteal/src/sched/partition.rs";
const PRESENCE: &str = "locsteal/src/sched/presence.rs";
const RULES: &str = "locsteal/src/sched/rules.rs";
const STEP: &str = "locsteal/src/sched/step.rs";
const VICTIMS: &str = "locsteal/src/sched/victims.rs";

pub(crate) const MUTATIONS: &[Mutation] = &[
    Mutation {
        rule: "R1",
        broken: "a thief leaves what it took in the victim's block",
        file: BLOCK,
        from: "(Self::new(mid, self.hi), Self::new(self.lo, mid))",
        to: "(Self::new(mid, self.hi), self)",
    },
    Mutation {
        rule: "R1",
        broken: "a rescuer begins a block without a claim",
        file: LOOK,
        from: "if !line.presence.claim(seen, view.generation, phase) {\n            return Look::Later;",
        to: "if !line.presence.claim(seen, view.generation, phase) && false {\n            return Look::Later;",
    },
    Mutation {
        rule: "R1",
        broken: "a late owner begins its rescued block again",
        file: BOARD,
        from: "Some(Phase::Rescued) => (Phase::Present, Entry::Late)",
        to: "Some(Phase::Rescued) => (Phase::Begun, Entry::Owner)",
    },
    Mutation {
        rule: "R1",
        broken: "with an exit, chunks below it are dropped as well",
        file: PARTITION,
        from: "bound.div_ceil(self.unit) as u32",
        to: "(bound / self.unit / 2) as u32",
    },
    Mutation {
        rule: "R1",
        broken: "the highest exit wins",
        file: ENDING,
        from: "self.exit.fetch_min(position, Ordering::Relaxed);",
        to: "self.exit.store(position, Ordering::Relaxed);",
    },
    Mutation {
        rule: "R2",
        broken: "the caller leaves while workers are inside",
        file: STEP,
        from: "Some(Phase::Begun | Phase::Present) => return Step::Wait(Some(seat)),",
        to: "Some(Phase::Begun | Phase::Present) => {}",
    },
    Mutation {
        rule: "R2",
        broken: "the caller leaves seats open to workers that come later",
        file: STEP,
        from: "if !presence.claim(seen, view.generation, Phase::Shut) {\n                        continue;\n                    }",
        to: "",
    },
    Mutation {
        rule: "R2",
        broken: "a seat that a later loop uses may still be entered for an earlier one",
        file: PRESENCE,
        from: "if over { Some(Phase::Shut) } else { None }",
        to: "if over && false { Some(Phase::Shut) } else { None }",
    },
    Mutation {
        rule: "R2",
        broken: "who has left an earlier loop counts as having left this one",
        file: PRESENCE,
        from: "self.0.load(Ordering::Acquire) == Self::word(generation, Self::LEFT)",
        to: "self.0.load(Ordering::Acquire) & 3 == Self::LEFT && generation.0 > 0",
    },
    Mutation {
        rule: "R2",
        broken: "who leaves does not tell that the caller sleeps",
        file: PRESENCE,
        from: "was == Self::word(generation, Self::AWAITED)",
        to: "was == Self::word(generation, Self::LEFT)",
    },
    Mutation {
        rule: "R2",
        broken: "the caller goes to sleep for one who has left",
        file: PRESENCE,
        from: "seen != Self::word(generation, Self::LEFT)",
        to: "seen != Self::word(generation.next(), Self::LEFT)",
    },
    Mutation {
        rule: "R5",
        broken: "blocks are dealt from the caller's seat on",
        file: STEP,
        from: "            Kind::Steal => {\n                self.own = view.deal.block(self.thief.seat);",
        to: "            Kind::Steal => {\n                self.own = view.deal.block((self.thief.seat + usize::from(self.role == Role::Caller)) % view.deal.width());",
    },
    Mutation {
        rule: "R5",
        broken: "static blocks go to the seats in reverse",
        file: STEP,
        from: "            Kind::Static => {\n                self.own = view.deal.block(self.thief.seat);",
        to: "            Kind::Static => {\n                self.own = view.deal.block(view.deal.width() - 1 - self.thief.seat);",
    },
    Mutation {
        rule: "R5",
        broken: "dealt chunks begin at the next seat",
        file: STEP,
        from: "    seat as u64 * u64::from(chunk)\n",
        to: "    (seat + 1) as u64 * u64::from(chunk)\n",
    },
    Mutation {
        rule: "R6",
        broken: "blocks are not protected",
        file: LOOK,
        from: "if view.launched == 0 {\n            return true;",
        to: "if view.launched != 1 {\n            return true;",
    },
    Mutation {
        rule: "R6",
        broken: "blocks are never rescued",
        file: LOOK,
        from: "if !self.had_chance(view, clock) {",
        to: "if !self.had_chance(view, clock) || true {",
    },
    Mutation {
        rule: "R6",
        broken: "each late owner costs a delay of its own",
        file: LOOK,
        from: "        self.tally.rescues += 1;",
        to: "        self.tally.rescues += 1;\n        self.idle_since = None;",
    },
    Mutation {
        rule: "R6",
        broken: "patience has no end",
        file: LOOK,
        from: "own.min(view.patience)",
        to: "own",
    },
    Mutation {
        rule: "R6",
        broken: "every block gets the whole of patience",
        file: LOOK,
        from: "own.min(view.patience)",
        to: "view.patience",
    },
    Mutation {
        rule: "R6",
        broken: "the fair chance begins when the thief is done, not at the launch",
        file: LOOK,
        from: ">= own.saturating_add(",
        to: ">= own.saturating_mul(2).saturating_add(",
    },
    Mutation {
        rule: "R6",
        broken: "tiny loops are protected",
        file: LOOK,
        from: "        if view.launched == 0 {\n            return true;\n        }",
        to: "",
    },
    Mutation {
        rule: "R6",
        broken: "a block that its owner is laying out is stolen from",
        file: LOOK,
        from: "Some(Phase::Begun | Phase::Taken) if view.kind.publishes() => Look::Later,\n            Some(Phase::Present | Phase::Rescued)",
        to: "Some(Phase::Taken) if view.kind.publishes() => Look::Later,\n            Some(Phase::Begun | Phase::Present | Phase::Rescued)",
    },
    Mutation {
        rule: "R6",
        broken: "a protected block keeps its thief from looking further",
        file: LOOK,
        from: "                    self.tally.protected_skips += 1;\n                    return Look::Later;",
        to: "                    self.tally.protected_skips += 1;\n                    return Look::Got(Span::EMPTY);",
    },
    Mutation {
        rule: "R7",
        broken: "a thief takes half",
        file: RULES,
        from: "const STEAL_SHARE: u32 = 4;",
        to: "const STEAL_SHARE: u32 = 2;",
    },
    Mutation {
        rule: "R7",
        broken: "a thief takes from the front",
        file: LOOK,
        from: "left.split_back((left.len() / R::STEAL_SHARE).max(view.grain))",
        to: "left.split_front((left.len() / R::STEAL_SHARE).max(view.grain))",
    },
    Mutation {
        rule: "R7",
        broken: "a thief may take less than the grain",
        file: LOOK,
        from: "left.split_back((left.len() / R::STEAL_SHARE).max(view.grain))",
        to: "left.split_back((left.len() / R::STEAL_SHARE).max(1))",
    },
    Mutation {
        rule: "R7",
        broken: "a thief keeps what it took to itself",
        file: LOOK,
        from: "let (first, rest) = stolen.split_front(self.chunk(stolen, view));",
        to: "let (first, rest) = (stolen, Span::EMPTY);",
    },
    Mutation {
        rule: "R7",
        broken: "what a rescuer does not run at once goes to its own seat",
        file: LOOK,
        from: "            line.block.set(rest);\n            line.presence.publish(view.generation, Phase::Rescued);\n            self.at_block = victim;",
        to: "            view.board.seat(self.thief.seat).block.set(rest);\n            line.presence.publish(view.generation, Phase::Rescued);",
    },
    Mutation {
        rule: "R7",
        broken: "a rescuer steals from the block that it rescued instead of working on it",
        file: LOOK,
        from: "            self.at_block = victim;\n",
        to: "",
    },
    Mutation {
        rule: "R7",
        broken: "crumbs are stolen from their owners",
        file: LOOK,
        from: "                if self.spares(view, victim, clock) {",
        to: "                if self.spares(view, victim, clock) && false {",
    },
    Mutation {
        rule: "R7",
        broken: "crumbs of a slow owner are left to it",
        file: LOOK,
        from: "owner.time_of(left.len()).is_some_and(|time| time < worth)",
        to: "owner.time_of(left.len()).is_some_and(|_| true)",
    },
    Mutation {
        rule: "R7",
        broken: "a few iterations that took little foretell the rest",
        file: STEP,
        from: "        self.units >= SAMPLE\n",
        to: "        true\n",
    },
    Mutation {
        rule: "R7",
        broken: "a thief that was slow of late takes its own pace for the owner's first",
        file: LOOK,
        from: "self.pace.time_of(left.len()).is_none_or(|time| time < worth)",
        to: "self.pace.time_of(left.len()).is_none_or(|_| true)",
    },
    Mutation {
        rule: "R7",
        broken: "what a thief put at its seat is left to it",
        file: LOOK,
        from: "left.is_empty() || left.lo <= block.lo || left.hi > block.hi",
        to: "left.is_empty() || left.lo == block.lo",
    },
    Mutation {
        rule: "R8",
        broken: "crumbs of another node are worth as much as near ones",
        file: LOOK,
        from: "const WORTH_ACROSS_NODES: u64 = 4;",
        to: "const WORTH_ACROSS_NODES: u64 = 1;",
    },
    Mutation {
        rule: "R8",
        broken: "the order is a cycle",
        file: VICTIMS,
        from: "            super::Locality::Llc => self.by_cache.get(thief),",
        to: "            super::Locality::Llc => None,",
    },
    Mutation {
        rule: "R8",
        broken: "caches are ignored",
        file: VICTIMS,
        from: "orders(true)",
        to: "orders(false)",
    },
    Mutation {
        rule: "R8",
        broken: "nodes are not sorted by distance",
        file: VICTIMS,
        from: "(2, distance(home.node, other.node))",
        to: "(2, other.node as u32)",
    },
    Mutation {
        rule: "R8",
        broken: "near tiers begin at their first seat for every thief",
        file: VICTIMS,
        from: "seats.iter().position(|&seat| usize::from(seat) > thief).unwrap_or(0)",
        to: "0",
    },
    Mutation {
        rule: "R8",
        broken: "all thieves of a node begin at the same victim of another",
        file: VICTIMS,
        from: "rank % seats.len()",
        to: "0",
    },
    Mutation {
        rule: "R8",
        broken: "thieves of all nodes begin at the first of the others",
        file: VICTIMS,
        from: "(node < home.node, node)",
        to: "(false, node)",
    },
    Mutation {
        rule: "R8",
        broken: "seats beyond the width are not skipped",
        file: VICTIMS,
        from: "if usize::from(seat) < self.width {",
        to: "if true {",
    },
    Mutation {
        rule: "R9",
        broken: "other nodes are looked at first",
        file: LOOK,
        from: "for victim in rules.local(view, self.thief) {",
        to: "for victim in rules.remote(view, self.thief).chain(rules.local(view, self.thief)) {",
    },
    Mutation {
        rule: "R9",
        broken: "a thief goes on at the victim that it found last",
        file: LOOK,
        from: "        self.at_block = self.thief.seat;\n        let (first, rest)",
        to: "        self.at_block = victim;\n        let (first, rest)",
    },
    Mutation {
        rule: "R9",
        broken: "a thief drops what it brought from afar at the victim's seat",
        file: LOOK,
        from: "view.board.seat(self.thief.seat).block.refill(rest)",
        to: "view.board.seat(victim).block.refill(rest)",
    },
    Mutation {
        rule: "R10",
        broken: "participants leave after a pass over their own node",
        file: LOOK,
        from: "        for victim in remote {",
        to: "        for victim in remote.take(0) {",
    },
    Mutation {
        rule: "R10",
        broken: "participants leave although a block may still need them",
        file: STEP,
        from: "Look::Later => return Step::Wait(None),",
        to: "Look::Later => {}",
    },
    Mutation {
        rule: "R10",
        broken: "the last victim is never looked at",
        file: VICTIMS,
        from: "left: width - usize::from(thief < width), width }",
        to: "left: (width - usize::from(thief < width)).saturating_sub(1), width }",
    },
    Mutation {
        rule: "R11",
        broken: "nearness is that of the seat, wherever the caller is",
        file: VICTIMS,
        from: "        match self.order(thief.near, locality) {\n            Some(order) => Victims::listed(&order.victims[..order.local], width, thief.near),",
        to: "        match self.order(thief.seat, locality) {\n            Some(order) => Victims::listed(&order.victims[..order.local], width, thief.seat),",
    },
    Mutation {
        rule: "R11",
        broken: "steals are counted by the seat's place, wherever the caller is",
        file: LOOK,
        from: "steals.at(view.orders.tier(self.thief.near, victim))",
        to: "steals.at(view.orders.tier(self.thief.seat, victim))",
    },
    Mutation {
        rule: "R12",
        broken: "chunks are handed out after a panic",
        file: ENDING,
        from: "self.bound.store(0, Ordering::Relaxed);",
        to: "",
    },
    Mutation {
        rule: "R12",
        broken: "what a stopped loop left is found by the next one",
        file: BOARD,
        from: "                seat.block.set(Span::EMPTY);",
        to: "                let _ = seat;",
    },
    Mutation {
        rule: "edges",
        broken: "long blocks begin anywhere",
        file: PARTITION,
        from: "edge & !(self.edge - 1)",
        to: "edge",
    },
    Mutation {
        rule: "edges",
        broken: "long blocks begin at edges of cache lines, not of pairs of them",
        file: PARTITION,
        from: "(1024, 16)",
        to: "(1024, 8)",
    },
    Mutation {
        rule: "edges",
        broken: "the longest blocks do not begin at pages",
        file: PARTITION,
        from: "(131_072, 512)",
        to: "(131_072, 16)",
    },
    Mutation {
        rule: "edges",
        broken: "short blocks give much of themselves for an edge",
        file: PARTITION,
        from: "(256, 8)",
        to: "(64, 8)",
    },
    Mutation {
        rule: "edges",
        broken: "what an edge gives to a neighbour does not count as its own",
        file: PARTITION,
        from: "let moved = next < self.width && unit >= self.edge(next);",
        to: "let moved = next < self.width && unit >= self.edge(next) && self.len == 0;",
    },
    Mutation {
        rule: "edges",
        broken: "long chunks begin anywhere",
        file: BLOCK,
        from: "_ => unit & !15,",
        to: "_ => unit,",
    },
    Mutation {
        rule: "edges",
        broken: "long chunks of a shared counter begin anywhere",
        file: STEP,
        from: "to_edge(taken, (left / share).max(view.grain))",
        to: "to_edge(taken, 0).max((left / share).max(view.grain))",
    },
    Mutation {
        rule: "edges",
        broken: "long growing chunks begin anywhere",
        file: STEP,
        from: "to_edge(taken, grown.min(left / share).max(view.grain))",
        to: "to_edge(taken, 0).max(grown.min(left / share).max(view.grain))",
    },
    Mutation {
        rule: "growth",
        broken: "loops that may be left anywhere begin with large chunks",
        file: STEP,
        from: "grown.min(left / share).max(view.grain)",
        to: "grown.max(left / share).max(view.grain)",
    },
    Mutation {
        rule: "growth",
        broken: "growing chunks do not become small again at the end",
        file: STEP,
        from: "grown.min(left / share).max(view.grain)",
        to: "grown.max(view.grain)",
    },
    Mutation {
        rule: "growth",
        broken: "growing chunks are no larger than the grain",
        file: STEP,
        from: "grown.min(left / share).max(view.grain)",
        to: "grown.min(0).max(view.grain)",
    },
    Mutation {
        rule: "grace",
        broken: "the caller looks at others as soon as it is done",
        file: STEP,
        from: "if self.grace > 0 {",
        to: "if self.grace > view.grace {",
    },
    Mutation {
        rule: "grace",
        broken: "the caller does not notice in its patience that the others are done",
        file: STEP,
        from: "            let Some(inside) = self.first_inside(view) else {\n                return Step::Leave;\n            };",
        to: "            let Some(inside) = self.first_inside(view).or(Some(view.deal.width() - 1)) else {\n                return Step::Leave;\n            };",
    },
];
