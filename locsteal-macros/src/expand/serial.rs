//! What is left where there are errors: the same item with serial loops, so that the compiler does not add to them.

use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Item, Local, Stmt};

use crate::ast::{is_mark, mark_of};

/// Takes all marks out of an item.
pub(super) fn strip(item: &mut Item) {
    Strip.visit_item_mut(item);
}

pub(super) fn strip_stmt(stmt: &mut Stmt) {
    Strip.visit_stmt_mut(stmt);
}

struct Strip;

impl VisitMut for Strip {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
        attributes.retain(|attribute| {
            !is_mark(attribute) && mark_of(std::slice::from_ref(attribute)).is_none()
        });
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        if let Some(init) = &mut local.init
            && let Expr::ForLoop(expr) = &*init.expr
            && mark_of(&expr.attrs).is_some()
        {
            // The loop has no value by itself.
            *init.expr = Expr::Verbatim(quote!(::core::panic!()));
        }
        visit_mut::visit_local_mut(self, local);
    }
}
