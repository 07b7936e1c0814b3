//! The standard library's macros, whose arguments can be looked into, and `spawn_near!` where it holds a marked loop.
//!
//! A macro of a user may have the name of one of these. Where it is defined in the function, it is taken for what it is;
//! where it is defined elsewhere or imported, the generated code makes the compiler say that the name is ambiguous
//! ([`check`]).

use std::collections::HashSet;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Macro, Pat, Token};

use super::cx::Cx;
use crate::ast::Job;
use crate::spawn_near::WrittenOption;

/// The arguments of a macro, as expressions.
pub(crate) struct Arguments {
    pub(crate) exprs: Punctuated<Expr, Token![,]>,
    /// `vec![_; n]`
    pub(crate) count: Option<(Token![;], Expr)>,
    /// `matches!(_, pattern if guard)`
    pub(crate) case: Option<Case>,
    /// `spawn_near!(<..> ..)`: its options, whose values are among the expressions unless they are kept here. The closure is
    /// the last expression.
    options: Option<Vec<(Ident, Option<TokenStream>)>>,
}

/// What `matches!` compares with.
pub(crate) struct Case {
    comma: Token![,],
    pub(crate) pat: Pat,
    pub(crate) guard: Option<(Token![if], Expr)>,
    rest: TokenStream,
}

impl Arguments {
    /// Writes the arguments back into the macro.
    pub(crate) fn put_back(self, mac: &mut Macro) {
        let Self { exprs, count, case, options } = self;
        if let Some(options) = options {
            let mut exprs = exprs.into_iter();
            let mut written = Vec::new();
            for (key, kept) in options {
                let value = kept.or_else(|| Some(exprs.next()?.into_token_stream()));
                written.push(WrittenOption { key, value: value.unwrap_or_default() });
            }
            if let Some(closure) = exprs.next() {
                Job { options: written, closure }.put_back(mac);
            }
            return;
        }
        mac.tokens = exprs.into_token_stream();
        if let Some((semi, count)) = count {
            mac.tokens.extend(quote!(#semi #count));
        }
        if let Some(Case { comma, pat, guard, rest }) = case {
            mac.tokens.extend(quote!(#comma #pat));
            if let Some((keyword, guard)) = guard {
                mac.tokens.extend(quote!(#keyword #guard));
            }
            mac.tokens.extend(rest);
        }
    }
}

/// The arguments of a macro, if it is one of the standard library's.
pub(crate) fn arguments(mac: &Macro, cx: &Cx) -> Option<Arguments> {
    if let Some(job) = Job::with_marks(mac) {
        return of_job(job);
    }
    let name = standard_name(mac)?;
    if mac.path.segments.len() == 1 && cx.defines_macro(&name) {
        return None;
    }
    let parser = |input: ParseStream| -> syn::Result<Arguments> {
        let mut exprs = Punctuated::new();
        match name.as_str() {
            "vec" => {
                if input.is_empty() {
                    return Ok(Arguments { exprs, count: None, case: None, options: None });
                }
                exprs.push_value(input.parse()?);
                if let Some(semi) = input.parse::<Option<Token![;]>>()? {
                    let count = Some((semi, input.parse()?));
                    return Ok(Arguments { exprs, count, case: None, options: None });
                }
                while let Some(comma) = input.parse::<Option<Token![,]>>()? {
                    exprs.push_punct(comma);
                    if input.is_empty() {
                        break;
                    }
                    exprs.push_value(input.parse()?);
                }
            }
            "matches" => {
                exprs.push_value(input.parse()?);
                let comma: Token![,] = input.parse()?;
                let mut pat = Pat::parse_multi_with_leading_vert(input)?;
                let mut guard = match input.parse::<Option<Token![if]>>()? {
                    Some(keyword) => Some((keyword, input.parse()?)),
                    None => None,
                };
                if let Pat::Guard(guarded) = pat {
                    guard = Some((guarded.if_token, *guarded.guard));
                    pat = *guarded.pat;
                }
                let rest: TokenStream = input.parse()?;
                let case = Some(Case { comma, pat, guard, rest });
                return Ok(Arguments { exprs, count: None, case, options: None });
            }
            _ => exprs = Punctuated::parse_terminated(input)?,
        }
        Ok(Arguments { exprs, count: None, case: None, options: None })
    };
    parser.parse2(mac.tokens.clone()).ok()
}

/// The values of a job's options, and its closure.
fn of_job(job: Job) -> Option<Arguments> {
    let mut exprs = Punctuated::new();
    let mut options = Vec::new();
    for WrittenOption { key, value } in job.options {
        // These are words, and no expressions of the user's.
        if key == "policy" || key == "name" {
            options.push((key, Some(value)));
        } else {
            exprs.push(syn::parse2(value).ok()?);
            options.push((key, None));
        }
    }
    exprs.push(job.closure);
    Some(Arguments { exprs, count: None, case: None, options: Some(options) })
}

/// The names that the macro's format string captures: `sum` in `"{sum:>width$}"`, and `width`.
pub(crate) fn captures(mac: &Macro, arguments: &Arguments) -> Vec<Ident> {
    let at = match standard_name(mac).as_deref() {
        Some("write" | "writeln" | "assert" | "debug_assert") => 1,
        Some("assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne") => 2,
        Some("vec" | "matches" | "dbg") | None => return Vec::new(),
        Some(_) => 0,
    };
    let Some(Expr::Lit(format)) = arguments.exprs.iter().nth(at) else { return Vec::new() };
    let Lit::Str(format) = &format.lit else { return Vec::new() };
    let named: HashSet<String> = arguments
        .exprs
        .iter()
        .filter_map(|argument| match argument {
            Expr::Assign(named) => Some(named.left.to_token_stream().to_string()),
            _ => None,
        })
        .collect();
    let names = captured(&format.value()).into_iter().filter(|name| !named.contains(name));
    names.map(|name| Ident::new(&name, format.span())).collect()
}

/// The names that a format string captures, if it is one.
fn captured(format: &str) -> Vec<String> {
    let mut names = Vec::new();
    let format = format.replace("{{", "").replace("}}", "");
    for piece in format.split('{').skip(1) {
        let piece = piece.split('}').next().unwrap_or_default();
        let (argument, spec) = piece.split_once(':').unwrap_or((piece, ""));
        names.push(argument.trim());
        // Before a `$` stands what gives a width or a precision.
        let mut before_dollar: Vec<&str> = spec.split('$').collect();
        before_dollar.pop();
        for text in before_dollar {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let begin =
                text.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map(|(k, _)| k);
            if let Some(begin) = begin {
                let word = &text[begin..];
                names.push(word.trim_start_matches(|c: char| c.is_ascii_digit()));
            }
        }
    }
    let is_name =
        |name: &&str| *name != "_" && syn::parse_str::<Ident>(name).is_ok() && *name != "self";
    names.into_iter().filter(is_name).map(str::to_owned).collect()
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
                TokenTree::Literal(literal) => names.extend(names_in(&literal)),
                TokenTree::Punct(_) => {}
            }
        }
    }
    names
}

/// The names that a literal captures, if it is a format string.
fn names_in(literal: &Literal) -> Vec<Ident> {
    match Lit::new(literal.clone()) {
        Lit::Str(text) if text.value().contains('{') => {
            captured(&text.value()).iter().map(|name| Ident::new(name, literal.span())).collect()
        }
        _ => Vec::new(),
    }
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

/// How many of the arguments are certain to be evaluated.
pub(crate) fn certain_arguments(mac: &Macro) -> usize {
    match standard_name(mac).as_deref() {
        Some("assert") => 1,
        Some("assert_eq" | "assert_ne") => 2,
        // With optimisation nothing of it is left.
        Some("debug_assert" | "debug_assert_eq" | "debug_assert_ne") => 0,
        _ => usize::MAX,
    }
}

/// A macro of the standard library that is named as users may name their own: to be looked at by [`check`].
pub(crate) fn checkable(mac: &Macro) -> Option<Ident> {
    let name = standard_name(mac)?;
    // Those that are widely replaced by others that mean the same, and one that is another in crates without `std`.
    let replaced = matches!(name.as_str(), "assert_eq" | "assert_ne" | "panic");
    (mac.path.segments.len() == 1 && !replaced).then(|| mac.path.segments[0].ident.clone())
}

/// An item that does nothing, and that the compiler refuses where a name means another macro than the standard library's.
pub(crate) fn check(names: &[Ident], hidden: &TokenStream, span: Span) -> TokenStream {
    if names.is_empty() {
        return TokenStream::new();
    }
    let uses = names.iter().enumerate().map(|(k, name)| {
        let checked = Ident::new(&format!("checked_{k}"), span);
        quote_spanned!(span=> use #name as #checked;)
    });
    quote_spanned! {span=>
        #[allow(unused_imports, clippy::wildcard_imports)]
        const _: () = {
            use #hidden::standard::*;
            #(#uses)*
        };
    }
}

/// Whether the macro shows or hands on what it is given.
pub(crate) fn shows(mac: &Macro) -> bool {
    standard_name(mac).is_some_and(|name| !matches!(name.as_str(), "matches" | "vec"))
}

/// Whether the macro's own panic may end the iteration.
pub(crate) fn may_panic(mac: &Macro) -> bool {
    let name = standard_name(mac);
    name.is_some_and(|name| {
        name.contains("assert")
            || matches!(name.as_str(), "panic" | "unreachable" | "todo" | "unimplemented")
    })
}
