//! Ways out of a loop: what stands in the body instead of a `return` or `?`, and what leaves where the loop stood.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Lifetime, Type, parse_quote_spanned};

use super::{Names, Output};
use crate::expand::Hidden;

/// The ways in which iterations leave a loop, in the order in which they were met.
#[derive(Default)]
pub(in crate::expand) struct Exits {
    pub(super) ways: Vec<Way>,
}

pub(super) struct Way {
    /// What the function does where the loop was launched: the exit again, with the value that was carried out.
    again: Expr,
    /// Those that carry nothing or the same type can be one way.
    key: Option<String>,
}

impl Exits {
    /// The expressions that leave, to stand where the loop stood.
    pub(in crate::expand) fn ways(&self) -> impl Iterator<Item = Expr> {
        self.ways.iter().map(|way| way.again.clone())
    }

    /// What stands in the body instead of an exit.
    pub(in crate::expand) fn leave(
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

impl Output<'_> {
    /// Leaving, where an iteration has left.
    pub(super) fn leave(&self, finished: &Ident) -> TokenStream {
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
