//! The code that a marked loop becomes.

use std::collections::HashSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Block, Expr, ExprForLoop, Lifetime, Stmt, Type, parse_quote_spanned};

use super::Hidden;
use super::rewrite::{Serial, hidden_label, hidden_name};
use super::rows;
use crate::ast::{levels, mark_of};
use crate::attr::{Clauses, Locality, Operator, Schedule};
use crate::valid::index::Shift;
use crate::valid::source::ADAPTORS;
use crate::valid::{LoopFacts, Read, Reduction, macros};

/// The names of a loop's generated code, which differ from those of loops around it.
pub(super) struct Names {
    level: usize,
    span: Span,
}

macro_rules! numbered {
    ($($name:ident),*) => {$(
        pub(super) fn $name(&self, number: usize) -> Ident {
            hidden_name(stringify!($name), self.level, number, self.span)
        }
    )*};
}

impl Names {
    pub(super) fn new(level: usize, span: Span) -> Self {
        Self { level, span }
    }

    numbered!(
        base,
        size,
        own,
        area,
        part,
        pieces,
        window,
        at,
        array,
        rows,
        view,
        accumulator,
        together,
        sum,
        reduced,
        slot
    );

    fn name(&self, name: &str) -> Ident {
        Ident::new(&format!("{name}_{}", self.level), self.span())
    }

    /// The label that exits break to.
    fn label(&self) -> Lifetime {
        hidden_label("chunk", self.level, self.span)
    }

    /// Of the generated tokens: the place is the loop's, the names nobody else's.
    pub(super) fn span(&self) -> Span {
        Span::mixed_site().located_at(self.span)
    }
}

/// The ways in which iterations leave a loop, in the order in which they were met.
#[derive(Default)]
pub(super) struct Exits {
    ways: Vec<Way>,
}

struct Way {
    /// What the function does where the loop was launched: the exit again, with the value that was carried out.
    again: Expr,
    /// Those that carry nothing or the same type can be one way.
    key: Option<String>,
}

impl Exits {
    /// The expressions that leave, to stand where the loop stood.
    pub(super) fn ways(&self) -> impl Iterator<Item = Expr> {
        self.ways.iter().map(|way| way.again.clone())
    }

    /// What stands in the body instead of an exit.
    pub(super) fn leave(
        &mut self,
        exit: &Expr,
        returns: Option<&Type>,
        names: &Names,
        hidden: &Hidden,
    ) -> TokenStream {
        let span = match exit {
            Expr::Try(e) => e.question_token.spans[0],
            Expr::Return(e) => e.return_token.span,
            Expr::Break(e) => e.break_token.span,
            Expr::Continue(e) => e.continue_token.span,
            _ => names.span,
        };
        let here = Span::mixed_site().located_at(span);
        let hidden = &hidden.at(here);
        let value = Ident::new("value", here);
        let label = names.label();
        let label = Lifetime::new(&label.to_string(), here);
        match exit {
            Expr::Try(try_) => {
                let again: Expr = parse_quote_spanned!(here=> match #value? {});
                let at = self.add(again, None, here, hidden);
                let (inner, left) = (&try_.expr, at(quote_spanned!(here=> #value)));
                let branch = quote_spanned!(here=> #hidden::branch(#inner));
                quote_spanned! {here=>
                    match #branch {
                        #hidden::Continue(#value) => #value,
                        #hidden::Break(#value) => break #label #hidden::Ended::Left(#left),
                    }
                }
            }
            Expr::Return(jump) => {
                let keyword = jump.return_token;
                match &jump.expr {
                    None => {
                        let at = self.add(
                            parse_quote_spanned!(here=> #keyword),
                            Some("return".to_owned()),
                            here,
                            hidden,
                        );
                        let left = at(quote_spanned!(here=> ()));
                        quote_spanned!(here=> break #label #hidden::Ended::Left(#left))
                    }
                    Some(given) => {
                        let again = parse_quote_spanned!(here=> #keyword #value);
                        let at = self.add(again, Some("return value".to_owned()), here, hidden);
                        let ty = returns.map_or_else(|| quote_spanned!(here=> _), nameable);
                        let left = at(quote_spanned!(here=> #value));
                        quote_spanned! {here=>
                            { let #value: #ty = #given; break #label #hidden::Ended::Left(#left) }
                        }
                    }
                }
            }
            Expr::Break(jump) => {
                let (keyword, to) = (jump.break_token, &jump.label);
                match &jump.expr {
                    None => {
                        let key = format!("break {}", to.to_token_stream());
                        let at = self.add(
                            parse_quote_spanned!(here=> #keyword #to),
                            Some(key),
                            here,
                            hidden,
                        );
                        let left = at(quote_spanned!(here=> ()));
                        quote_spanned!(here=> break #label #hidden::Ended::Left(#left))
                    }
                    Some(given) => {
                        let at = self.add(
                            parse_quote_spanned!(here=> #keyword #to #value),
                            None,
                            here,
                            hidden,
                        );
                        let left = at(quote_spanned!(here=> #given));
                        quote_spanned!(here=> break #label #hidden::Ended::Left(#left))
                    }
                }
            }
            Expr::Continue(jump) => {
                let (keyword, to) = (jump.continue_token, &jump.label);
                let key = format!("continue {}", to.to_token_stream());
                let at =
                    self.add(parse_quote_spanned!(here=> #keyword #to), Some(key), here, hidden);
                let left = at(quote_spanned!(here=> ()));
                quote_spanned!(here=> break #label #hidden::Ended::Left(#left))
            }
            other => other.to_token_stream(),
        }
    }

    /// Adds a way; gives what wraps the value that takes it.
    fn add(
        &mut self,
        again: Expr,
        key: Option<String>,
        span: Span,
        hidden: &TokenStream,
    ) -> impl Fn(TokenStream) -> TokenStream + use<> {
        let known =
            key.is_some().then(|| self.ways.iter().position(|way| way.key == key)).flatten();
        let at = known.unwrap_or_else(|| {
            self.ways.push(Way { again, key });
            self.ways.len() - 1
        });
        let hidden = hidden.clone();
        move |value| wrap(at, quote_spanned!(span=> #hidden::Or::This(#value)), span, &hidden)
    }
}

/// `That(That(.. inner))`, `at` times.
fn wrap(at: usize, inner: TokenStream, span: Span, hidden: &TokenStream) -> TokenStream {
    (0..at).fold(inner, |inner, _| quote_spanned!(span=> #hidden::Or::That(#inner)))
}

/// A type as it can be written in a body: `impl Trait` is left to inference.
fn nameable(ty: &Type) -> TokenStream {
    struct Nameable;

    impl syn::visit_mut::VisitMut for Nameable {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if matches!(ty, Type::ImplTrait(_)) {
                *ty = syn::parse_quote!(_);
            } else {
                syn::visit_mut::visit_type_mut(self, ty);
            }
        }
    }

    let mut ty = ty.clone();
    syn::visit_mut::VisitMut::visit_type_mut(&mut Nameable, &mut ty);
    ty.into_token_stream()
}

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
        let mut clauses = clauses(&facts.clauses, hidden, span);
        if facts.ordered {
            clauses.extend(quote_spanned!(span=> .ordered()));
        }
        let launched = names.name("launched");
        let finished = names.name("finished");
        let owns = self.owns();
        let own_names = (0..facts.owned.len()).map(|k| names.own(k));
        let accumulators = self.accumulators();
        let (with, run) = if self.yields { ("yielding", "collect") } else { ("with", "run") };
        let (with, run) = (
            Ident::new(&format!("{with}_{}", facts.owned.len()), span),
            Ident::new(run, self.around()),
        );
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
        let mut order = quote!();
        if let Some(ordered_where) = self.order(&launched) {
            // Behind the body, which may be all that says what the types are.
            order = quote_spanned!(span=> let #launched = #prepared; #ordered_where);
            prepared = launched.to_token_stream();
        }
        quote_spanned! {span=>
            {
                #standard
                match #hidden::start::<#part, _>(#site, #source) #clauses {
                    #launched => {
                        #(#owns)*
                        #(#accumulators)*
                        #order
                        #keep #prepared.#run();
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

    /// What is reduced together, by the number of the first variable: mostly one variable.
    fn reduced_together(&self) -> impl DoubleEndedIterator<Item = (usize, &[Reduction])> {
        let all = &self.facts.reductions;
        let leads = |k: &usize| all[*k].group.first().is_none_or(|first| *first == all[*k].place);
        (0..all.len()).filter(leads).map(|k| (k, &all[k..k + all[k].group.len().max(1)]))
    }

    fn accumulators(&self) -> Vec<TokenStream> {
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

    /// Has partial results joined in order where of several least or greatest values the first counts.
    fn order(&self, launched: &Ident) -> Option<TokenStream> {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let extrema: Vec<Ident> = (0..facts.reductions.len())
            .filter(|k| matches!(facts.reductions[*k].operator, Operator::Min | Operator::Max))
            .map(|k| names.accumulator(k))
            .collect();
        if facts.ordered || extrema.is_empty() {
            return None;
        }
        Some(quote_spanned! {span=>
            let #launched = {
                #[allow(unused_imports)]
                use #hidden::{AnyEquals as _, SameEquals as _};
                #launched.ordered_where(#((&#extrema).differ())||*)
            };
        })
    }

    fn make_locals(&self) -> TokenStream {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
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

    fn make_sums(&self) -> TokenStream {
        let Self { names, .. } = self;
        let span = names.span();
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

    /// The closure that runs a chunk.
    fn chunk_code(&self) -> TokenStream {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let arrays = facts.owned.len();
        let (frame, locals, sums) = (names.name("frame"), names.name("locals"), names.name("sums"));
        let areas: Vec<Ident> = (0..arrays).map(|k| names.area(k)).collect();
        let parts: Vec<Ident> = (0..arrays).map(|k| names.part(k)).collect();
        let (prepare, shortens) = self.prepare(&frame);
        let mutable = shortens.then(|| quote_spanned!(span=> mut));
        let (take, put) = self.state(&locals, &sums);
        let body = self.body(&frame);
        let fill = self.yields.then(|| {
            let fill = names.name("fill");
            quote_spanned!(span=> mut #fill,)
        });
        let (locals, sums) = (
            if facts.clauses.local.is_empty() {
                quote_spanned!(span=> _)
            } else {
                locals.into_token_stream()
            },
            if facts.reductions.is_empty() {
                quote_spanned!(span=> _)
            } else {
                sums.into_token_stream()
            },
        );
        let ways = self.exits.ways.iter().fold(
            quote_spanned!(span=> #hidden::Never),
            |rest, _| quote_spanned!(span=> #hidden::Or<_, #rest>),
        );
        let through = quote_spanned!(span=> #hidden::Ended::<#ways>::Through);
        let run = if self.exits.ways.is_empty() {
            quote_spanned!(span=> #body #put #through)
        } else {
            let (label, ended) = (names.label(), names.name("ended"));
            quote_spanned!(span=> let #ended = #label: { #body #through }; #put #ended)
        };
        // The closure stands where the body stands: for what the compiler has to say of what it captures.
        let around = self.around();
        quote_spanned! {around=>
            |#mutable #frame, #(#areas, #parts,)* #fill #locals, #sums| {
                #take
                #prepare
                #run
            }
        }
    }

    /// What stands before a chunk's loop: the arrays that it reads and owns. True if it shortens the frame.
    fn prepare(&self, frame: &Ident) -> (TokenStream, bool) {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let mut shortens = false;
        let (mut arrays, mut needs, mut pieces) = (quote!(), quote!(), quote!());
        let mut used: Vec<usize> = self.views.iter().copied().collect();
        used.sort_unstable();
        for &k in &used {
            let read: &Read = &facts.reads[k];
            shortens = true;
            let (array, view, text) = (names.array(k), names.view(k), read.place.to_string());
            let (expr, shift) = (&read.array, shift(read.shift.as_ref(), hidden, span));
            arrays.extend(quote_spanned! {span=>
                let #array = {
                    #[allow(unused_imports)]
                    use #hidden::{ReadAny as _, ReadSlice as _};
                    (&#frame.reading(&#expr)).array()
                };
            });
            // What is added to the index need not be a number.
            if let Some(Shift::Plus(by) | Shift::Minus(by)) = &read.shift {
                arrays.extend(quote_spanned! {span=>
                    let #array = {
                        #[allow(unused_imports)]
                        use #hidden::{ByAny as _, ByNumber as _};
                        (&#hidden::By(&#by)).array(#array, &#expr)
                    };
                });
            }
            let at = place_text(syn::spanned::Spanned::span(expr), span);
            needs.extend(quote_spanned!(span=> #array.need(&mut #frame, #text, #shift, #at);));
            pieces.extend(quote_spanned!(span=> let #view = #array.view(&#frame, #shift);));
        }
        for (k, owned) in facts.owned.iter().enumerate() {
            let (area, part, piece) = (names.area(k), names.part(k), names.pieces(k));
            if owned.chunks.is_some() {
                pieces.extend(quote_spanned!(span=> let mut #piece = #area.chunks(#part);));
                continue;
            }
            if owned.certain && facts.clauses.collapse.is_some() {
                // In each row for itself.
                continue;
            }
            if owned.certain {
                shortens = true;
                let at = place_text(syn::spanned::Spanned::span(&owned.array), span);
                needs.extend(quote_spanned!(span=> #frame.need(&#area, #part, #at);));
                pieces
                    .extend(quote_spanned!(span=> let mut #piece = #frame.elements(#area, #part);));
            } else {
                pieces.extend(quote_spanned!(span=> let mut #piece = #area.elements(#part);));
            }
        }
        let settle = shortens.then(|| quote_spanned!(span=> #frame.settle();));
        (quote!(#arrays #needs #settle #pieces), shortens)
    }

    /// Taking a participant's state out of its slots, and putting it back.
    fn state(&self, locals: &Ident, sums: &Ident) -> (TokenStream, TokenStream) {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let (mut take, mut put) = (quote!(), quote!());
        let slots: Vec<Ident> = (0..facts.clauses.local.len()).map(|k| names.slot(k)).collect();
        if !slots.is_empty() {
            let pattern = list(slots.iter().map(ToTokens::to_token_stream), span);
            take.extend(quote_spanned!(span=> let #pattern = #locals;));
        }
        for (slot, local) in slots.iter().zip(&facts.clauses.local) {
            let name = &local.name;
            take.extend(quote_spanned!(span=> #[allow(unused_mut)] let mut #name = #slot.take();));
            put.extend(quote_spanned!(span=> #slot.put(#name);));
        }
        if !facts.reductions.is_empty() {
            let totals = self.reduced_together().map(|(k, _)| names.sum(k).into_token_stream());
            let pattern = list(totals, span);
            take.extend(quote_spanned!(span=> let #pattern = #sums;));
        }
        for (k, group) in self.reduced_together() {
            let total = names.sum(k);
            let variables = group.iter().enumerate().map(|(n, reduction)| {
                if reduction.renamed {
                    names.reduced(k + n).into_token_stream()
                } else {
                    reduction.place.root.to_token_stream()
                }
            });
            let mutable = variables.clone().map(|name| quote_spanned!(span=> mut #name));
            let (pattern, values) = if group.len() > 1 {
                (together_as(mutable, hidden, span), together_as(variables, hidden, span))
            } else {
                (quote!(#(#mutable)*), quote!(#(#variables)*))
            };
            take.extend(quote_spanned!(span=> #[allow(unused_mut)] let #pattern = #total.take();));
            put.extend(quote_spanned!(span=> #total.put(#values);));
        }
        (take, put)
    }

    /// After how many iterations to ask whether the loop has been left; 0: never.
    fn strip(&self) -> Literal {
        Literal::u64_unsuffixed(match (self.facts.leaves, self.facts.heavy) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 16,
        })
    }

    /// The name that the body has for an owned array.
    fn window(&self, k: usize) -> TokenStream {
        let owned = &self.facts.owned[k];
        if owned.place.is_name() {
            owned.place.root.to_token_stream()
        } else {
            self.names.window(k).into_token_stream()
        }
    }

    /// The `for` loops of a nest that is run as one: over rows, and within a row.
    fn nest(&self, frame: &Ident) -> TokenStream {
        let Self { facts, names, hidden, .. } = self;
        let span = names.span();
        let levels = self.levels();
        let Some((innermost, outer)) = levels.split_last() else { return TokenStream::new() };
        let strip = self.strip();
        let (row, index) = (names.name("row"), names.name("index"));
        // Items of a nest of nests are pairs of pairs.
        let outer_pattern = outer
            .iter()
            .map(|level| level.pat.to_token_stream())
            .reduce(|pairs, pat| quote_spanned!(span=> (#pairs, #pat)))
            .unwrap_or_default();
        let outermost = outer[0];
        let (keyword, within) = (outermost.for_token, outermost.in_token);
        let (mut prepare, mut needs, mut pieces) = (quote!(), quote!(), quote!());
        let mut windows = TokenStream::new();
        if let Some((needed, views)) =
            self.along_rows.and_then(|serial| rows::along_row(serial, &row, hidden, span))
        {
            needs.extend(needed);
            pieces.extend(views);
        }
        let number = names.name("number");
        for (k, owned) in facts.owned.iter().enumerate() {
            let (piece, at, name) = (names.pieces(k), names.at(k), self.window(k));
            let position = if owned.chunks.is_some() {
                quote_spanned!(span=> #number)
            } else {
                let base = names.base(k);
                let terms = facts.nest.iter().zip(&owned.coefficients).map(|(name, coefficient)| {
                    quote_spanned!(span=> (#hidden::index_of(&#name), #coefficient))
                });
                prepare.extend(quote_spanned!(span=> let #base = #hidden::along([#(#terms),*]);));
                if owned.certain {
                    let (area, part) = (names.area(k), names.part(k));
                    let place = place_text(syn::spanned::Spanned::span(&owned.array), span);
                    needs.extend(quote_spanned! {span=>
                        #row.need_along(&#area, #part, #base, #place);
                    });
                    pieces.extend(quote_spanned! {span=>
                        let mut #piece = #row.elements_along(#area, #part, #base);
                    });
                }
                quote_spanned!(span=> #base.wrapping_add(#index))
            };
            windows.extend(quote_spanned! {span=>
                #[allow(unused_mut, unused_variables)]
                let mut #name = #piece.window(#position);
                #[allow(unused_variables)]
                let #at = #name.at();
            });
        }
        let numbered = facts.owned.iter().any(|owned| owned.chunks.is_some());
        let elements = facts.owned.iter().any(|owned| owned.chunks.is_none());
        let ExprForLoop { label, for_token, pat, in_token, body, .. } = *innermost;
        let attrs = levels
            .iter()
            .flat_map(|level| &level.attrs)
            .filter(|attribute| mark_of(std::slice::from_ref(*attribute)).is_none());
        let body = self.yielded(body);
        let (pattern, items) = if elements {
            (
                quote_spanned!(span=> (#index, #pat)),
                quote_spanned!(span=> #hidden::indexed_along::<#strip, _>(#row)),
            )
        } else {
            (pat.to_token_stream(), quote_spanned!(span=> #hidden::items::<#strip, _, _>(#row)))
        };
        let shortens = !needs.is_empty();
        let settle = shortens.then(|| quote_spanned!(span=> #row.settle_along();));
        let mutable = shortens.then(|| quote_spanned!(span=> mut));
        let next = names.name("next");
        let (first, count) = if numbered {
            prepare.extend(quote_spanned!(span=> let mut #next = #next;));
            let count = quote_spanned! {span=>
                let #number = #next;
                #next = #number.wrapping_add(1);
            };
            (next.to_token_stream(), count)
        } else {
            (quote_spanned!(span=> _), quote!())
        };
        quote_spanned! {span=>
            #(#attrs)*
            #keyword (#outer_pattern, #first, #mutable #row) #within #frame.rows() {
                #prepare
                #needs
                #settle
                #pieces
                #label #for_token #pattern #in_token #items {
                    #count
                    #windows
                    #body
                }
            }
        }
    }

    /// The `for` loop that holds the body.
    fn body(&self, frame: &Ident) -> TokenStream {
        if self.facts.clauses.collapse.is_some() {
            return self.nest(frame);
        }
        let Self { facts, names, expr, hidden, .. } = self;
        let span = names.span();
        let ExprForLoop { attrs, label, for_token, pat, in_token, body, .. } = expr;
        let attrs =
            attrs.iter().filter(|attribute| mark_of(std::slice::from_ref(*attribute)).is_none());
        let strip = self.strip();
        let indexed = !facts.owned.is_empty();
        let items = if indexed {
            quote_spanned!(span=> #hidden::indexed::<#strip, _, _>(#frame))
        } else {
            quote_spanned!(span=> #hidden::items::<#strip, _, _>(#frame))
        };
        let body = self.yielded(body);
        if !indexed {
            return quote_spanned!(span=> #(#attrs)* #label #for_token #pat #in_token #items { #body });
        }
        let index = names.name("index");
        let windows = (0..facts.owned.len()).map(|k| {
            let (name, piece, at) = (self.window(k), names.pieces(k), names.at(k));
            let of_array = facts.owned[k].rows.then(|| {
                let rows = names.rows(k);
                quote_spanned!(span=> .of_array(&#rows.shape))
            });
            quote_spanned! {span=>
                #[allow(unused_mut, unused_variables)]
                let mut #name = #piece.window(#index)#of_array;
                #[allow(unused_variables)]
                let #at = #name.at();
            }
        });
        quote_spanned! {span=>
            #(#attrs)* #label #for_token (#index, #pat) #in_token #items {
                #(#windows)*
                #body
            }
        }
    }

    /// The body of an iteration: the user's block, or what takes the value that it yields.
    fn yielded(&self, body: &Block) -> TokenStream {
        let Self { names, .. } = self;
        let span = names.span();
        if !self.yields {
            return match body.stmts.as_slice() {
                // The braces of the loop are enough.
                stmts if self.facts.owned.is_empty() => quote_spanned!(span=> #(#stmts)*),
                _ => body.to_token_stream(),
            };
        }
        let (fill, value) = (names.name("fill"), names.name("yielded"));
        // A block of one expression would be said to have braces that it does not need.
        let given = match body.stmts.as_slice() {
            [Stmt::Expr(expr, None)] => expr.to_token_stream(),
            _ => body.to_token_stream(),
        };
        quote_spanned! {span=>
            let #value = #given;
            #fill.push(#value);
        }
    }

    /// Putting the reductions' results into their variables.
    fn results(&self, finished: &Ident) -> TokenStream {
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

    /// Leaving, where an iteration has left.
    fn leave(&self, finished: &Ident) -> TokenStream {
        let Self { names, hidden, ways, .. } = self;
        if ways.is_empty() {
            return quote!();
        }
        let span = names.span();
        let arms = ways.iter().enumerate().map(|(at, way)| {
            let carries = !matches!(way, Expr::Continue(_)) && uses_value(way);
            let inner = if carries {
                let value = Ident::new("value", span);
                quote_spanned!(span=> #hidden::Or::This(#value))
            } else {
                quote_spanned!(span=> #hidden::Or::This(()))
            };
            let pattern = wrap(at, inner, span, hidden);
            quote_spanned!(span=> ::core::option::Option::Some(#pattern) => #way,)
        });
        let never = names.name("never");
        let last = wrap(ways.len(), quote_spanned!(span=> #never), span, hidden);
        quote_spanned! {span=>
            match #finished.left {
                ::core::option::Option::None => {}
                #(#arms)*
                ::core::option::Option::Some(#last) => match #never {},
            }
        }
    }
}

/// Variables that are reduced together, as one value or a pattern: the first is compared, and the others go along.
fn together_as(
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

/// Whether a way out carries a value along.
fn uses_value(way: &Expr) -> bool {
    fn occurs(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(name) => name == "value",
            proc_macro2::TokenTree::Group(group) => occurs(group.stream()),
            _ => false,
        })
    }
    occurs(way.to_token_stream())
}

/// `(a, (b, ()))`
fn list(items: impl DoubleEndedIterator<Item = TokenStream>, span: Span) -> TokenStream {
    items.rev().fold(quote_spanned!(span=> ()), |rest, item| quote_spanned!(span=> (#item, #rest)))
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

/// A distance from the index, as the runtime takes it.
fn shift(shift: Option<&Shift>, hidden: &TokenStream, span: Span) -> TokenStream {
    let number = |name: &Ident| {
        quote_spanned! {span=>
            {
                #[allow(unused_imports)]
                use #hidden::{ByAny as _, ByNumber as _};
                (&#hidden::By(&#name)).number()
            }
        }
    };
    match shift {
        None => quote_spanned!(span=> 0),
        Some(Shift::Number(by)) => {
            let by = Literal::i64_unsuffixed(*by);
            quote_spanned!(span=> #by)
        }
        Some(Shift::Plus(name)) => number(name),
        Some(Shift::Minus(name)) => {
            let number = number(name);
            quote_spanned!(span=> #hidden::Distance::minus(&#number))
        }
    }
}

/// The source: adaptors are applied to it instead of to an iterator.
fn source(expr: &Expr, hidden: &TokenStream, span: Span) -> TokenStream {
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

/// The calls that set the clauses.
fn clauses(clauses: &Clauses, hidden: &TokenStream, span: Span) -> TokenStream {
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
        calls.extend(quote_spanned!(span=> .progress(#listener)));
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
