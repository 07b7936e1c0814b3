//! The closure that `spawn_near!` is given, in which marked loops are seen as in any other.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, Macro};

use super::marks::NUMBERED;
use crate::report::Report;
use crate::spawn_near::{Written, WrittenOption};

/// What `spawn_near!` was given.
pub(crate) struct Job {
    pub(crate) options: Vec<WrittenOption>,
    pub(crate) closure: Expr,
}

impl Job {
    /// What a macro was given, if it is `spawn_near!` and can be understood.
    pub(crate) fn of(mac: &Macro) -> Option<Self> {
        if mac.path.segments.last()?.ident != "spawn_near" {
            return None;
        }
        let mut report = Report::default();
        let Written { options, rest } = Written::parse(mac.tokens.clone(), &mut report)?;
        let closure: Expr = syn::parse2(rest).ok()?;
        (report.is_empty() && matches!(closure, Expr::Closure(_)))
            .then_some(Self { options, closure })
    }

    /// The same, if a loop is marked in it.
    pub(crate) fn with_marks(mac: &Macro) -> Option<Self> {
        if is_numbered(mac.tokens.clone()) { Self::of(mac) } else { None }
    }

    /// Writes it back into the macro.
    pub(crate) fn put_back(self, mac: &mut Macro) {
        let options = self.options.iter().map(|WrittenOption { key, value }| {
            let span = key.span();
            quote_spanned!(span=> #key = #value,)
        });
        mac.tokens = match self.options.first() {
            Some(first) => {
                let span = first.key.span();
                quote_spanned!(span=> < #(#options)* >)
            }
            None => TokenStream::new(),
        };
        self.closure.to_tokens(&mut mac.tokens);
    }
}

/// Whether there is a marked loop somewhere in tokens.
fn is_numbered(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == NUMBERED,
        TokenTree::Group(group) => is_numbered(group.stream()),
        _ => false,
    })
}
