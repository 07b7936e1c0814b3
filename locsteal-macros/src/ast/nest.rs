//! Nests of loops that are to be run as one.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprForLoop, Stmt};

use super::mark_of;

/// Why loops cannot be joined.
pub(crate) struct NoNest {
    pub(crate) at: TokenStream,
    pub(crate) what: &'static str,
    pub(crate) help: &'static str,
}

/// The loops of a nest, the outermost first.
pub(crate) fn levels(expr: &ExprForLoop, depth: usize) -> Result<Vec<&ExprForLoop>, NoNest> {
    let mut levels = vec![expr];
    while levels.len() < depth {
        let body = &levels[levels.len() - 1].body;
        let first = body.stmts.iter().find_map(|stmt| match stmt {
            Stmt::Expr(Expr::ForLoop(inner), _) => Some(inner),
            _ => None,
        });
        let Some(inner) = first else {
            return Err(NoNest {
                at: levels[levels.len() - 1].for_token.to_token_stream(),
                what: "fewer nested loops than `collapse` is to join",
                help: "`collapse = 2` joins a `for` loop and the one that is all of its body",
            });
        };
        if let Some(other) =
            body.stmts.iter().find(|stmt| !matches!(stmt, Stmt::Expr(Expr::ForLoop(_), _)))
        {
            return Err(NoNest {
                at: other.to_token_stream(),
                what: "this stands between the loops that are to be joined",
                help: "move it into the innermost loop, or leave `collapse` out",
            });
        }
        if body.stmts.len() > 1 {
            return Err(NoNest {
                at: body.stmts[1].to_token_stream(),
                what: "a second loop beside the one that is to be joined",
                help: "leave `collapse` out",
            });
        }
        if mark_of(&inner.attrs).is_some() {
            return Err(NoNest {
                at: inner.for_token.to_token_stream(),
                what: "this loop is marked, and to be joined with the one around it",
                help: "mark the outermost loop alone",
            });
        }
        levels.push(inner);
    }
    Ok(levels)
}

/// The loop `level` steps inside of a nest.
pub(crate) fn level_mut(expr: &mut ExprForLoop, level: usize) -> &mut ExprForLoop {
    if level == 0 || !matches!(expr.body.stmts.first(), Some(Stmt::Expr(Expr::ForLoop(_), _))) {
        return expr;
    }
    match expr.body.stmts.first_mut() {
        Some(Stmt::Expr(Expr::ForLoop(inner), _)) => level_mut(inner, level - 1),
        _ => unreachable!("looked at above"),
    }
}
