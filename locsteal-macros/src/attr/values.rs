//! The values of the clauses that have one.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Lit, LitInt, LitStr, parenthesized, token};

use super::words::{list, tokens};
use super::{Locality, Schedule};
use crate::report::{error, error_at, nearest};

const SCHEDULES: [&str; 5] = ["auto", "static", "steal", "dynamic", "serial"];
const LOCALITIES: [&str; 3] = ["llc", "node", "flat"];

pub(super) fn schedule(input: ParseStream) -> syn::Result<Schedule> {
    if input.peek(token::Paren) {
        return given(input).map(Schedule::Given);
    }
    let word = word(input, "schedule", &SCHEDULES)?;
    let name = word.to_string();
    let chunk = if input.peek(token::Paren) {
        let content;
        let parens = parenthesized!(content in input);
        if content.is_empty() {
            return Err(error_at(
                parens.span.join(),
                format_args!("`{word}()` lacks the size of its chunks"),
                format_args!("write `schedule = {word}` or `schedule = {word}(64)`"),
            ));
        }
        let chunk: Expr = content.parse()?;
        if !content.is_empty() {
            return Err(error(
                content.parse::<proc_macro2::TokenStream>()?,
                format_args!("`{word}` takes one number"),
                format_args!("write `schedule = {word}(64)`"),
            ));
        }
        positive(&chunk, "chunk", "a chunk has at least one iteration")?;
        Some(chunk)
    } else {
        None
    };
    Ok(match (name.as_str(), chunk) {
        ("auto", None) => Schedule::Auto,
        ("static", None) => Schedule::Static,
        ("static", Some(chunk)) => Schedule::StaticChunk(chunk),
        ("steal", None) => Schedule::Steal,
        ("dynamic", None) => Schedule::Dynamic,
        ("dynamic", Some(chunk)) => Schedule::DynamicChunk(chunk),
        ("serial", None) => Schedule::Serial,
        ("auto" | "steal" | "serial", Some(chunk)) => {
            let help = match name.as_str() {
                "steal" => "the smallest number of iterations worth stealing is `grain = 64`",
                _ => "chunks of a fixed size are those of `static(64)` and `dynamic(64)`",
            };
            return Err(error(
                chunk,
                format_args!("the schedule `{word}` has no chunk size"),
                help,
            ));
        }
        ("guided", _) => {
            return Err(error(
                &word,
                "there is no schedule `guided`",
                "did you mean `dynamic`? its chunks shrink",
            ));
        }
        ("runtime", _) => {
            return Err(error(
                &word,
                "there is no schedule `runtime`",
                "to choose while the program runs write an expression in parentheses: `schedule = (options.schedule)`",
            ));
        }
        _ => return Err(unknown(&word, "schedule", &SCHEDULES)),
    })
}

pub(super) fn locality(input: ParseStream) -> syn::Result<Locality> {
    if input.peek(token::Paren) {
        return given(input).map(Locality::Given);
    }
    let word = word(input, "locality", &LOCALITIES)?;
    Ok(match word.to_string().as_str() {
        "llc" => Locality::Llc,
        "node" => Locality::Node,
        "flat" => Locality::Flat,
        "numa" => {
            return Err(error(&word, "there is no locality `numa`", "did you mean `node`?"));
        }
        "cache" | "l3" => {
            return Err(error(
                &word,
                format_args!("there is no locality `{word}`"),
                "did you mean `llc`?",
            ));
        }
        _ => return Err(unknown(&word, "locality", &LOCALITIES)),
    })
}

fn given(input: ParseStream) -> syn::Result<Expr> {
    let content;
    parenthesized!(content in input);
    content.parse()
}

fn word(input: ParseStream, clause: &str, values: &[&str]) -> syn::Result<Ident> {
    input.call(Ident::parse_any).map_err(|_| {
        let rest: proc_macro2::TokenStream =
            input.cursor().token_tree().map(|(token, _)| token.into()).unwrap_or_default();
        error(
            rest,
            format_args!("`{clause}` takes a word"),
            format_args!("the values are {}, or an expression in parentheses", list(values)),
        )
    })
}

fn unknown(word: &Ident, clause: &str, values: &[&str]) -> syn::Error {
    let help = match nearest(&word.to_string(), values.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the values are {}, or an expression in parentheses", list(values)),
    };
    error(word, format_args!("there is no {clause} `{word}`"), help)
}

/// Refuses a number that can only be a mistake.
pub(super) fn positive(value: &Expr, what: &str, help: &str) -> syn::Result<()> {
    if is_number(value, 0) {
        return Err(error(value, format_args!("a {what} of 0"), help));
    }
    let negative = match value {
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Neg(_)),
        _ => false,
    };
    let other = match value {
        Expr::Lit(lit) => !matches!(lit.lit, Lit::Int(_)),
        _ => false,
    };
    if negative || other {
        return Err(error(value, format_args!("a {what} is a positive integer"), help));
    }
    Ok(())
}

pub(super) fn name(input: ParseStream) -> syn::Result<Expr> {
    let value: Expr = input.parse()?;
    match &value {
        Expr::Lit(lit) if !matches!(lit.lit, Lit::Str(_)) => {
            Err(error(&value, "a loop's name is a string", "write `name = \"solver\"`"))
        }
        Expr::Lit(_) | Expr::Macro(_) | Expr::Group(_) => Ok(value),
        Expr::Path(path) => {
            let constant = path.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                name.chars().all(|c| !c.is_lowercase())
            });
            if constant {
                return Ok(value);
            }
            let literal = LitStr::new(&tokens(&value), proc_macro2::Span::call_site());
            let literal = quote::ToTokens::to_token_stream(&literal);
            Err(error(
                &value,
                "a loop's name is a string that is known when compiling",
                format_args!("write `name = {literal}`"),
            ))
        }
        _ => Err(error(
            &value,
            "a loop's name is a string that is known when compiling",
            "write `name = \"solver\"`",
        )),
    }
}

pub(super) fn depth(input: ParseStream) -> syn::Result<usize> {
    let value: Expr = input.parse()?;
    let number = match &value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => LitInt::base10_parse::<usize>(int).ok(),
            _ => None,
        },
        _ => None,
    };
    match number {
        Some(number @ 2..=8) => Ok(number),
        Some(0 | 1) => Err(error(
            &value,
            "nothing to collapse",
            "`collapse` is the number of nested loops to join: 2 or more, or leave it out",
        )),
        Some(_) => {
            Err(error(&value, "more loops than can be joined", "at most 8 nested loops become one"))
        }
        None => Err(error(
            &value,
            "`collapse` is a number that is known when compiling",
            "write `collapse = 2` for two nested loops",
        )),
    }
}

/// Whether the expression is this number.
fn is_number(expr: &Expr, number: u64) -> bool {
    match expr {
        Expr::Lit(lit) => {
            matches!(&lit.lit, Lit::Int(int) if int.base10_parse::<u64>().is_ok_and(|n| n == number))
        }
        Expr::Paren(paren) => is_number(&paren.expr, number),
        Expr::Group(group) => is_number(&group.expr, number),
        _ => false,
    }
}
