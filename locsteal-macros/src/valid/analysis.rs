//! Noting what the marked loops of a function do.

use std::collections::{HashMap, HashSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprForLoop, Item, Local, Macro};

use super::arrays;
use super::cx::{Control, Cx, Goes, Means, is_constant};
use super::events::{Active, Event, Usage};
use super::extrema;
use super::index::{Kind, Why, judge, of_row};
use super::leaks;
use super::macros;
use super::reductions;
use super::rows::Serial;
use super::source;
use super::walk::{self, Mode, Pass};
use super::{Facts, LoopFacts};
use crate::ast::{Marks, level_mut};
use crate::attr::{Clauses, Operator, Place};
use crate::report::Report;

pub(super) fn analyse(
    cx: Cx,
    block: &mut Block,
    marks: &Marks,
    defaults: &Clauses,
    report: &mut Report,
) -> Facts {
    let mut analysis = Analysis {
        cx,
        marks,
        defaults,
        report,
        active: Vec::new(),
        serial: Vec::new(),
        facts: Facts::default(),
    };
    walk::walk_stmts(&mut analysis, &mut block.stmts);
    analysis.facts
}

pub(super) struct Analysis<'a> {
    pub(super) cx: Cx,
    pub(super) marks: &'a Marks,
    pub(super) defaults: &'a Clauses,
    pub(super) report: &'a mut Report,
    /// The marked loops around this point, the outermost first.
    pub(super) active: Vec<Active>,
    /// The serial loops around this point.
    serial: Vec<Serial>,
    facts: Facts,
}

impl Analysis<'_> {
    /// Notes a use with the innermost marked loop, if that captures the place.
    fn note(&mut self, place: &Place, written: &Expr, usage: Usage) {
        let depth = self.cx.depth();
        if depth == 0 || !self.cx.is_captured(&place.root, depth) {
            return;
        }
        if self.is_reduced(place) {
            self.report_read_reduction(place, written, &usage);
            return;
        }
        if self.report_around_reduction(place, written) {
            return;
        }
        // What a raw pointer points to is the business of whoever wrote `unsafe`.
        if self.cx.is_unsafe() && dereferences(written) {
            return;
        }
        let clouded = self.cx.is_clouded(&place.root);
        let binding = self.cx.find(&place.root);
        // What a macro may have bound, or is bound under a condition, may be the body's own.
        if self.cx.is_given_away(&place.root)
            && (binding.is_none() || matches!(usage, Usage::Whole(_)))
        {
            return;
        }
        let mutable = binding.is_some_and(|binding| binding.mutable);
        let constant = binding.is_none() && is_constant(&place.root);
        if binding.is_none() && !is_constant(&place.root) && matches!(usage, Usage::Whole(_)) {
            // A function, a module, or a name that a macro has bound.
            return;
        }
        let in_round = self.cx.is_certain_in_round() && !clouded;
        let innermost = self.serial.len().wrapping_sub(1);
        for (k, serial) in self.serial.iter_mut().enumerate() {
            let index = match &usage {
                Usage::Index { index, mode, row: false, .. } => Some((index, mode)),
                _ => None,
            };
            serial.note(place, written, index, in_round && k == innermost, &self.cx);
        }
        let certain = self.cx.is_certain() && !clouded;
        let event = Event {
            place: place.clone(),
            written: written.clone(),
            usage,
            certain,
            mutable,
            constant,
        };
        if let Some(active) = self.active.last_mut() {
            active.events.push(event);
        }
    }

    /// Goes through a marked loop.
    fn marked_loop(&mut self, expr: &mut ExprForLoop, mark: usize, yields: bool) {
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
    fn pass_on(&mut self, active: &Active, owned: &[super::Owned], depth: usize) {
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

    /// Whether the innermost marked loop reduces the place.
    pub(super) fn is_reduced(&self, place: &Place) -> bool {
        self.active
            .last()
            .is_some_and(|active| active.reductions.iter().any(|r| r.place.contains(place)))
    }
}

impl Pass for Analysis<'_> {
    fn cx(&mut self) -> &mut Cx {
        &mut self.cx
    }

    fn place(&mut self, expr: &mut Expr, place: &Place, mode: &Mode) {
        self.note(place, expr, Usage::Whole(mode.clone()));
    }

    fn index(&mut self, expr: &mut Expr, place: &Place, mode: &Mode) {
        let written = expr.clone();
        let Expr::Index(index) = expr else { return };
        let row = of_row(&index.index).map(|(first, _)| first);
        let kind = |depth| match judge(row.unwrap_or(&index.index), &self.cx, depth) {
            // A nest that is run as one owns elements.
            Kind::Grid(..) | Kind::Other(Why::Across(_) | Why::Without(_)) if row.is_some() => {
                Kind::Other(Why::Computed)
            }
            kind => kind,
        };
        let kinds = (1..=self.cx.depth()).map(kind).collect();
        let usage = Usage::Index {
            index: row.unwrap_or(&index.index).clone(),
            kinds,
            row: row.is_some(),
            mode: mode.clone(),
        };
        walk::walk(self, &mut index.index);
        self.note(place, &written, usage);
    }

    fn length(&mut self, expr: &mut Expr, place: &Place) {
        self.note(place, expr, Usage::Length);
    }

    fn assignment(&mut self, expr: &mut Expr) -> bool {
        reductions::assignment(self, expr)
    }

    fn conditional(&mut self, expr: &mut Expr) -> bool {
        extrema::conditional(self, expr)
    }

    fn exit(&mut self, expr: &mut Expr, _: Goes) {
        if let Expr::Return(syn::ExprReturn { expr: Some(value), .. }) = &*expr
            && let Some(error) = self.cx.returns().and_then(unsendable)
        {
            let error = crate::attr::tokens(&error);
            self.report.error(
                value,
                format_args!("this takes a `{error}` out of the loop to another thread, and nothing says that it can go there"),
                format_args!(
                    "let the function return `Box<{error} + Send + Sync>`, or leave with `?`: its error becomes the function's afterwards"
                ),
            );
        }
        let route = self.cx.route(walk::exit_of(expr));
        let count = self.active.len();
        // Every loop on the way is left; the last one may be continued.
        let left = count.saturating_sub(route.crossed);
        for at in (left..count).rev() {
            if !self.leaves_joined(expr, at, false) {
                self.active[at].leaves = true;
            }
        }
        if !route.ends_marked || left == 0 || self.leaves_joined(expr, left - 1, true) {
            return;
        }
        let active = &mut self.active[left - 1];
        match expr {
            Expr::Continue(jump) if active.yields => self.report.error(
                jump.continue_token,
                "`continue` in a loop that yields: the iteration would have no value",
                "give a value, such as `None`, in both branches of an `if`",
            ),
            Expr::Break(jump) => {
                active.leaves = true;
                if active.yields {
                    self.report.error(
                        jump.break_token,
                        "`break` in a loop that yields: the iterations that are left out would have no value",
                        "shorten the range, or leave the function with `return` or `?`",
                    );
                }
            }
            _ => {}
        }
    }

    fn marked(&mut self, expr: &mut Expr, mark: usize) {
        if let Expr::ForLoop(expr) = expr {
            self.marked_loop(expr, mark, false);
        }
    }

    fn serial(&mut self, expr: &mut Expr) {
        let Expr::ForLoop(loop_) = expr else { return };
        let number = self.cx.number_serial();
        self.serial.push(Serial::new(loop_, number, &self.cx));
        let leaves = walk::walk_for(self, loop_);
        if let (Some(serial), Some(active)) = (self.serial.pop(), self.active.last()) {
            let rows = serial.rows(active, leaves);
            if !rows.is_empty() {
                self.facts.rows.insert(serial.number(), rows);
            }
        }
    }

    fn yielding(&mut self, local: &mut Local, mark: usize) {
        if let Some(Expr::ForLoop(expr)) = local.init.as_mut().map(|init| &mut *init.expr) {
            self.marked_loop(expr, mark, true);
        }
    }

    fn suspension(&mut self, expr: &Expr) {
        // An async block in the body has its own control flow, and closures cannot hold either.
        if self.cx.depth() == 0 || !self.cx.suspends_marked_loop() {
            return;
        }
        match expr {
            Expr::Await(await_) => self.report.error(
                await_.await_token,
                "`.await` in a parallel loop: its iterations run on threads that cannot be suspended",
                "await before the loop, or collect the futures and join them after it",
            ),
            expr => self.report.error(
                expr,
                "`yield` in a parallel loop: its iterations run on threads that cannot be suspended",
                "collect what the iterations make, and yield it after the loop",
            ),
        }
    }

    fn opaque(&mut self, mac: &Macro) {
        let mut names = macros::names(mac.tokens.clone());
        // A macro that is defined in the function can name the function's variables by itself.
        if let Some(name) = mac.path.get_ident() {
            let defined = self.cx.names_in_definitions(&HashSet::from([name.clone()]));
            names.extend(defined);
        }
        names.extend(self.cx.names_in_definitions(&names));
        self.serial.iter_mut().for_each(|serial| serial.note_opaque(&names));
        self.report_given_away(mac, &names);
        // Who knows what it does.
        if let Some(active) = self.active.last_mut() {
            active.leaves = true;
            active.given_away.extend(names);
        }
    }

    fn standard(&mut self, mac: &Macro) {
        if let (Some(name), Some(active)) = (macros::checkable(mac), self.active.first_mut())
            && !active.standard.contains(&name)
        {
            active.standard.push(name);
        }
    }

    fn item(&mut self, _item: &mut Item) {}
}

/// A `dyn Error` in a type, of which nothing says that it is `Send`.
fn unsendable(ty: &syn::Type) -> Option<syn::TypeTraitObject> {
    struct Errors(Option<syn::TypeTraitObject>);

    impl<'a> Visit<'a> for Errors {
        fn visit_type_trait_object(&mut self, object: &'a syn::TypeTraitObject) {
            let mut names = object.bounds.iter().filter_map(|bound| match bound {
                syn::TypeParamBound::Trait(bound) => bound.path.segments.last(),
                _ => None,
            });
            if let (Some(name), None) = (names.next(), names.next())
                && name.ident == "Error"
            {
                self.0.get_or_insert_with(|| object.clone());
            }
        }
    }

    let mut errors = Errors(None);
    errors.visit_type(ty);
    errors.0
}

/// Whether the place that is used lies behind a `*`.
fn dereferences(written: &Expr) -> bool {
    match written {
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) || dereferences(&unary.expr),
        Expr::Paren(paren) => dereferences(&paren.expr),
        Expr::Group(group) => dereferences(&group.expr),
        Expr::Field(field) => dereferences(&field.base),
        Expr::Index(index) => dereferences(&index.expr),
        Expr::MethodCall(call) => dereferences(&call.receiver),
        _ => false,
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
