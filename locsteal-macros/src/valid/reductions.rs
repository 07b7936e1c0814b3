//! How a body may use the variables of its loop's reductions: only by accumulating into them.

use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, ExprIf, Stmt};

use super::Reduction;
use super::analysis::Analysis;
use super::cx::Cx;
use super::walk;
use crate::attr::{Clauses, Operator, Place, tokens};

/// The reductions of a loop, with what can be seen in its body of how the variables are accumulated into.
pub(super) fn of(clauses: &Clauses, body: &mut Block, cx: &Cx) -> Vec<Reduction> {
    clauses
        .reduce
        .iter()
        .map(|reduce| {
            let mut indices = Indices { place: &reduce.place, most: 0 };
            indices.visit_block_mut(body);
            let indices = if reduce.operator == Operator::Combine { 0 } else { indices.most };
            // What a reference refers to is reduced, not the reference.
            let reference = cx.find(&reduce.place.root).is_some_and(|binding| binding.reference);
            let variable: Expr = match &reduce.expr {
                name @ Expr::Path(_) if reference && indices == 0 => syn::parse_quote!(*#name),
                expr => expr.clone(),
            };
            Reduction {
                place: reduce.place.clone(),
                renamed: !matches!(&variable, Expr::Path(_)),
                variable,
                operator: reduce.operator,
                indices,
            }
        })
        .collect()
}

/// Counts the indices behind a variable.
struct Indices<'a> {
    place: &'a Place,
    most: usize,
}

impl VisitMut for Indices<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let (base, count) = element(expr);
        if Place::of(base).is_some_and(|place| place == *self.place) {
            self.most = self.most.max(count);
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
    /// The operator with which the innermost marked loop reduces what the expression names, or an element of it.
    fn reduced(&mut self, expr: &Expr) -> Option<Operator> {
        let place = Place::of(element(expr).0)?;
        let depth = self.cx.depth();
        if depth == 0 || !self.cx.is_captured(&place.root, depth) {
            return None;
        }
        let active = self.active.last()?;
        active.reductions.iter().find(|r| r.place.contains(&place)).map(|r| r.operator)
    }

    /// A reduced variable is used in another way than to accumulate into it.
    pub(super) fn report_read_reduction(&mut self, place: &Place, written: &Expr) {
        let Some(reduction) = self
            .active
            .last()
            .and_then(|active| active.reductions.iter().find(|r| r.place.contains(place)))
        else {
            return;
        };
        let operator = reduction.operator;
        if operator == Operator::Combine {
            return;
        }
        let name = &reduction.place;
        let how = accumulations(operator, &name.to_string());
        self.report.error(
            written,
            format_args!("`{name}` has no value before the loop has ended: each participant accumulates for itself"),
            format_args!("in the body only accumulate into it, {how}, and read it after the loop"),
        );
    }

    /// Walks the indices of an element of a reduced variable.
    fn walk_indices(&mut self, expr: &mut Expr) {
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

    fn report_operator(&mut self, expr: &Expr, operator: Operator, target: &Expr) {
        let name = tokens(target);
        self.report.error(
            expr,
            format_args!(
                "`{name}` is reduced with `{}`, and this does something else with it",
                operator.written()
            ),
            format_args!(
                "accumulate {}, or change the operator in `reduce(..)`",
                accumulations(operator, &name)
            ),
        );
    }
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
fn accumulations(operator: Operator, name: &str) -> String {
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
    let Some(operator) = analysis.reduced(&target) else { return false };
    if operator == Operator::Combine {
        // Whatever the type offers.
        return false;
    }
    let whole = expr.clone();
    match expr {
        Expr::Binary(binary) => {
            if !accumulates(&binary.op, operator) {
                analysis.report_operator(&whole, operator, &target);
            }
            walk::walk(analysis, &mut binary.right);
            analysis.walk_indices(&mut binary.left);
        }
        Expr::Assign(assign) => {
            match operand(&mut assign.right, &target, operator) {
                Some(operand) => walk::walk(analysis, operand),
                None => {
                    // `v = false` in a loop that asks whether all are true, and the like.
                    let absorbing = match (operator, &*assign.right) {
                        (Operator::And | Operator::Or, Expr::Lit(lit)) => {
                            matches!(&lit.lit, syn::Lit::Bool(b) if b.value == (operator == Operator::Or))
                        }
                        _ => false,
                    };
                    if !absorbing {
                        analysis.report_operator(&whole, operator, &target);
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
        Operator::Min => matches!(name, "min" | "minimum"),
        Operator::Max => matches!(name, "max" | "maximum"),
        Operator::Add => name == "add",
        Operator::Mul => name == "mul",
        _ => false,
    }
}

/// `if x > v { v = x; }`; true if that is what it is.
pub(super) fn conditional(analysis: &mut Analysis<'_>, expr: &mut Expr) -> bool {
    let Expr::If(if_) = expr else { return false };
    if if_.else_branch.is_some() {
        return false;
    }
    let Some((value, target, greater)) = comparison(if_) else { return false };
    let Some(operator @ (Operator::Min | Operator::Max)) = analysis.reduced(&target) else {
        return false;
    };
    let [stmt] = if_.then_branch.stmts.as_mut_slice() else { return false };
    let Stmt::Expr(Expr::Assign(assign), _) = stmt else { return false };
    if tokens(&assign.left) != tokens(&target) || tokens(&assign.right) != tokens(&value) {
        return false;
    }
    if greater != (operator == Operator::Max) {
        let whole = (*assign).clone();
        analysis.report_operator(&Expr::Assign(whole), operator, &target);
    }
    walk::walk(analysis, &mut assign.right);
    analysis.walk_indices(&mut assign.left);
    true
}

/// `x > v` as the value, the variable, and whether the value is the greater one.
fn comparison(if_: &ExprIf) -> Option<(Expr, Expr, bool)> {
    let Expr::Binary(binary) = &*if_.cond else { return None };
    let greater = match binary.op {
        BinOp::Gt(_) | BinOp::Ge(_) => true,
        BinOp::Lt(_) | BinOp::Le(_) => false,
        _ => return None,
    };
    let [Stmt::Expr(Expr::Assign(assign), _)] = if_.then_branch.stmts.as_slice() else {
        return None;
    };
    let target = tokens(&assign.left);
    let (left, right) = ((*binary.left).clone(), (*binary.right).clone());
    if tokens(&right) == target {
        return Some((left, right, greater));
    }
    (tokens(&left) == target).then_some((right, left, !greater))
}
