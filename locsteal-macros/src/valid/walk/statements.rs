//! Statements, and what they bind.

use syn::{Attribute, Block, Expr, Local, Pat, Stmt};

use super::macros::walk_macro;
use super::{Pass, branch, walk, walk_matched};
use crate::ast::mark_of;
use crate::valid::cx::Means;
use crate::valid::index::{Kind, judge};
use crate::valid::{macros, methods, signed, source};

pub(crate) fn walk_block<P: Pass>(pass: &mut P, block: &mut Block) {
    pass.cx().open();
    walk_stmts(pass, &mut block.stmts);
    pass.cx().close();
}

pub(crate) fn walk_stmts<P: Pass>(pass: &mut P, stmts: &mut [Stmt]) {
    pass.cx().bind_items(stmts);
    for stmt in stmts {
        if is_conditional(stmt) {
            // It may be left out when compiling.
            let names = match &*stmt {
                Stmt::Local(local) => source::names(&local.pat),
                Stmt::Macro(mac) => macros::names(mac.mac.tokens.clone()).into_iter().collect(),
                _ => Vec::new(),
            };
            branch(pass, |pass| {
                pass.cx().open();
                walk_stmt(pass, stmt);
                pass.cx().close();
            });
            pass.cx().cloud(names);
            continue;
        }
        walk_stmt(pass, stmt);
    }
}

/// Whether a statement is compiled only under a condition.
fn is_conditional(stmt: &Stmt) -> bool {
    let attributes: &[Attribute] = match stmt {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(mac) => &mac.attrs,
        Stmt::Expr(expr, _) => first_attributes(expr),
        Stmt::Item(_) => &[],
    };
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

/// The attributes before an expression, which stand at the first operand.
fn first_attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Assign(e) => first_attributes(&e.left),
        Expr::Binary(e) => first_attributes(&e.left),
        Expr::Cast(e) => first_attributes(&e.expr),
        Expr::Block(e) => &e.attrs,
        Expr::Break(e) => &e.attrs,
        Expr::Call(e) => &e.attrs,
        Expr::Continue(e) => &e.attrs,
        Expr::Field(e) => &e.attrs,
        Expr::ForLoop(e) => &e.attrs,
        Expr::If(e) => &e.attrs,
        Expr::Index(e) => &e.attrs,
        Expr::Loop(e) => &e.attrs,
        Expr::Macro(e) => &e.attrs,
        Expr::Match(e) => &e.attrs,
        Expr::MethodCall(e) => &e.attrs,
        Expr::Paren(e) => &e.attrs,
        Expr::Path(e) => &e.attrs,
        Expr::Return(e) => &e.attrs,
        Expr::Try(e) => &e.attrs,
        Expr::Unary(e) => &e.attrs,
        Expr::Unsafe(e) => &e.attrs,
        Expr::While(e) => &e.attrs,
        _ => &[],
    }
}

fn walk_stmt<P: Pass>(pass: &mut P, stmt: &mut Stmt) {
    match stmt {
        Stmt::Local(local) => walk_local(pass, local),
        Stmt::Item(item) => pass.item(item),
        Stmt::Expr(expr, semi) => {
            if semi.is_some() {
                walk_dropped(pass, expr);
            } else {
                walk(pass, expr);
            }
        }
        Stmt::Macro(mac) => {
            walk_macro(pass, &mut mac.mac);
            if macros::arguments(&mac.mac, pass.cx()).is_none() {
                pass.cx().cloud(macros::names(mac.mac.tokens.clone()));
            }
        }
    }
}

/// Walks something whose value is thrown away.
pub(super) fn walk_dropped<P: Pass>(pass: &mut P, expr: &mut Expr) {
    let Expr::MethodCall(call) = expr else { return walk(pass, expr) };
    let changes = methods::is_mutating(&call.method.to_string());
    pass.cx().drop_value();
    walk(pass, expr);
    // It may be there for not coming back.
    if !changes {
        pass.cx().may_diverge();
    }
}

fn walk_local<P: Pass>(pass: &mut P, local: &mut Local) {
    let mark = match local.init.as_ref().map(|init| &*init.expr) {
        Some(Expr::ForLoop(expr)) => mark_of(&expr.attrs),
        _ => None,
    };
    if let Some(mark) = mark {
        pass.yielding(local, mark);
        pass.cx().bind_pattern(&local.pat);
        return;
    }
    let mut means = Means::Value;
    let mut mutable = false;
    if let Some(init) = &mut local.init {
        let depth = pass.cx().depth();
        if depth > 0 {
            means = match judge(&init.expr, pass.cx(), depth) {
                Kind::Unknown => Means::Value,
                kind => Means::Alias(kind),
            };
        }
        mutable =
            matches!(&*init.expr, Expr::Reference(reference) if reference.mutability.is_some());
        if matches!(local.pat, Pat::Wild(_)) {
            walk_dropped(pass, &mut init.expr);
        } else {
            walk_matched(pass, &mut init.expr, [&local.pat]);
        }
        if let Some((_, diverge)) = &mut init.diverge {
            let exits = pass.cx().exits();
            branch(pass, |pass| walk(pass, diverge));
            if pass.cx().exits() == exits {
                // It does not come back, in a way that cannot be seen.
                pass.cx().exit_all();
            }
            pass.cx().bind_case(&local.pat, mutable);
            return;
        }
    }
    pass.cx().bind_names(&local.pat, mutable, &means);
    signed::note(pass.cx(), &local.pat, local.init.as_ref().map(|init| &*init.expr));
}
