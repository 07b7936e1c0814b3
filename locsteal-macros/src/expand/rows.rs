//! The code that a serial loop inside of a body becomes, where it goes along arrays.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop};

use super::output::place_text;
use super::rewrite::{Serial, hidden_name};
use crate::valid::rows::{Row, Term};

/// The names of such a loop.
pub(super) struct Names {
    number: usize,
    span: Span,
}

impl Names {
    pub(super) fn new(number: usize, span: Span) -> Self {
        Self { number, span }
    }

    fn name(&self, name: &str, row: usize) -> Ident {
        hidden_name(&format!("inner_{name}"), self.number, row, self.span)
    }

    /// What the body has instead of the array.
    pub(super) fn row(&self, row: usize) -> Ident {
        self.name("row", row)
    }

    /// Where that lies.
    pub(super) fn at(&self, row: usize) -> Ident {
        self.name("at", row)
    }
}

/// How a row comes out of an array that is owned: the window, and where it lies.
pub(super) struct Window {
    pub(super) name: TokenStream,
    pub(super) at: Ident,
}

/// The loop; `rows` are those that its body uses.
pub(super) fn tokens(
    loop_: &ExprForLoop,
    names: &Names,
    rows: &[Row],
    used: &HashSet<usize>,
    windows: &[Option<Window>],
    hidden: &TokenStream,
) -> TokenStream {
    let span = Span::mixed_site().located_at(names.span);
    let ExprForLoop { attrs, label, for_token, pat, in_token, expr, body } = loop_;
    let inner = names.name("loop", 0);
    let mut prepare = quote!();
    let mut narrow = quote!();
    for (k, row) in rows.iter().enumerate().filter(|(k, _)| used.contains(k)) {
        let (shift, name, at) = (names.name("shift", k), names.row(k), names.at(k));
        let sum = sum(&row.terms, windows[k].is_none(), hidden, span);
        prepare.extend(quote_spanned!(span=> let #shift = #sum;));
        match &windows[k] {
            Some(window) => {
                let (window, window_at) = (&window.name, &window.at);
                let field = Ident::new("window", span);
                narrow.extend(quote_spanned! {span=>
                    #[allow(unused_mut)]
                    let mut #name = #inner.narrow(&mut #window.#field[..], #window_at, #shift);
                    let #at = #name.at();
                });
            }
            None => {
                let (array, text) = (names.name("array", k), row.place.to_string());
                let place = place_text(row.array.span(), span);
                let reading = quote_spanned!(span=> #hidden::RowReading::new);
                prepare.extend(array_of(row, &array, &reading, hidden, span));
                narrow.extend(
                    quote_spanned!(span=> let #name = #array.row(&#inner, #shift, #text, #place);),
                );
            }
        }
    }
    // What it needs is computed where the serial loop would compute it: not if there is no iteration.
    quote_spanned! {span=>
        {
            let #inner = #hidden::Inner::new(#expr);
            if !#inner.is_empty() {
                #prepare
                #narrow
                #(#attrs)* #label #for_token #pat #in_token #inner.iterations() #body
            }
        }
    }
}

/// What stands before the innermost loop of a nest that is run as one: the arrays that it reads along the row of this frame. First
/// what is needed of them, and then the views.
pub(super) fn along_row(
    serial: &Serial<'_>,
    frame: &Ident,
    hidden: &TokenStream,
    span: Span,
) -> Option<(TokenStream, TokenStream)> {
    let (mut needs, mut views) = (quote!(), quote!());
    for (k, row) in serial.rows.iter().enumerate().filter(|(k, _)| serial.used.contains(k)) {
        let names = &serial.names;
        let (shift, array, view) = (names.name("shift", k), names.name("array", k), names.row(k));
        let sum = sum(&row.terms, true, hidden, span);
        let (text, place) = (row.place.to_string(), place_text(row.array.span(), span));
        needs.extend(array_of(row, &array, &quote_spanned!(span=> #frame.reading), hidden, span));
        needs.extend(quote_spanned! {span=>
            let #shift = #sum;
            #array.need_along(&mut #frame, #text, #shift, #place);
        });
        views.extend(quote_spanned!(span=> let #view = #array.view_along(&#frame, #shift);));
    }
    (!serial.used.is_empty()).then_some((needs, views))
}

/// The array of a row that is only read, as `reading` gives it.
fn array_of(
    row: &Row,
    array: &Ident,
    reading: &TokenStream,
    hidden: &TokenStream,
    span: Span,
) -> TokenStream {
    let given = &row.array;
    let mut tokens = quote_spanned! {span=>
        let #array = {
            #[allow(unused_imports)]
            use #hidden::{ReadAny as _, ReadSlice as _};
            (&#reading(&#given)).array()
        };
    };
    for term in row.terms.iter().filter(|term| may_be_anything(term)) {
        let by = &term.expr;
        tokens.extend(quote_spanned! {span=>
            let #array = {
                #[allow(unused_imports)]
                use #hidden::{ByAny as _, ByNumber as _};
                (&#hidden::By(&#by)).array(#array, &#given)
            };
        });
    }
    tokens
}

/// The sum of the terms, as a distance. `reads`: of an array that is only read, where terms need not be numbers.
fn sum(terms: &[Term], reads: bool, hidden: &TokenStream, span: Span) -> TokenStream {
    terms.iter().fold(quote_spanned!(span=> 0), |sum, term| {
        let expr = &term.expr;
        let number = if reads && may_be_anything(term) {
            quote_spanned! {span=>
                {
                    #[allow(unused_imports)]
                    use #hidden::{ByAny as _, ByNumber as _};
                    (&#hidden::By(&#expr)).number()
                }
            }
        } else {
            expr.to_token_stream()
        };
        if term.negative {
            quote_spanned!(span=> #hidden::subtract(#sum, #number))
        } else {
            quote_spanned!(span=> #hidden::add(#sum, #number))
        }
    })
}

/// Whether a term may be something that is no number, but can be added to one.
fn may_be_anything(term: &Term) -> bool {
    matches!(&term.expr, Expr::Path(_) | Expr::Field(_))
}
