//! How a body may use the variables of its loop's reductions: only by accumulating into them.

mod accumulation;
mod errors;

use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr};

use super::Reduction;
use super::analysis::Analysis;
use super::cx::Cx;
use super::events::Active;
use super::walk;
use crate::attr::{Clauses, Operator, Place, tokens};

pub(super) use accumulation::{assignment, of_assignment, resembles};
pub(super) use errors::{accumulations, mentions};

/// The reductions of a loop, with what can be seen in its body of how the variables are accumulated into. `outer`: the next
/// marked loop around it.
pub(super) fn of(
    clauses: &Clauses,
    body: &mut Block,
    cx: &Cx,
    outer: Option<&Active>,
) -> Vec<Reduction> {
    clauses
        .reduce
        .iter()
        .map(|reduce| {
            let mut seen =
                Seen { place: &reduce.place, indices: 0, subtracts: false, parts: false };
            seen.visit_block_mut(body);
            let whole = reduce.operator == Operator::Combine || !reduce.group.is_empty();
            let indices = if whole { 0 } else { seen.indices };
            // What a reference refers to is reduced, not the reference.
            let reference = cx.find(&reduce.place.root).is_some_and(|binding| binding.reference);
            let variable: Expr = match &reduce.expr {
                name @ Expr::Path(_) if reference && indices == 0 => syn::parse_quote!(*#name),
                expr => expr.clone(),
            };
            // The loop around it reduces the same variable.
            let captured = |outer: &&Active| cx.is_captured(&reduce.place.root, outer.depth);
            let again = outer.filter(captured).and_then(|outer| {
                outer.reductions.iter().find(|outer| outer.place.contains(&reduce.place))
            });
            let signed = reduce.place.is_name()
                && cx.find(&reduce.place.root).is_some_and(|binding| binding.signed);
            let subtracts =
                reduce.operator == Operator::Add && seen.subtracts && !seen.parts && !signed;
            Reduction {
                place: reduce.place.clone(),
                renamed: !matches!(&variable, Expr::Path(_)),
                variable,
                operator: reduce.operator,
                subtracts: again.map_or(subtracts, |again| again.subtracts),
                again: again.is_some(),
                group: reduce.group.clone(),
                indices,
            }
        })
        .collect()
}

/// How a body accumulates into a variable.
struct Seen<'a> {
    place: &'a Place,
    /// The most indices that stand behind it.
    indices: usize,
    /// Whether it subtracts from it.
    subtracts: bool,
    /// Whether it accumulates into a field of it.
    parts: bool,
}

impl VisitMut for Seen<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let (base, count) = element(expr);
        if Place::of(base).is_some_and(|place| place == *self.place) {
            self.indices = self.indices.max(count);
        }
        let (target, subtracts) = match expr {
            Expr::Binary(binary) if walk::is_assigning(&binary.op) => {
                (Some(&*binary.left), matches!(binary.op, BinOp::SubAssign(_)))
            }
            Expr::Assign(assign) => (
                Some(&*assign.left),
                matches!(&*assign.right, Expr::Binary(b)
                    if matches!(b.op, BinOp::Sub(_)) && tokens(&b.left) == tokens(&assign.left)),
            ),
            _ => (None, false),
        };
        if let Some(place) = target.and_then(|target| Place::of(element(target).0)) {
            self.subtracts |= subtracts && place == *self.place;
            self.parts |= self.place.contains(&place) && place != *self.place;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}

/// What is left of `v[a][b]` without its indices, and how many there are.
fn element(expr: &Expr) -> (&Expr, usize) {
    match expr {
        Expr::Index(index) => {
            let (base, count) = element(&index.expr);
            (base, count + 1)
        }
        Expr::Paren(paren) => element(&paren.expr),
        Expr::Group(group) => element(&group.expr),
        expr => (expr, 0),
    }
}

impl Analysis<'_> {
    /// Whether the innermost marked loop, which reduces this, adds to it and subtracts from it.
    fn subtracts(&self, expr: &Expr) -> bool {
        let Some(place) = Place::of(element(expr).0) else { return false };
        let reductions = self.active.last().map(|active| &active.reductions);
        reductions.is_some_and(|all| all.iter().any(|r| r.subtracts && r.place.contains(&place)))
    }

    /// How the innermost marked loop reduces what the expression names, or an element of it.
    pub(super) fn reduction(&self, expr: &Expr) -> Option<&Reduction> {
        let place = Place::of(element(expr).0)?;
        let depth = self.cx.depth();
        if depth == 0 || !self.cx.is_captured(&place.root, depth) {
            return None;
        }
        let active = self.active.last()?;
        active.reductions.iter().find(|r| r.place.contains(&place))
    }

    /// Walks the indices of an element of a reduced variable.
    pub(super) fn walk_indices(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Index(index) => {
                self.walk_indices(&mut index.expr);
                walk::walk(self, &mut index.index);
            }
            Expr::Paren(paren) => self.walk_indices(&mut paren.expr),
            Expr::Group(group) => self.walk_indices(&mut group.expr),
            _ => {}
        }
    }
}
