//! Which expressions accumulate into a variable that is reduced: `v += ..`, `v = v.max(..)`.

use syn::{BinOp, Expr};

use crate::attr::{Operator, tokens};
use crate::valid::analysis::Analysis;
use crate::valid::walk;

/// `v += ..`, `v = v + ..`, `v = v.max(..)`; true if the target is a variable that is reduced.
pub(in crate::valid) fn assignment(analysis: &mut Analysis<'_>, expr: &mut Expr) -> bool {
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

/// The operator that an assigning operation accumulates with.
pub(in crate::valid) fn of_assignment(op: &BinOp) -> Option<Operator> {
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
pub(in crate::valid) fn resembles(assign: &syn::ExprAssign) -> Option<Operator> {
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
