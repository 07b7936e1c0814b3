//! `break`, `continue`, `return` and `?`: which marked loops they leave, and what they may take along.

use syn::Expr;
use syn::visit::Visit;

use super::Analysis;
use crate::attr::tokens;
use crate::valid::walk;

impl Analysis<'_> {
    /// Notes which marked loops an exit leaves.
    pub(super) fn note_exit(&mut self, expr: &Expr) {
        if let Expr::Return(syn::ExprReturn { expr: Some(value), .. }) = expr
            && let Some(error) = self.cx.returns().and_then(unsendable)
        {
            let error = tokens(&error);
            self.report.error(
                value,
                format_args!("this takes a `{error}` out of the loop to another thread, and nothing says that it can go there"),
                format_args!(
                    "let the function return `Box<{error} + Send + Sync>`, or leave with `?`: its error becomes the function's afterwards"
                ),
            );
        }
        let route = self.cx.route(walk::exit_of(expr));
        let count = self.active.len();
        // Every loop on the way is left; the last one may be continued.
        let left = count.saturating_sub(route.crossed);
        for at in (left..count).rev() {
            if !self.leaves_joined(expr, at, false) {
                self.active[at].leaves = true;
            }
        }
        if !route.ends_marked || left == 0 || self.leaves_joined(expr, left - 1, true) {
            return;
        }
        let active = &mut self.active[left - 1];
        match expr {
            Expr::Continue(jump) if active.yields => self.report.error(
                jump.continue_token,
                "`continue` in a loop that yields: the iteration would have no value",
                "give a value, such as `None`, in both branches of an `if`",
            ),
            Expr::Break(jump) => {
                active.leaves = true;
                if active.yields {
                    self.report.error(
                        jump.break_token,
                        "`break` in a loop that yields: the iterations that are left out would have no value",
                        "shorten the range, or leave the function with `return` or `?`",
                    );
                }
            }
            _ => {}
        }
    }
}

/// A `dyn Error` in a type, of which nothing says that it is `Send`.
fn unsendable(ty: &syn::Type) -> Option<syn::TypeTraitObject> {
    struct Errors(Option<syn::TypeTraitObject>);

    impl<'a> Visit<'a> for Errors {
        fn visit_type_trait_object(&mut self, object: &'a syn::TypeTraitObject) {
            let mut names = object.bounds.iter().filter_map(|bound| match bound {
                syn::TypeParamBound::Trait(bound) => bound.path.segments.last(),
                _ => None,
            });
            if let (Some(name), None) = (names.next(), names.next())
                && name.ident == "Error"
            {
                self.0.get_or_insert_with(|| object.clone());
            }
        }
    }

    let mut errors = Errors(None);
    errors.visit_type(ty);
    errors.0
}
