//! Least and greatest values in a body: `if x > v { v = x; }`, and what goes along with them.

use syn::{BinOp, Block, Expr, ExprIf, Stmt};

use super::Reduction;
use super::analysis::Analysis;
use super::reductions::accumulations;
use super::walk;
use crate::attr::{Operator, Place, tokens};

/// `if x > v { v = x; }`, with what goes along: `if x > v { v = x; at = i; }`.
struct Extremum {
    /// What `v` is compared with.
    value: Expr,
    /// `v`
    target: Expr,
    greater: bool,
    /// Whether a value that is equal leaves `v` as it is.
    strict: bool,
    /// What is assigned to what.
    assigned: Vec<(Expr, Expr)>,
}

impl Extremum {
    fn of(if_: &ExprIf) -> Option<Self> {
        if if_.else_branch.is_some() {
            return None;
        }
        let Expr::Binary(binary) = &*if_.cond else { return None };
        let (greater, strict) = match binary.op {
            BinOp::Gt(_) => (true, true),
            BinOp::Ge(_) => (true, false),
            BinOp::Lt(_) => (false, true),
            BinOp::Le(_) => (false, false),
            _ => return None,
        };
        let assigned = assigned(&if_.then_branch)?;
        let is_target = |side: &Expr| {
            let place = Place::of(side);
            assigned.iter().any(|(left, _)| {
                tokens(left) == tokens(side)
                    || Place::of(left).zip(place.as_ref()).is_some_and(|(l, side)| l.contains(side))
            })
        };
        let (left, right) = ((*binary.left).clone(), (*binary.right).clone());
        let (value, target, greater) = if is_target(&right) {
            (left, right, greater)
        } else if is_target(&left) {
            (right, left, !greater)
        } else {
            return None;
        };
        Some(Self { value, target, greater, strict, assigned })
    }

    fn operator(&self) -> Operator {
        if self.greater { Operator::Max } else { Operator::Min }
    }

    /// What is assigned to `v` itself.
    fn kept(&self) -> Option<&Expr> {
        let target = tokens(&self.target);
        self.assigned.iter().find(|(left, _)| tokens(left) == target).map(|(_, right)| right)
    }
}

/// The assignments that a block is made of, those of `(a, b) = (x, y)` one by one.
fn assigned(block: &Block) -> Option<Vec<(Expr, Expr)>> {
    let mut all = Vec::new();
    for stmt in &block.stmts {
        let Stmt::Expr(Expr::Assign(assign), _) = stmt else { return None };
        match (&*assign.left, &*assign.right) {
            (Expr::Tuple(left), Expr::Tuple(right)) if left.elems.len() == right.elems.len() => {
                all.extend(left.elems.iter().cloned().zip(right.elems.iter().cloned()));
            }
            (left, right) => all.push((left.clone(), right.clone())),
        }
    }
    (!all.is_empty()).then_some(all)
}

/// `if x > v { v = x; }`; true if that is what it is.
pub(super) fn conditional(analysis: &mut Analysis<'_>, expr: &mut Expr) -> bool {
    let Expr::If(if_) = expr else { return false };
    let Some(extremum) = Extremum::of(if_) else { return false };
    let Some(reduction) = analysis.reduction(&extremum.target).cloned() else {
        suggest(analysis, &extremum);
        return false;
    };
    if !matches!(reduction.operator, Operator::Min | Operator::Max) {
        return false;
    }
    let Some(kept) = extremum.kept() else {
        return compares_part(analysis, &extremum, &reduction);
    };
    let same = tokens(bare(kept)) == tokens(bare(&extremum.value));
    if !(same || is_clone(kept, &extremum.value)) {
        return false;
    }
    let target = tokens(&extremum.target);
    let others: Vec<&(Expr, Expr)> =
        extremum.assigned.iter().filter(|(left, _)| tokens(left) != target).collect();
    if !others.is_empty() || !reduction.group.is_empty() {
        if Place::of(&extremum.target)
            .is_none_or(|place| reduction.group.iter().skip(1).any(|p| *p == place))
        {
            return false;
        }
        let depth = analysis.cx.depth();
        let captured = |(left, _): &&(Expr, Expr)| {
            Place::of(left).is_some_and(|place| analysis.cx.is_captured(&place.root, depth))
        };
        if !others.iter().all(captured) {
            return false;
        }
        goes_along(analysis, &extremum, &reduction, &others);
    }
    if extremum.operator() != reduction.operator {
        let assignment = if_.then_branch.stmts.iter().find_map(|stmt| match stmt {
            Stmt::Expr(assignment, _) => Some(assignment),
            _ => None,
        });
        analysis.report_operator(&assignment, &reduction, &extremum.target);
    } else if !extremum.strict {
        let better = if extremum.greater { ">" } else { "<" };
        analysis.report.error(
            &if_.cond,
            format_args!(
                "of values that are equal this keeps the last, and `reduce({}: {target})` the first",
                reduction.operator.written()
            ),
            format_args!(
                "write `if {} {better} {target}`; if the last is meant, reduce a type that implements `Reduce`",
                tokens(&extremum.value)
            ),
        );
    }
    // The value is there in any case, and what goes along only where it is kept.
    let (mut value, mut kept) = (extremum.value.clone(), kept.clone());
    if !same {
        walk::walk(analysis, &mut value);
    }
    walk::walk(analysis, &mut kept);
    let mut others: Vec<Expr> = others.into_iter().map(|(_, right)| right.clone()).collect();
    walk::branch(analysis, |analysis| {
        for right in &mut others {
            walk::walk(analysis, right);
        }
    });
    let mut target = extremum.target;
    analysis.walk_indices(&mut target);
    true
}

/// Reports what is set where a value is kept, and does not go along with it; and what should be set there, and is not.
fn goes_along(
    analysis: &mut Analysis<'_>,
    extremum: &Extremum,
    reduction: &Reduction,
    others: &[&(Expr, Expr)],
) {
    let (name, operator) = (tokens(&extremum.target), reduction.operator);
    let along = reduction.group.get(1..).unwrap_or_default();
    let is_along = |left: &Expr| Place::of(left).is_some_and(|place| along.contains(&place));
    let mut all: Vec<String> = vec![name.clone()];
    all.extend(along.iter().map(ToString::to_string));
    all.extend(others.iter().filter(|(left, _)| !is_along(left)).map(|(left, _)| tokens(left)));
    let all = all.join(", ");
    for (left, _) in others.iter().filter(|(left, _)| !is_along(left)) {
        let extreme = if operator == Operator::Max { "greatest" } else { "least" };
        analysis.report.error(
            left,
            format_args!(
                "`{0}` is to be that of the {extreme} `{name}`, and nothing ties the two together",
                tokens(left)
            ),
            format_args!(
                "reduce them together, `reduce({}: ({all}))`: `{}` goes along with the value that is kept",
                operator.written(),
                tokens(left)
            ),
        );
    }
    for place in along {
        let is_set = |(left, _): &&(Expr, Expr)| Place::of(left).is_some_and(|set| set == *place);
        if others.iter().filter(|other| is_set(other)).count() != 1 {
            analysis.report.error(
                &extremum.target,
                format_args!("`{place}` goes along with `{name}`, and is not set with it"),
                format_args!("accumulate {}", accumulations(reduction, &name)),
            );
        }
    }
}

/// Reports `if x > best.0 { best = (x, i); }`.
fn compares_part(analysis: &mut Analysis<'_>, extremum: &Extremum, reduction: &Reduction) -> bool {
    let (whole, operator) = (&reduction.place, reduction.operator.written());
    if Place::of(&extremum.target).is_none_or(|part| part == *whole) {
        return false;
    }
    analysis.report.error(
        &extremum.target,
        format_args!("this compares a part of `{whole}`, and `reduce({operator}: {whole})` all of it"),
        format_args!(
            "make the parts variables of their own, the compared one first: `reduce({operator}: (value, at))`; or let the type of \
             `{whole}` implement `Reduce`, and write `reduce({whole})`"
        ),
    );
    let mut rights: Vec<Expr> = vec![extremum.value.clone()];
    rights.extend(extremum.assigned.iter().map(|(_, right)| right.clone()));
    for right in &mut rights {
        walk::walk(analysis, right);
    }
    true
}

/// Notes how variables could be reduced that are not.
fn suggest(analysis: &mut Analysis<'_>, extremum: &Extremum) {
    if extremum.kept().is_none()
        || extremum.assigned.iter().any(|(left, _)| Place::of(left).is_none())
    {
        return;
    }
    let target = tokens(&extremum.target);
    let mut all = vec![target.clone()];
    all.extend(
        extremum.assigned.iter().map(|(left, _)| tokens(left)).filter(|left| *left != target),
    );
    let joined = if all.len() > 1 { format!("({})", all.join(", ")) } else { target };
    if let Some(active) = analysis.active.last_mut() {
        let operator = extremum.operator();
        active.compared.extend(all.into_iter().map(|name| (name, (operator, joined.clone()))));
    }
}

/// Whether the expression is `x.clone()`, where the value is `x` or `*x`.
fn is_clone(expr: &Expr, value: &Expr) -> bool {
    let Expr::MethodCall(call) = bare(expr) else { return false };
    let value = match bare(value) {
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => bare(&unary.expr),
        value => value,
    };
    let cloned = match bare(&call.receiver) {
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => bare(&unary.expr),
        cloned => cloned,
    };
    call.method == "clone" && call.args.is_empty() && tokens(cloned) == tokens(value)
}

/// An expression without the parentheses around it: those of `if (i as f64) < lo { lo = i as f64; }`.
fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => bare(&paren.expr),
        Expr::Group(group) => bare(&group.expr),
        expr => expr,
    }
}
