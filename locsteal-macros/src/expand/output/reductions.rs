//! What a loop reduces: what participants accumulate into, and how that comes into the variables.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::{Output, list};
use crate::attr::Operator;
use crate::valid::Reduction;

impl Output<'_> {
    /// What is reduced together, by the number of the first variable: mostly one variable.
    pub(super) fn reduced_together(
        &self,
    ) -> impl DoubleEndedIterator<Item = (usize, &[Reduction])> {
        let all = &self.facts.reductions;
        let leads = |k: &usize| all[*k].group.first().is_none_or(|first| *first == all[*k].place);
        (0..all.len()).filter(leads).map(|k| (k, &all[k..k + all[k].group.len().max(1)]))
    }

    pub(super) fn accumulators(&self) -> Vec<TokenStream> {
        let Self { names, hidden, .. } = self;
        let span = names.span();
        let accumulator = |(k, group): (usize, &[Reduction])| {
            let reduction = &group[0];
            let at = span.located_at(syn::spanned::Spanned::span(&reduction.variable));
            let name = names.accumulator(k);
            let (prepare, variable) = if group.len() > 1 {
                let together = names.together(k);
                let clones = group.iter().map(|reduction| {
                    let variable = &reduction.variable;
                    let at = span.located_at(syn::spanned::Spanned::span(variable));
                    quote_spanned!(at=> ::core::clone::Clone::clone(&#variable))
                });
                let clones = together_as(clones, hidden, span);
                (
                    quote_spanned!(span=> let mut #together = #clones;),
                    quote_spanned!(at=> #together),
                )
            } else {
                (quote!(), reduced(reduction, at))
            };
            let mut operator = if reduction.subtracts {
                quote_spanned!(span=> #hidden::ops::Difference)
            } else {
                operator(reduction.operator, hidden, span)
            };
            for _ in 0..reduction.indices {
                operator = quote_spanned!(span=> #hidden::ops::Each<#operator>);
            }
            quote_spanned! {span=>
                #prepare
                let #name = #hidden::Accumulator::<#operator, _>::of(&#variable);
            }
        };
        self.reduced_together().map(accumulator).collect()
    }

    /// The order in which partial results are joined, where that is for the types to say: in that of the iterations where of
    /// several least or greatest values the first counts.
    pub(super) fn order(&self) -> Option<TokenStream> {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let extrema: Vec<Ident> = (0..facts.reductions.len())
            .filter(|k| matches!(facts.reductions[*k].operator, Operator::Min | Operator::Max))
            .map(|k| names.accumulator(k))
            .collect();
        if facts.ordered || extrema.is_empty() {
            return None;
        }
        let orders = extrema.iter().map(|name| quote_spanned!(span=> (&#name).order()));
        let orders = list(orders, span);
        Some(quote_spanned! {span=>
            {
                #[allow(unused_imports)]
                use #hidden::{AnyEquals as _, SameEquals as _};
                #orders
            }
        })
    }

    pub(super) fn make_sums(&self) -> TokenStream {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        if facts.reductions.is_empty() {
            return quote_spanned!(span=> #hidden::nothing);
        }
        let sums = self.reduced_together().map(|(k, group)| {
            let reduction = &group[0];
            let mut accumulator = names.accumulator(k);
            // The compiler reports here what cannot be reduced.
            let at = span.located_at(syn::spanned::Spanned::span(&reduction.variable));
            accumulator.set_span(at);
            let method = match (reduction.indices, reduction.subtracts, reduction.again) {
                (0, true, false) => "balance",
                (0, false, _) => "whole",
                _ => "parts",
            };
            let method = Ident::new(method, at);
            quote_spanned!(at=> #accumulator.#method())
        });
        let list = list(sums, span);
        quote_spanned!(span=> || #list)
    }

    /// Putting the reductions' results into their variables.
    pub(super) fn results(&self, finished: &Ident) -> TokenStream {
        let Self { facts, names, hidden, .. } = self;
        if facts.reductions.is_empty() {
            return quote!();
        }
        let span = names.span();
        let totals = self.reduced_together().map(|(k, _)| names.sum(k).into_token_stream());
        let pattern = list(totals, span);
        let finish = self.reduced_together().map(|(k, group)| {
            // Where what cannot be reduced has been reported.
            let at = span.located_at(syn::spanned::Spanned::span(&group[0].variable));
            let mut total = names.sum(k);
            total.set_span(at);
            if group.len() == 1 {
                let variable = reduced(&group[0], span);
                return quote_spanned!(at=> #total.finish(&mut #variable););
            }
            let together = names.together(k);
            let variables = group.iter().map(|reduction| reduction.variable.to_token_stream());
            let variables = together_as(variables, hidden, span);
            quote_spanned! {at=>
                #total.finish(&mut #together);
                #variables = #together;
            }
        });
        quote_spanned! {span=>
            if let ::core::option::Option::Some(#pattern) = #finished.sums {
                #(#finish)*
            }
        }
    }
}

/// Variables that are reduced together, as one value or a pattern: the first is compared, and the others go along.
pub(super) fn together_as(
    mut all: impl DoubleEndedIterator<Item = TokenStream>,
    hidden: &TokenStream,
    span: Span,
) -> TokenStream {
    let value = all.next();
    let along = list(all, span);
    quote_spanned!(span=> #hidden::Accompanied { value: #value, along: #along })
}

/// What a reduction is of: the variable, or the slice of its elements.
fn reduced(reduction: &Reduction, span: Span) -> TokenStream {
    let variable = &reduction.variable;
    if reduction.indices == 0 {
        variable.to_token_stream()
    } else {
        quote_spanned!(span=> #variable[..])
    }
}

fn operator(operator: Operator, hidden: &TokenStream, span: Span) -> TokenStream {
    let name = match operator {
        Operator::Add => "Add",
        Operator::Mul => "Mul",
        Operator::BitAnd => "BitAnd",
        Operator::BitOr => "BitOr",
        Operator::BitXor => "BitXor",
        Operator::And => "And",
        Operator::Or => "Or",
        Operator::Min => "Min",
        Operator::Max => "Max",
        Operator::Combine => "Combine",
    };
    let name = Ident::new(name, span);
    quote_spanned!(span=> #hidden::ops::#name)
}
