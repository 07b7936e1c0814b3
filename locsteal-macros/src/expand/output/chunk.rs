//! The closure that runs a chunk.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Block, ExprForLoop, Stmt};

use super::reductions::together_as;
use super::{Output, list, place_text};
use crate::ast::mark_of;
use crate::valid::Read;
use crate::valid::index::Shift;

impl Output<'_> {
    /// The closure that runs a chunk.
    pub(super) fn chunk_code(&self) -> TokenStream {
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
    pub(super) fn strip(&self) -> Literal {
        Literal::u64_unsuffixed(match (self.facts.leaves, self.facts.heavy) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 16,
        })
    }

    /// The name that the body has for an owned array.
    pub(super) fn window(&self, k: usize) -> TokenStream {
        let owned = &self.facts.owned[k];
        if owned.place.is_name() {
            owned.place.root.to_token_stream()
        } else {
            self.names.window(k).into_token_stream()
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
    pub(super) fn yielded(&self, body: &Block) -> TokenStream {
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
