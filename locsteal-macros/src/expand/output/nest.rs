//! The loops of a nest that is run as one.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ExprForLoop;

use super::{Output, place_text};
use crate::ast::mark_of;
use crate::expand::rows;

impl Output<'_> {
    /// The `for` loops of a nest that is run as one: over rows, and within a row.
    pub(super) fn nest(&self, frame: &Ident) -> TokenStream {
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
}
