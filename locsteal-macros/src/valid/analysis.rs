//! Noting what the marked loops of a function do.

mod exits;
mod marked_loop;

use std::collections::HashSet;

use syn::{Block, Expr, Item, Local, Macro};

use super::cx::{Cx, Goes, is_constant};
use super::events::{Active, Event, Usage};
use super::extrema;
use super::index::{Kind, Why, judge, of_row};
use super::rows::Serial;
use super::walk::{self, Mode, Pass};
use super::{Facts, macros, reductions};
use crate::ast::Marks;
use crate::attr::{Clauses, Place};
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
        self.note_exit(expr);
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
