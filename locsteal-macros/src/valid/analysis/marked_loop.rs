//! Going through a marked loop, and judging at its end what was noted in it.

use std::collections::{HashMap, HashSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprForLoop, Macro};

use super::Analysis;
use crate::ast::level_mut;
use crate::attr::{Operator, Place};
use crate::valid::cx::{Control, Means};
use crate::valid::events::{Active, Event, Usage};
use crate::valid::rows::Serial;
use crate::valid::{LoopFacts, Owned, arrays, leaks, reductions, source, walk};

impl Analysis<'_> {
    /// Goes through a marked loop.
    pub(super) fn marked_loop(&mut self, expr: &mut ExprForLoop, mark: usize, yields: bool) {
        let clauses = self.clauses_of(mark, expr);
        let joined = self.join(&clauses, expr);
        for level in 0..joined.max(1) {
            walk::walk(self, &mut level_mut(expr, level).expr);
        }
        let index = if joined == 0 { source::index(&expr.pat, &expr.expr) } else { None };
        self.check_clauses(&clauses, index.as_ref().map(|index| &index.name));
        let labels: Vec<String> = (0..joined.saturating_sub(1))
            .filter_map(|level| {
                let label = level_mut(expr, level).label.as_ref()?;
                Some(label.name.ident.to_string())
            })
            .collect();
        let outer_labels = labels.len();
        let innermost = level_mut(expr, joined.saturating_sub(1));
        let label = innermost.label.as_ref().map(|label| label.name.ident.to_string());
        // The labels of the outer ones are known, and nothing can go there.
        for outer in &labels {
            self.cx.enter(Control::Loop { label: Some(outer.clone()), round: false });
        }
        self.cx.enter(Control::Marked { label });
        self.cx.begin_round(true);
        let scope = self.cx.scopes();
        self.cx.open();
        let depth = self.cx.depth();
        let mut nest = Vec::new();
        for level in 0..joined.max(1) {
            // All names of the pattern first: the index is one of them.
            let pat = &level_mut(expr, level).pat;
            self.cx.bind_pattern(pat);
            if joined > 0
                && let Some(name) = source::name(pat)
            {
                self.cx.bind(&name, false, Means::Nested(depth, level));
                nest.push(name);
            }
        }
        if nest.len() < joined {
            nest.clear();
        }
        if let Some(index) = &index {
            self.cx.bind(&index.name, false, Means::Index(depth));
        }
        let name = index.as_ref().map(|index| index.name.clone()).or_else(|| nest.last().cloned());
        for local in &clauses.local {
            self.cx.bind(&local.name, true, Means::Value);
        }
        let expr = level_mut(expr, joined.saturating_sub(1));
        let reductions = reductions::of(&clauses, &mut expr.body, &self.cx, self.active.last());
        let mutable_index = source::mutable_index(&expr.pat);
        let active = Active {
            clauses,
            events: Vec::new(),
            reductions,
            index: name,
            mutable_index,
            leaves: false,
            yields,
            standard: Vec::new(),
            given_away: HashSet::new(),
            compared: HashMap::new(),
            joined: joined > 0,
            nest: nest.clone(),
            depth,
            labels,
        };
        self.active.push(active);
        if joined > 0 {
            let number = self.cx.number_serial();
            self.serial.push(Serial::of_nest(number, nest.last().cloned(), scope, &self.cx));
        }
        let combined: Vec<Place> = self
            .active
            .last()
            .iter()
            .flat_map(|active| &active.reductions)
            .filter(|r| r.operator == Operator::Combine && !r.again)
            .map(|r| r.place.clone())
            .collect();
        leaks::report(&combined, &expr.body, yields, self.report);
        walk::walk_block(self, &mut expr.body);
        self.cx.close();
        self.cx.leave();
        for _ in 0..outer_labels {
            self.cx.leave();
        }
        self.cx.end_round();
        let along_rows = if joined > 0 { self.serial.pop() } else { None };
        let Some(active) = self.active.pop() else { return };
        let Active { clauses, given_away, index: own_index, .. } = &active;
        self.report_unused(clauses, &expr.body, given_away, own_index.as_ref());
        let arrays::Judged { owned, reads } = arrays::judge(&active, depth, self.report);
        if let Some(serial) = along_rows {
            self.facts.rows.insert(serial.number(), serial.reads(&owned));
        }
        self.pass_on(&active, &owned, depth);
        let Active { clauses, reductions, leaves, standard, .. } = active;
        // Where it is left, only what came before counts; that takes an order.
        let ordered = !reductions.is_empty()
            && (leaves
                || clauses.reproducible.is_some()
                // Of values that are equal the first one counts, and what goes along differs.
                || reductions.iter().any(|r| !r.group.is_empty()));
        let facts = LoopFacts {
            clauses,
            index,
            nest,
            owned,
            reads,
            reductions,
            ordered,
            leaves,
            heavy: is_heavy(&expr.body),
            standard,
        };
        self.facts.loops.insert(mark, facts);
    }

    /// Tells the next loop further out what this one does with what that one captures as well.
    fn pass_on(&mut self, active: &Active, owned: &[Owned], depth: usize) {
        if depth < 2 {
            return;
        }
        let captured =
            |analysis: &Self, place: &Place| analysis.cx.is_captured(&place.root, depth - 1);
        for event in &active.events {
            if !captured(self, &event.place)
                || owned.iter().any(|owned| owned.place.contains(&event.place))
            {
                continue;
            }
            let event = Event { certain: false, ..event.clone() };
            if self.is_reduced(&event.place) {
                self.report_read_reduction(&event.place, &event.written, &event.usage);
            } else if !self.report_around_reduction(&event.place, &event.written)
                && let Some(outer) = self.active.last_mut()
            {
                outer.events.push(event);
            }
        }
        for reduction in &active.reductions {
            self.report_reduced_again(reduction);
        }
        let whole = |place: &Place, written: &Expr| Event {
            place: place.clone(),
            written: written.clone(),
            usage: Usage::Again,
            certain: false,
            mutable: true,
            constant: false,
        };
        let borrowed = owned.iter().map(|owned| whole(&owned.place, &owned.array));
        let reduced = active.reductions.iter().map(|r| whole(&r.place, &r.variable));
        for event in borrowed.chain(reduced) {
            if captured(self, &event.place)
                && !self.is_reduced(&event.place)
                && let Some(outer) = self.active.last_mut()
            {
                outer.events.push(event);
            }
        }
    }
}

/// Whether a body does more than a little arithmetic.
fn is_heavy(body: &Block) -> bool {
    struct Heavy(bool);

    impl<'a> Visit<'a> for Heavy {
        fn visit_expr(&mut self, expr: &'a Expr) {
            let loops = matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_));
            let calls = matches!(expr, Expr::Call(_) | Expr::MethodCall(_) | Expr::Macro(_));
            self.0 |= loops || calls;
            visit::visit_expr(self, expr);
        }

        fn visit_macro(&mut self, _: &'a Macro) {
            self.0 = true;
        }
    }

    let mut heavy = Heavy(false);
    heavy.visit_block(body);
    heavy.0
}
