//! The code that a marked loop becomes.
//!
//! [`Output::tokens`] puts it together, in the order in which it runs; the parts stand in a file each.

mod chunk;
mod clauses;
mod exits;
mod names;
mod nest;
mod reductions;
mod source;

use std::collections::HashSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprForLoop};

use super::rewrite::Serial;
use crate::ast::levels;
use crate::valid::{LoopFacts, macros};
use clauses::clauses;
pub(super) use exits::Exits;
pub(super) use names::Names;
use source::source;

/// All that the code is made of.
pub(super) struct Output<'a> {
    pub(super) expr: &'a ExprForLoop,
    pub(super) facts: &'a LoopFacts,
    pub(super) names: &'a Names,
    pub(super) exits: &'a Exits,
    pub(super) ways: &'a [Expr],
    pub(super) views: &'a HashSet<usize>,
    /// Of a nest that is run as one: what its innermost loop reads along its rows.
    pub(super) along_rows: Option<&'a Serial<'a>>,
    pub(super) hidden: &'a TokenStream,
    /// Whether the loop yields a value of each iteration.
    pub(super) yields: bool,
}

impl Output<'_> {
    pub(super) fn tokens(&self) -> TokenStream {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let part = match &facts.index {
            Some(index) => index.part.tokens(hidden, span),
            None => quote_spanned!(span=> ()),
        };
        let site = self.site();
        let source = self.source();
        let clauses = clauses(&facts.clauses, hidden, span);
        let launched = names.name("launched");
        let finished = names.name("finished");
        let owns = self.owns();
        let own_names = (0..facts.owned.len()).map(|k| names.own(k));
        let accumulators = self.accumulators();
        let (with, run) = if self.yields { ("yielding", "collect") } else { ("with", "run") };
        let with = Ident::new(&format!("{with}_{}", facts.owned.len()), span);
        let (locals, sums) = (self.make_locals(), self.make_sums());
        let code = self.chunk_code();
        let results = self.results(&finished);
        let exits = self.leave(&finished);
        // What is not used is not named, so that there is nothing to warn about.
        let unused = results.is_empty() && exits.is_empty();
        let (keep, values) = if self.yields {
            let values = names.name("values");
            let finished =
                if unused { quote_spanned!(span=> _) } else { finished.to_token_stream() };
            (
                quote_spanned!(span=> let (#values, #finished) =),
                quote_spanned! {span=>
                    match #values {
                        ::core::option::Option::Some(#values) => #values,
                        ::core::option::Option::None => #hidden::nothing_left(),
                    }
                },
            )
        } else if unused {
            (quote!(), quote!())
        } else {
            (quote_spanned!(span=> let #finished =), quote!())
        };
        let standard = macros::check(&facts.standard, hidden, span);
        let mut prepared =
            quote_spanned!(span=> #launched.#with(#(#own_names,)* #locals, #sums, #code));
        let mut prepare = quote!();
        let (mut in_order, mut order) = (if facts.ordered { "_in_order" } else { "" }, quote!());
        if let Some(given) = self.order() {
            // Behind the body, which may be all that says what the types are.
            prepare = quote_spanned!(span=> let #launched = #prepared;);
            prepared = launched.to_token_stream();
            (in_order, order) = ("_where", given);
        }
        let run = Ident::new(&format!("{run}{in_order}"), self.around());
        quote_spanned! {span=>
            {
                #standard
                match #hidden::start::<#part, _>(#site, #source) #clauses {
                    #launched => {
                        #(#owns)*
                        #(#accumulators)*
                        #prepare
                        #keep #prepared.#run(#order);
                        #results
                        #exits
                        #values
                    }
                }
            }
        }
    }

    /// The loops that are run as one; mostly it is one.
    fn levels(&self) -> Vec<&ExprForLoop> {
        let depth = self.facts.clauses.collapse.as_ref().map_or(1, |clause| clause.value);
        levels(self.expr, depth).unwrap_or_default()
    }

    /// The loop whose body is that of the iterations.
    fn innermost(&self) -> &ExprForLoop {
        self.levels().last().copied().unwrap_or(self.expr)
    }

    /// Of tokens that stand where the body stands.
    fn around(&self) -> Span {
        self.names.span().located_at(self.innermost().body.brace_token.span.join())
    }

    /// What the loop runs over.
    fn source(&self) -> TokenStream {
        let Self { hidden, names, .. } = self;
        let span = names.span();
        let levels = self.levels();
        let Some((outermost, inner)) = levels.split_first().filter(|(_, inner)| !inner.is_empty())
        else {
            return source(&self.expr.expr, hidden, span);
        };
        let outermost = source(&outermost.expr, hidden, span);
        let inner = inner.iter().map(|level| source(&level.expr, hidden, span));
        quote_spanned! {span=>
            {
                use #hidden::ParallelSource as _;
                #hidden::IntoParallelSource::into_parallel_source(#outermost) #(.nest(#inner))*
            }
        }
    }

    /// The loop's own static, which knows where it stands. Nothing of the user's is in its scope.
    fn site(&self) -> TokenStream {
        let Self { hidden, names, facts, .. } = self;
        let span = names.span();
        let name = match &facts.clauses.name {
            Some(name) => {
                let name = &name.value;
                quote_spanned!(span=> ::core::option::Option::Some(#name))
            }
            None => quote_spanned!(span=> ::core::option::Option::None),
        };
        let place = place_text(names.span, span);
        quote_spanned! {span=>
            {
                static SITE: #hidden::Site =
                    #hidden::Site::new(#name, #place);
                &SITE
            }
        }
    }

    /// The arrays, borrowed for the loop.
    fn owns(&self) -> Vec<TokenStream> {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let own = |(k, owned): (usize, &crate::valid::Owned)| {
            let (name, array, text) = (names.own(k), &owned.array, owned.place.to_string());
            let joined = facts.clauses.collapse.is_some();
            let size = names.size(k);
            let chunks = match &owned.chunks {
                Some(_) if joined => quote_spanned!(span=> .numbered(#size)),
                Some(_) => quote_spanned!(span=> .chunks(#size)),
                None if joined => quote_spanned!(span=> .grid(#size)),
                None => quote!(),
            };
            // The method is looked for at the array's own place, where the compiler reports what has no such method.
            if owned.rows {
                let rows = names.rows(k);
                let method =
                    Ident::new("own_by_row", span.located_at(syn::spanned::Spanned::span(array)));
                return quote_spanned! {span=>
                    let mut #rows = {
                        use #hidden::OwnByRow as _;
                        #array.#method()
                    };
                    let #name = #hidden::own_rows(&mut #rows.rows, #text);
                };
            }
            let method =
                Ident::new("own_by_iteration", span.located_at(syn::spanned::Spanned::span(array)));
            quote_spanned! {span=>
                let #name = {
                    use #hidden::OwnByIteration as _;
                    #array.#method(#text)
                }#chunks;
            }
        };
        // Sizes first: they may be computed from what is then borrowed.
        let size = |(k, owned): (usize, &crate::valid::Owned)| {
            let (size, coefficients) = (names.size(k), &owned.coefficients);
            match &owned.chunks {
                Some(given) => Some(quote_spanned!(span=> let #size = #given;)),
                None if facts.clauses.collapse.is_some() => {
                    Some(quote_spanned!(span=> let #size = [#(#coefficients,)* 1];))
                }
                None => None,
            }
        };
        let sizes = facts.owned.iter().enumerate().filter_map(size);
        sizes.chain(facts.owned.iter().enumerate().map(own)).collect()
    }

    fn make_locals(&self) -> TokenStream {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        if facts.clauses.local.is_empty() {
            // A closure fewer for the compiler to look at.
            return quote_spanned!(span=> #hidden::nothing);
        }
        let slots = facts.clauses.local.iter().map(|local| {
            let init = &local.init;
            match &local.ty {
                Some(ty) => quote_spanned!(span=> #hidden::Slot::<#ty>::new(#init)),
                None => quote_spanned!(span=> #hidden::Slot::new(#init)),
            }
        });
        let list = list(slots, span);
        quote_spanned!(span=> || #list)
    }
}

/// `(a, (b, ()))`
fn list(items: impl DoubleEndedIterator<Item = TokenStream>, span: Span) -> TokenStream {
    items.rev().fold(quote_spanned!(span=> ()), |rest, item| quote_spanned!(span=> (#item, #rest)))
}

/// `file:line:column`, as a constant of the user's crate.
pub(super) fn place_text(of: Span, span: Span) -> TokenStream {
    let (line, column) = location(of);
    let place = Literal::string(&format!(":{line}:{column}"));
    quote_spanned!(span=> ::core::concat!(::core::file!(), #place))
}

/// Where a span begins: line and column, from 1.
fn location(span: Span) -> (usize, usize) {
    if proc_macro::is_available() {
        let span = span.unwrap();
        (span.line(), span.column())
    } else {
        (1, 1)
    }
}
