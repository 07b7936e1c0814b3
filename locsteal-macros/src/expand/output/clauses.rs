//! The calls that set the clauses.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::attr::{Clauses, Locality, Schedule};

/// The calls that set the clauses.
pub(super) fn clauses(clauses: &Clauses, hidden: &TokenStream, span: Span) -> TokenStream {
    let mut calls = TokenStream::new();
    if let Some(schedule) = &clauses.schedule {
        let value = match &schedule.value {
            Schedule::Auto => quote_spanned!(span=> #hidden::Schedule::Auto),
            Schedule::Static => quote_spanned!(span=> #hidden::Schedule::Static),
            Schedule::StaticChunk(size) => quote_spanned!(span=> #hidden::static_chunk(#size)),
            Schedule::Steal => quote_spanned!(span=> #hidden::Schedule::Steal),
            Schedule::Dynamic => quote_spanned!(span=> #hidden::Schedule::Dynamic),
            Schedule::DynamicChunk(size) => quote_spanned!(span=> #hidden::dynamic_chunk(#size)),
            Schedule::Serial => quote_spanned!(span=> #hidden::Schedule::Serial),
            Schedule::Given(value) => value.to_token_stream(),
        };
        calls.extend(quote_spanned!(span=> .schedule(#value)));
    }
    if let Some(locality) = &clauses.locality {
        let value = match &locality.value {
            Locality::Llc => quote_spanned!(span=> #hidden::Locality::Llc),
            Locality::Node => quote_spanned!(span=> #hidden::Locality::Node),
            Locality::Flat => quote_spanned!(span=> #hidden::Locality::Flat),
            Locality::Given(value) => value.to_token_stream(),
        };
        calls.extend(quote_spanned!(span=> .locality(#value)));
    }
    if let Some(progress) = &clauses.progress {
        let listener = &progress.value;
        calls.extend(quote_spanned!(span=> .progress(&#hidden::Listener::new(#listener))));
    }
    if let Some(report) = &clauses.report {
        let stats = &report.value;
        calls.extend(quote_spanned!(span=> .report(#stats)));
    }
    for (method, clause) in
        [("grain", &clauses.grain), ("threads", &clauses.threads), ("pool", &clauses.pool)]
    {
        if let Some(clause) = clause {
            let (method, value) = (Ident::new(method, span), &clause.value);
            calls.extend(quote_spanned!(span=> .#method(#value)));
        }
    }
    calls
}
