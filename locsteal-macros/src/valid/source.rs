//! What a marked loop runs over, as far as that can be seen: where its index stands.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{Expr, Pat};

/// A loop's index: its name in the loop's pattern, and where in the item it stands.
#[derive(Clone)]
pub(crate) struct LoopIndex {
    pub(crate) name: Ident,
    pub(crate) part: Part,
}

/// Where in an item the index stands.
#[derive(Clone)]
pub(crate) enum Part {
    Whole,
    First(Box<Part>),
    Second(Box<Part>),
}

impl Part {
    /// The type that says so, in the module `hidden`.
    pub(crate) fn tokens(&self, hidden: &TokenStream, span: Span) -> TokenStream {
        match self {
            Self::Whole => quote_spanned!(span=> #hidden::Whole),
            Self::First(part) => {
                let part = part.tokens(hidden, span);
                quote_spanned!(span=> #hidden::First<#part>)
            }
            Self::Second(part) => {
                let part = part.tokens(hidden, span);
                quote_spanned!(span=> #hidden::Second<#part>)
            }
        }
    }
}

/// The adaptors of sources, which are looked through to find the index, and which a marked loop applies to the source
/// instead of to an iterator.
pub(crate) const ADAPTORS: [&str; 8] =
    ["enumerate", "zip", "rev", "step_by", "skip", "take", "copied", "cloned"];

/// Finds the index of `for pat in over`.
pub(crate) fn index(pat: &Pat, over: &Expr) -> Option<LoopIndex> {
    let (name, part) = find(pat, over, true)?;
    Some(LoopIndex { name, part })
}

/// `trusting`: where nothing says what the items are, a name alone is taken for an index. That can only turn out wrong
/// when the types are known, and then it is an error or has no effect.
fn find(pat: &Pat, over: &Expr, trusting: bool) -> Option<(Ident, Part)> {
    match over {
        Expr::Paren(paren) => find(pat, &paren.expr, trusting),
        Expr::Group(group) => find(pat, &group.expr, trusting),
        Expr::Range(_) => name(pat).map(|name| (name, Part::Whole)),
        Expr::MethodCall(call) if ADAPTORS.iter().any(|adaptor| call.method == adaptor) => {
            match call.method.to_string().as_str() {
                "enumerate" => {
                    let (first, second) = pair(pat)?;
                    name(first).map(|name| (name, Part::First(Box::new(Part::Whole)))).or_else(
                        || {
                            let (name, part) = find(second, &call.receiver, false)?;
                            Some((name, Part::Second(Box::new(part))))
                        },
                    )
                }
                "zip" => {
                    let (first, second) = pair(pat)?;
                    let in_first = || {
                        let (name, part) = find(first, &call.receiver, false)?;
                        Some((name, Part::First(Box::new(part))))
                    };
                    let in_second = || {
                        let (name, part) = find(second, call.args.first()?, false)?;
                        Some((name, Part::Second(Box::new(part))))
                    };
                    in_first().or_else(in_second)
                }
                "copied" | "cloned" => None,
                _ => find(pat, &call.receiver, trusting),
            }
        }
        _ if trusting => name(pat).map(|name| (name, Part::Whole)),
        _ => None,
    }
}

/// The name that a pattern is.
pub(crate) fn name(pat: &Pat) -> Option<Ident> {
    match pat {
        Pat::Ident(pat)
            if pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none() =>
        {
            Some(pat.ident.clone())
        }
        Pat::Paren(pat) => name(&pat.pat),
        _ => None,
    }
}

/// The name of a pattern that would be an index if it were not `mut`.
pub(crate) fn mutable_index(pat: &Pat) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) if pat.mutability.is_some() => Some(pat.ident.clone()),
        _ => None,
    }
}

/// All names that a pattern binds.
pub(crate) fn names(pat: &Pat) -> Vec<Ident> {
    struct Names(Vec<Ident>);

    impl<'a> syn::visit::Visit<'a> for Names {
        fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
            self.0.push(pat.ident.clone());
            syn::visit::visit_pat_ident(self, pat);
        }
    }

    let mut names = Names(Vec::new());
    syn::visit::Visit::visit_pat(&mut names, pat);
    names.0
}

fn pair(pat: &Pat) -> Option<(&Pat, &Pat)> {
    match pat {
        Pat::Tuple(tuple) if tuple.elems.len() == 2 => Some((&tuple.elems[0], &tuple.elems[1])),
        Pat::Paren(pat) => pair(&pat.pat),
        _ => None,
    }
}
