//! The standard library's macros, whose arguments can be looked into.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Pat, Token};

/// The arguments of a macro, as expressions.
pub(crate) struct Arguments {
    pub(crate) exprs: Punctuated<Expr, Token![,]>,
    /// What comes after them: `; n` of `vec!`, the pattern of `matches!`.
    rest: TokenStream,
}

impl Arguments {
    /// Writes the arguments back into the macro.
    pub(crate) fn put_back(self, mac: &mut Macro) {
        let Self { exprs, rest } = self;
        mac.tokens = exprs.into_token_stream();
        mac.tokens.extend(rest);
    }
}

/// The arguments of a macro, if it is one of the standard library's.
pub(crate) fn arguments(mac: &Macro) -> Option<Arguments> {
    let name = standard_name(mac)?;
    let parser = |input: ParseStream| -> syn::Result<Arguments> {
        match name.as_str() {
            "vec" => {
                let mut exprs = Punctuated::new();
                if input.is_empty() {
                    return Ok(Arguments { exprs, rest: TokenStream::new() });
                }
                exprs.push_value(input.parse()?);
                if let Some(semi) = input.parse::<Option<Token![;]>>()? {
                    let count: Expr = input.parse()?;
                    return Ok(Arguments { exprs, rest: quote::quote!(#semi #count) });
                }
                while let Some(comma) = input.parse::<Option<Token![,]>>()? {
                    exprs.push_punct(comma);
                    if input.is_empty() {
                        break;
                    }
                    exprs.push_value(input.parse()?);
                }
                Ok(Arguments { exprs, rest: TokenStream::new() })
            }
            "matches" => {
                let mut exprs = Punctuated::new();
                exprs.push_value(input.parse()?);
                let comma: Token![,] = input.parse()?;
                let ahead = input.fork();
                Pat::parse_multi_with_leading_vert(&ahead)?;
                let rest: TokenStream = input.parse()?;
                Ok(Arguments { exprs, rest: quote::quote!(#comma #rest) })
            }
            _ => Ok(Arguments {
                exprs: Punctuated::parse_terminated(input)?,
                rest: TokenStream::new(),
            }),
        }
    };
    parser.parse2(mac.tokens.clone()).ok()
}

/// All names that occur in tokens.
pub(crate) fn names(tokens: TokenStream) -> HashSet<Ident> {
    let mut names = HashSet::new();
    let mut waiting = vec![tokens];
    while let Some(tokens) = waiting.pop() {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    names.insert(name);
                }
                TokenTree::Group(group) => waiting.push(group.stream()),
                _ => {}
            }
        }
    }
    names
}

/// The name of a macro of the standard library.
fn standard_name(mac: &Macro) -> Option<String> {
    let names: Vec<String> =
        mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let name = match names.as_slice() {
        [name] => name,
        [krate, name] if krate == "std" || krate == "core" || krate == "alloc" => name,
        _ => return None,
    };
    let known = matches!(
        name.as_str(),
        "print"
            | "println"
            | "eprint"
            | "eprintln"
            | "format"
            | "format_args"
            | "write"
            | "writeln"
            | "panic"
            | "assert"
            | "assert_eq"
            | "assert_ne"
            | "debug_assert"
            | "debug_assert_eq"
            | "debug_assert_ne"
            | "unreachable"
            | "todo"
            | "unimplemented"
            | "vec"
            | "matches"
            | "dbg"
    );
    known.then(|| name.clone())
}

/// Whether the first argument is something that is written to.
pub(crate) fn writes_to_first(mac: &Macro) -> bool {
    matches!(standard_name(mac).as_deref(), Some("write" | "writeln"))
}

/// Whether arguments after the first are evaluated only sometimes.
pub(crate) fn is_conditional(mac: &Macro) -> bool {
    standard_name(mac).is_some_and(|name| name.contains("assert"))
}

/// Whether the macro's own panic may end the iteration.
pub(crate) fn may_panic(mac: &Macro) -> bool {
    let name = standard_name(mac);
    name.is_some_and(|name| {
        name.contains("assert")
            || matches!(name.as_str(), "panic" | "unreachable" | "todo" | "unimplemented")
    })
}
