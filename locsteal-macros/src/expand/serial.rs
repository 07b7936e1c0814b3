//! What is left where there are errors: the same item with serial loops, so that the compiler does not add to them.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Item, Local, Macro, Pat, Signature, Stmt};

use crate::ast::{Job, is_mark, mark_of};

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
            // The loop has no value by itself. What stands for it must not be said to make the rest unreachable.
            *init.expr = Expr::Verbatim(match &local.pat {
                Pat::Type(_) => quote!(::core::option::Option::None.unwrap()),
                _ => quote!(::core::panic!()),
            });
        }
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_signature_mut(&mut self, signature: &mut Signature) {
        // A serial `for` loop is no more possible in it.
        signature.constness = None;
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        if let Some(mut job) = Job::with_marks(mac) {
            self.visit_expr_mut(&mut job.closure);
            job.put_back(mac);
        }
        mac.tokens = without_marks(std::mem::take(&mut mac.tokens));
    }
}

/// Tokens without the marks in them.
fn without_marks(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let after_hash =
                    matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
                let names_mark = || {
                    let mut path = group
                        .stream()
                        .into_iter()
                        .take_while(|token| !matches!(token, TokenTree::Group(_)));
                    path.any(|token| matches!(&token, TokenTree::Ident(word) if word == "par_for"))
                };
                if after_hash && group.delimiter() == Delimiter::Bracket && names_mark() {
                    kept.pop();
                    continue;
                }
                let mut inner = Group::new(group.delimiter(), without_marks(group.stream()));
                inner.set_span(group.span());
                kept.push(inner.into());
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}
