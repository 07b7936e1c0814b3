//! Nests that are run as one: which loops can be joined, and what may not leave them.

use quote::ToTokens;
use syn::{Expr, ExprForLoop};

use super::analysis::Analysis;
use super::{macros, source};
use crate::ast::{NoNest, levels};
use crate::attr::Clauses;

impl Analysis<'_> {
    /// How many loops are joined into one; 0 if there is no clause that says so.
    pub(super) fn join(&mut self, clauses: &Clauses, expr: &ExprForLoop) -> usize {
        let Some(collapse) = &clauses.collapse else { return 0 };
        let levels = match levels(expr, collapse.value) {
            Ok(levels) => levels,
            Err(NoNest { at, what, help }) => {
                self.report.error(at, what, help);
                return 0;
            }
        };
        for (k, level) in levels.iter().enumerate() {
            let names = macros::names(level.expr.to_token_stream());
            let outer = levels[..k].iter().find_map(|outer| {
                source::names(&outer.pat).into_iter().find(|n| names.contains(n))
            });
            if let Some(name) = outer {
                self.report.error(
                    &level.expr,
                    format_args!("this loop runs over something else for each `{name}`, so the two cannot be joined"),
                    "leave `collapse` out: stealing balances loops whose iterations differ in length",
                );
            }
        }
        levels.len()
    }

    /// Reports an exit that leaves some of the loops that are joined into the active loop `at`, and not the others. `ends`: it
    /// ends or continues that loop, rather than one further out.
    pub(super) fn leaves_joined(&mut self, exit: &Expr, at: usize, ends: bool) -> bool {
        let active = &self.active[at];
        if !active.joined {
            return false;
        }
        let label = match exit {
            Expr::Break(jump) => jump.label.as_ref(),
            Expr::Continue(jump) => jump.label.as_ref(),
            _ => None,
        };
        let joined = label.is_some_and(|label| active.labels.contains(&label.ident.to_string()));
        if joined || (ends && matches!(exit, Expr::Break(_))) {
            self.report.error(
                exit,
                "this leaves one of the loops that are joined, and not the others",
                "use `continue` for the innermost, `return` or `?` to leave them all, or leave `collapse` out",
            );
            return true;
        }
        false
    }
}
