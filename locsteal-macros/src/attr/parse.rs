//! Reading the clauses.

mod local;
mod own;
mod reduce;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Token, parenthesized, token};

use super::words::list;
use super::{Clause, Clauses, values};
use crate::report::{Report, error, nearest};

/// All clauses, in the order in which they are told to those who misspell one.
const KEYWORDS: [&str; 13] = [
    "schedule", "locality", "grain", "threads", "pool", "own", "reduce", "local", "collapse",
    "name", "progress", "report", "crate",
];

/// Reads what stands between the parentheses. What cannot be read is reported and skipped.
pub(crate) fn clauses(tokens: TokenStream, report: &mut Report) -> Clauses {
    let mut clauses = Clauses::default();
    let parser = |input: ParseStream| {
        while !input.is_empty() {
            if let Err(error) = clause(input, &mut clauses) {
                report.push(error);
                skip_clause(input);
            }
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                report.push(error(
                    next_token(input),
                    "expected `,` between two clauses",
                    "write `#[par_for(schedule = steal, own(y))]`",
                ));
                skip_clause(input);
                let _ = input.parse::<Token![,]>();
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        report.push(error);
    }
    clauses
}

/// The token that comes next, for an error to underline.
fn next_token(input: ParseStream) -> TokenStream {
    input.cursor().token_tree().map(|(token, _)| token.into_token_stream()).unwrap_or_default()
}

/// Moves to the comma that ends a clause.
fn skip_clause(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<proc_macro2::TokenTree>().is_err() {
            return;
        }
    }
}

fn clause(input: ParseStream, clauses: &mut Clauses) -> syn::Result<()> {
    let Ok(keyword) = input.call(Ident::parse_any) else {
        return Err(error(
            next_token(input),
            "expected a clause",
            format_args!("the clauses are {}", list(&KEYWORDS)),
        ));
    };
    match keyword.to_string().as_str() {
        "schedule" => {
            equals(input, &keyword, "schedule = steal")?;
            let value = values::schedule(input)?;
            once(&mut clauses.schedule, &keyword, value)
        }
        "locality" => {
            equals(input, &keyword, "locality = llc")?;
            let value = values::locality(input)?;
            once(&mut clauses.locality, &keyword, value)
        }
        "grain" => {
            equals(input, &keyword, "grain = 64")?;
            let value = count(
                input,
                "grain",
                "a grain is the smallest number of iterations worth handing over",
            )?;
            once(&mut clauses.grain, &keyword, value)
        }
        "threads" => {
            equals(input, &keyword, "threads = 4")?;
            let value = count(
                input,
                "number of threads",
                "to run on the caller alone write `schedule = serial`",
            )?;
            once(&mut clauses.threads, &keyword, value)
        }
        "pool" => {
            equals(input, &keyword, "pool = &pool")?;
            let value = input.parse()?;
            once(&mut clauses.pool, &keyword, value)
        }
        "name" => {
            equals(input, &keyword, "name = \"solver\"")?;
            let value = values::name(input)?;
            once(&mut clauses.name, &keyword, value)
        }
        "progress" => {
            equals(input, &keyword, "progress = |done: u64| ..")?;
            let value = input.parse()?;
            once(&mut clauses.progress, &keyword, value)
        }
        "report" => {
            equals(input, &keyword, "report = &mut stats")?;
            let value = input.parse()?;
            once(&mut clauses.report, &keyword, value)
        }
        "collapse" => {
            equals(input, &keyword, "collapse = 2")?;
            let value = values::depth(input)?;
            once(&mut clauses.collapse, &keyword, value)
        }
        "crate" => {
            equals(input, &keyword, "crate = my_library::locsteal")?;
            let value = input.call(syn::Path::parse_mod_style)?;
            once(&mut clauses.krate, &keyword, value)
        }
        "own" => own::clause(input, &keyword, clauses),
        "reduce" => reduce::clause(input, &keyword, clauses),
        "local" => local::clause(input, &keyword, clauses),
        _ => Err(unknown(&keyword)),
    }
}

/// There is no such clause; what was meant, if it can be guessed.
fn unknown(keyword: &Ident) -> syn::Error {
    let name = keyword.to_string();
    let help = match (name.as_str(), nearest(&name, KEYWORDS)) {
        ("private" | "firstprivate" | "lastprivate", _) => {
            "declare the variable inside of the body, or make it with `local(name = ..)`".to_owned()
        }
        ("shared" | "default", _) => "leave it out: what the body only reads is shared".to_owned(),
        ("reduction", _) => "did you mean `reduce`? as in `reduce(+: sum)`".to_owned(),
        ("num_threads", _) => "did you mean `threads`?".to_owned(),
        ("reproducible", _) => {
            "it says how to reduce: write `reduce(reproducible, +: sum)`".to_owned()
        }
        ("chunk" | "chunk_size", _) => {
            "write `schedule = dynamic(chunk)` or `static(chunk)`".to_owned()
        }
        ("nowait" | "ordered", _) => {
            "a marked loop has ended when the next statement runs".to_owned()
        }
        (_, Some(meant)) => format!("did you mean `{meant}`?"),
        (_, None) => format!("the clauses are {}", list(&KEYWORDS)),
    };
    error(keyword, format_args!("there is no clause `{keyword}`"), help)
}

fn equals(input: ParseStream, keyword: &Ident, example: &str) -> syn::Result<()> {
    let missing = || {
        error(keyword, format_args!("`{keyword}` needs a value"), format_args!("write `{example}`"))
    };
    input.parse::<Token![=]>().map_err(|_| missing())?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(missing());
    }
    Ok(())
}

fn once<T>(slot: &mut Option<Clause<T>>, keyword: &Ident, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(error(
            keyword,
            format_args!("`{keyword}` is given twice"),
            "leave one of the two out",
        ));
    }
    *slot = Some(Clause { value });
    Ok(())
}

/// An expression that counts something.
fn count(input: ParseStream, what: &str, help: &str) -> syn::Result<Expr> {
    let value: Expr = input.parse()?;
    values::positive(&value, what, help)?;
    Ok(value)
}

/// The entries of a clause that has some.
fn entries<T>(
    input: ParseStream,
    keyword: &Ident,
    example: &str,
    entry: fn(ParseStream) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let write = || format!("write `{example}`");
    if !input.peek(token::Paren) {
        return Err(error(
            keyword,
            format_args!("`{keyword}` needs a list in parentheses"),
            write(),
        ));
    }
    let content;
    parenthesized!(content in input);
    if content.is_empty() {
        return Err(error(keyword, format_args!("`{keyword}` names nothing"), write()));
    }
    let entries = Punctuated::<T, Token![,]>::parse_terminated_with(&content, entry);
    if entries.is_err() {
        // What follows a mistake is no mistake by itself.
        content.parse::<TokenStream>()?;
    }
    Ok(entries?.into_iter().collect())
}
