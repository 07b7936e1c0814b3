//! How a body may use the variables of its loop's reductions: only by accumulating into them.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, Macro};

use super::analysis::Analysis;
use super::cx::Cx;
use super::events::{Active, Usage};
use super::walk::{self, Mode};
use super::{Reduction, macros};
use crate::attr::{Clauses, Operator, Place, tokens};

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

    /// A reduced variable is used in another way than to accumulate into it.
    pub(super) fn report_read_reduction(&mut self, place: &Place, written: &Expr, usage: &Usage) {
        let Some(reduction) = self
            .active
            .last()
            .and_then(|active| active.reductions.iter().find(|r| r.place.contains(place)))
            .cloned()
        else {
            return;
        };
        if reduction.operator == Operator::Combine {
            let name = &reduction.place;
            let (Usage::Whole(mode) | Usage::Index { mode, .. }) = usage else { return };
            if let Mode::Method { name: method, dropped: false, .. } = mode
                && TELLING.contains(&method.to_string().as_str())
            {
                self.report.error(
                    method,
                    format_args!(
                        "what `{method}` answers is about the part of `{name}` that one participant has, and differs from run to run"
                    ),
                    format_args!("do not use the value of `{method}(..)`, or read `{name}` after the loop"),
                );
            }
            return;
        }
        let name = &reduction.place;
        let how = accumulations(&reduction, &name.to_string());
        self.report.error(
            written,
            format_args!("`{name}` has no value before the loop has ended: each participant accumulates for itself"),
            format_args!("in the body only accumulate into it, {how}, and read it after the loop"),
        );
    }

    /// Something is used as a whole, a part of which the innermost marked loop reduces. True if it has been reported.
    pub(super) fn report_around_reduction(&mut self, whole: &Place, written: &Expr) -> bool {
        let Some(active) = self.active.last() else { return false };
        let is_part = |r: &&Reduction| whole.contains(&r.place) && *whole != r.place;
        let Some(part) = active.reductions.iter().find(is_part).map(|r| r.place.clone()) else {
            return false;
        };
        self.report.error(
            written,
            format_args!("`{whole}` cannot be used as a whole, since iterations accumulate into `{part}`, which has no value before the loop has ended"),
            format_args!(
                "name the fields that the body needs, such as `{whole}.other`, or compute what it needs before the loop"
            ),
        );
        true
    }

    /// A macro that cannot be looked into is given these names.
    pub(super) fn report_given_away(&mut self, mac: &Macro, names: &HashSet<Ident>) {
        let depth = self.cx.depth();
        let Some(active) = self.active.last() else { return };
        let given = |r: &&Reduction| {
            let root = &r.place.root;
            let in_arguments = macros::names(mac.tokens.clone()).contains(root);
            names.contains(root)
                && self.cx.is_captured(root, depth)
                && (!in_arguments || mentions(&mac.tokens, &r.place))
        };
        // Whatever a file holds, it stands in the body.
        let includes = mac.path.segments.last().is_some_and(|last| last.ident == "include");
        let mut reductions = active.reductions.iter();
        let found = if includes { reductions.next() } else { reductions.find(given) };
        let Some(reduction) = found else { return };
        let name = reduction.place.clone();
        let how = accumulations(reduction, &name.to_string());
        let path = tokens(&mac.path);
        self.report.error(
            &mac.path,
            format_args!("what `{path}!` does with `{name}` cannot be seen, and `{name}` has no value before the loop has ended"),
            format_args!("accumulate in the body itself, {how}, and give the macro other values"),
        );
    }

    /// A marked loop inside of the innermost one reduces this as well.
    pub(super) fn report_reduced_again(&mut self, inner: &Reduction) {
        let Some(active) = self.active.last() else { return };
        let Some(outer) = active.reductions.iter().find(|r| r.place.contains(&inner.place)) else {
            return;
        };
        let (operator, name) = (outer.operator, outer.place.clone());
        let alike = operator == inner.operator && outer.group == inner.group;
        let written = match outer.group.as_slice() {
            [] => name.to_string(),
            group => {
                let names: Vec<String> = group.iter().map(ToString::to_string).collect();
                format!("({})", names.join(", "))
            }
        };
        if !alike && self.cx.is_captured(&name.root, self.cx.depth()) {
            self.report.error(
                &inner.variable,
                format_args!("the loop around this one reduces `{name}` in another way"),
                format_args!(
                    "give both loops the same operator, `reduce({}: {written})`",
                    operator.written()
                ),
            );
        }
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

    pub(super) fn report_operator(
        &mut self,
        at: &impl ToTokens,
        reduction: &Reduction,
        target: &Expr,
    ) {
        let name = tokens(target);
        self.report.error(
            at,
            format_args!(
                "`{name}` is reduced with `{}`, and this does something else with it",
                reduction.operator.written()
            ),
            format_args!(
                "accumulate {}, or change the operator in `reduce(..)`",
                accumulations(reduction, &name)
            ),
        );
    }
}

/// Methods that change what they are called on, and answer with something of what was there before.
const TELLING: [&str; 11] = [
    "insert",
    "remove",
    "replace",
    "take",
    "pop",
    "pop_first",
    "pop_last",
    "pop_front",
    "pop_back",
    "swap_remove",
    "extract_if",
];

/// Whether tokens name the place, something around it or a part of it: `self.sum` is not mentioned by `self.other`.
pub(super) fn mentions(tokens: &TokenStream, place: &Place) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().any(|(k, tree)| match tree {
        TokenTree::Group(group) => mentions(&group.stream(), place),
        TokenTree::Ident(name) if *name == place.root => {
            let mut rest = trees[k + 1..].chunks(2);
            place.fields.iter().all(|field| match rest.next() {
                Some([TokenTree::Punct(dot), next]) if dot.as_char() == '.' => {
                    next.to_string() == field.to_token_stream().to_string()
                }
                _ => true,
            })
        }
        TokenTree::Literal(literal) => {
            macros::names(TokenTree::from(literal.clone()).into()).contains(&place.root)
        }
        _ => false,
    })
}

/// The operator that an assigning operation accumulates with.
pub(super) fn of_assignment(op: &BinOp) -> Option<Operator> {
    Some(match op {
        BinOp::AddAssign(_) | BinOp::SubAssign(_) => Operator::Add,
        BinOp::MulAssign(_) => Operator::Mul,
        BinOp::BitAndAssign(_) => Operator::BitAnd,
        BinOp::BitOrAssign(_) => Operator::BitOr,
        BinOp::BitXorAssign(_) => Operator::BitXor,
        _ => return None,
    })
}

/// The operator that an assignment seems to accumulate with: `v = v.max(..)`, `found = true`.
pub(super) fn resembles(assign: &syn::ExprAssign) -> Option<Operator> {
    let all = [
        Operator::Add,
        Operator::Mul,
        Operator::BitAnd,
        Operator::BitOr,
        Operator::BitXor,
        Operator::And,
        Operator::Or,
        Operator::Min,
        Operator::Max,
    ];
    if let Expr::Lit(lit) = &*assign.right {
        return match &lit.lit {
            syn::Lit::Bool(lit) => Some(if lit.value { Operator::Or } else { Operator::And }),
            _ => None,
        };
    }
    let mut right = (*assign.right).clone();
    all.into_iter().find(|operator| operand(&mut right, &assign.left, *operator).is_some())
}

/// How one accumulates with an operator, in words.
pub(super) fn accumulations(reduction: &Reduction, name: &str) -> String {
    let operator = reduction.operator;
    if let [value, along @ ..] = reduction.group.as_slice() {
        let better = if operator == Operator::Max { ">" } else { "<" };
        let along: String = along.iter().map(|place| format!(" {place} = ..;")).collect();
        return format!("as in `if x {better} {value} {{ {value} = x;{along} }}`");
    }
    match operator {
        Operator::Add => format!("as in `{name} += ..`"),
        Operator::Mul => format!("as in `{name} *= ..`"),
        Operator::BitAnd => format!("as in `{name} &= ..`"),
        Operator::BitOr => format!("as in `{name} |= ..`"),
        Operator::BitXor => format!("as in `{name} ^= ..`"),
        Operator::And => format!("as in `{name} &= ..` or `{name} = {name} && ..`"),
        Operator::Or => format!("as in `{name} |= ..` or `{name} = {name} || ..`"),
        Operator::Min => {
            format!("as in `{name} = {name}.min(..)` or `if x < {name} {{ {name} = x; }}`")
        }
        Operator::Max => {
            format!("as in `{name} = {name}.max(..)` or `if x > {name} {{ {name} = x; }}`")
        }
        Operator::Combine => "with the methods of its type".to_owned(),
    }
}

/// `v += ..`, `v = v + ..`, `v = v.max(..)`; true if the target is a variable that is reduced.
pub(super) fn assignment(analysis: &mut Analysis<'_>, expr: &mut Expr) -> bool {
    let target = match &*expr {
        Expr::Assign(assign) => (*assign.left).clone(),
        Expr::Binary(binary) => (*binary.left).clone(),
        _ => return false,
    };
    let Some(reduction) = analysis.reduction(&target).cloned() else { return false };
    let operator = reduction.operator;
    if operator == Operator::Combine {
        // Whatever the type offers.
        return false;
    }
    let whole = expr.clone();
    match expr {
        Expr::Binary(binary) => {
            if !accumulates(&binary.op, operator) {
                analysis.report_operator(&whole, &reduction, &target);
            }
            walk::walk(analysis, &mut binary.right);
            analysis.walk_indices(&mut binary.left);
        }
        Expr::Assign(assign) => {
            if analysis.subtracts(&target) && !begins_with(&assign.right, &target) {
                analysis.report.error(
                    &assign.right,
                    format_args!(
                        "`{}` is also subtracted from, and comes last here",
                        tokens(&target)
                    ),
                    format_args!("write `{} += ..`", tokens(&target)),
                );
            }
            match operand(&mut assign.right, &target, operator) {
                Some(operand) => {
                    walk::walk(analysis, operand);
                    if !reduction.group.is_empty() {
                        analysis.report_operator(&whole, &reduction, &target);
                    }
                }
                None => {
                    // `v = false` in a loop that asks whether all are true, and the like.
                    let absorbing = match (operator, &*assign.right) {
                        (Operator::And | Operator::Or, Expr::Lit(lit)) => {
                            matches!(&lit.lit, syn::Lit::Bool(b) if b.value == (operator == Operator::Or))
                        }
                        _ => false,
                    };
                    if !absorbing {
                        analysis.report_operator(&whole, &reduction, &target);
                        walk::walk(analysis, &mut assign.right);
                    }
                }
            }
            analysis.walk_indices(&mut assign.left);
        }
        _ => {}
    }
    true
}

/// Whether a sum or difference begins with the target.
fn begins_with(right: &Expr, target: &Expr) -> bool {
    match right {
        Expr::Paren(paren) => begins_with(&paren.expr, target),
        Expr::Group(group) => begins_with(&group.expr, target),
        Expr::Binary(binary) => tokens(&binary.left) == tokens(target),
        _ => true,
    }
}

fn accumulates(op: &BinOp, operator: Operator) -> bool {
    matches!(
        (op, operator),
        (BinOp::AddAssign(_) | BinOp::SubAssign(_), Operator::Add)
            | (BinOp::MulAssign(_), Operator::Mul)
            | (BinOp::BitAndAssign(_), Operator::BitAnd | Operator::And)
            | (BinOp::BitOrAssign(_), Operator::BitOr | Operator::Or)
            | (BinOp::BitXorAssign(_), Operator::BitXor)
    )
}

/// What is accumulated by `target = right`.
fn operand<'e>(right: &'e mut Expr, target: &Expr, operator: Operator) -> Option<&'e mut Expr> {
    let is_target = |expr: &Expr| tokens(expr) == tokens(target);
    match right {
        Expr::Paren(paren) => operand(&mut paren.expr, target, operator),
        Expr::Group(group) => operand(&mut group.expr, target, operator),
        Expr::Binary(binary) => {
            let (fits, commutes) = match (&binary.op, operator) {
                (BinOp::Add(_), Operator::Add)
                | (BinOp::Mul(_), Operator::Mul)
                | (BinOp::BitAnd(_), Operator::BitAnd | Operator::And)
                | (BinOp::BitOr(_), Operator::BitOr | Operator::Or)
                | (BinOp::BitXor(_), Operator::BitXor)
                | (BinOp::And(_), Operator::And)
                | (BinOp::Or(_), Operator::Or) => (true, true),
                (BinOp::Sub(_), Operator::Add) => (true, false),
                _ => (false, false),
            };
            if fits && is_target(&binary.left) {
                return Some(&mut binary.right);
            }
            if fits && commutes && is_target(&binary.right) {
                return Some(&mut binary.left);
            }
            // `v + a + b` is `(v + a) + b`: the first operand that is no sum must be the variable, and the rest cannot be
            // handed out as one expression.
            None
        }
        Expr::MethodCall(call)
            if call.args.len() == 1 && picks(&call.method.to_string(), operator) =>
        {
            if is_target(&call.receiver) {
                return call.args.first_mut();
            }
            if call.args.first().is_some_and(is_target) {
                return Some(&mut call.receiver);
            }
            None
        }
        Expr::Call(call) if call.args.len() == 2 => {
            let Expr::Path(function) = &*call.func else { return None };
            let name = function.path.segments.last()?.ident.to_string();
            if !picks(&name, operator) {
                return None;
            }
            let at = call.args.iter().position(is_target)?;
            call.args.iter_mut().nth(1 - at)
        }
        _ => None,
    }
}

/// Whether a method or function of this name is the operator.
fn picks(name: &str, operator: Operator) -> bool {
    match operator {
        Operator::Min => name == "min",
        Operator::Max => name == "max",
        Operator::Add => name == "add",
        Operator::Mul => name == "mul",
        _ => false,
    }
}
