//! What a loop runs over.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Expr;

use crate::valid::source::ADAPTORS;

/// The source: adaptors are applied to it instead of to an iterator.
pub(super) fn source(expr: &Expr, hidden: &TokenStream, span: Span) -> TokenStream {
    let Some(adapted) = adapt(expr, hidden, span) else { return expr.to_token_stream() };
    quote_spanned! {span=>
        {
            #[allow(unused_imports)]
            use #hidden::{ParallelSlice as _, ParallelSliceMut as _, ParallelSource as _};
            #adapted
        }
    }
}

/// `None` if there is nothing to adapt.
fn adapt(expr: &Expr, hidden: &TokenStream, span: Span) -> Option<TokenStream> {
    match expr {
        Expr::Paren(paren) => adapt(&paren.expr, hidden, span),
        Expr::Group(group) => adapt(&group.expr, hidden, span),
        Expr::MethodCall(call) if ADAPTORS.iter().any(|adaptor| call.method == adaptor) => {
            let receiver =
                adapt(&call.receiver, hidden, span).unwrap_or_else(|| bare(&call.receiver));
            let into =
                quote_spanned!(span=> #hidden::IntoParallelSource::into_parallel_source(#receiver));
            let arguments = call.args.iter().map(|argument| {
                if call.method == "zip" {
                    adapt(argument, hidden, span).unwrap_or_else(|| argument.to_token_stream())
                } else {
                    argument.to_token_stream()
                }
            });
            let (dot, method, turbofish) = (call.dot_token, &call.method, &call.turbofish);
            Some(quote_spanned!(span=> #into #dot #method #turbofish (#(#arguments),*)))
        }
        Expr::MethodCall(call)
            if (call.method == "chunks_mut" || call.method == "chunks_exact_mut")
                && call.args.len() == 1 =>
        {
            let (receiver, size) = (&call.receiver, &call.args[0]);
            let method = Ident::new(&format!("par_{}", call.method), call.method.span());
            Some(quote_spanned!(span=> #receiver.#method(#size)))
        }
        _ => None,
    }
}

/// An expression without parentheses that it does not need any more.
fn bare(expr: &Expr) -> TokenStream {
    match expr {
        Expr::Paren(paren) if paren.attrs.is_empty() => bare(&paren.expr),
        expr => expr.to_token_stream(),
    }
}
