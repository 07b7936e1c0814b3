//! Expressions that hold blocks: branches, loops, closures.

use syn::{Expr, ExprClosure, ExprForLoop, Pat};

use super::{Pass, body, branch, walk, walk_block, walk_matched};
use crate::ast::mark_of;
use crate::valid::cx::{Control, Means};

/// Expressions that hold blocks.
pub(super) fn walk_block_like<P: Pass>(pass: &mut P, expr: &mut Expr) {
    match expr {
        Expr::Block(block) => {
            let label = block.label.as_ref().map(|label| label.name.ident.to_string());
            pass.cx().enter(Control::Block { label });
            walk_block(pass, &mut block.block);
            pass.cx().leave();
        }
        Expr::Unsafe(block) => {
            pass.cx().enter_unsafe();
            walk_block(pass, &mut block.block);
            pass.cx().leave_unsafe();
        }
        Expr::Const(block) => body(pass, None, |pass| walk_block(pass, &mut block.block)),
        Expr::TryBlock(block) => {
            pass.cx().enter(Control::Try);
            branch(pass, |pass| walk_block(pass, &mut block.block));
            pass.cx().leave();
        }
        Expr::Async(block) => body(pass, None, |pass| walk_block(pass, &mut block.block)),
        Expr::Closure(closure) => walk_closure(pass, closure),
        Expr::If(_) => {
            // What the condition binds is seen in the first branch only.
            pass.cx().open();
            if pass.conditional(expr) {
                pass.cx().close();
                return;
            }
            let Expr::If(if_) = expr else { return pass.cx().close() };
            walk(pass, &mut if_.cond);
            branch(pass, |pass| walk_block(pass, &mut if_.then_branch));
            pass.cx().close();
            if let Some((_, otherwise)) = &mut if_.else_branch {
                branch(pass, |pass| walk(pass, otherwise));
            }
        }
        Expr::Match(match_) => {
            walk_matched(pass, &mut match_.expr, match_.arms.iter().map(|arm| &arm.pat));
            for arm in &mut match_.arms {
                branch(pass, |pass| {
                    pass.cx().open();
                    pass.cx().bind_case(&arm.pat, false);
                    if let Pat::Guard(guarded) = &mut arm.pat {
                        walk(pass, &mut guarded.guard);
                    }
                    walk(pass, &mut arm.body);
                    pass.cx().close();
                });
            }
        }
        Expr::ForLoop(loop_) => {
            if let Some(mark) = mark_of(&loop_.attrs) {
                pass.marked(expr, mark);
                return;
            }
            pass.serial(expr);
        }
        Expr::While(loop_) => {
            let label = loop_.label.as_ref().map(|label| label.name.ident.to_string());
            pass.cx().enter(Control::Loop { label, round: false });
            branch(pass, |pass| {
                pass.cx().open();
                walk(pass, &mut loop_.cond);
                walk_block(pass, &mut loop_.body);
                pass.cx().close();
            });
            pass.cx().leave();
        }
        Expr::Loop(loop_) => {
            let label = loop_.label.as_ref().map(|label| label.name.ident.to_string());
            pass.cx().enter(Control::Loop { label, round: false });
            branch(pass, |pass| walk_block(pass, &mut loop_.body));
            pass.cx().leave();
        }
        _ => {}
    }
}

/// A serial loop; true if an iteration may leave it.
pub(crate) fn walk_for<P: Pass>(pass: &mut P, loop_: &mut ExprForLoop) -> bool {
    walk(pass, &mut loop_.expr);
    let label = loop_.label.as_ref().map(|label| label.name.ident.to_string());
    pass.cx().enter(Control::Loop { label, round: true });
    let mut leaves = false;
    branch(pass, |pass| {
        pass.cx().begin_round(false);
        pass.cx().open();
        pass.cx().bind_names(&loop_.pat, false, &Means::InnerIndex);
        walk_block(pass, &mut loop_.body);
        pass.cx().close();
        leaves = pass.cx().end_round();
    });
    pass.cx().leave();
    leaves
}

fn walk_closure<P: Pass>(pass: &mut P, closure: &mut ExprClosure) {
    let returns = match &closure.output {
        syn::ReturnType::Type(_, ty) => Some(ty.clone()),
        syn::ReturnType::Default => None,
    };
    body(pass, returns, |pass| {
        for input in &closure.inputs {
            pass.cx().bind_pattern(input);
        }
        walk(pass, &mut closure.body);
    });
}
