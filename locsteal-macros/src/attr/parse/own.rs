//! Reading `own(..)`.

use proc_macro2::Ident;
use syn::Expr;
use syn::parse::ParseStream;

use super::entries;
use crate::attr::{Clauses, Own, Place, tokens, values};
use crate::report::{error, nearest};

/// Reads `own(..)`.
pub(super) fn clause(
    input: ParseStream,
    keyword: &Ident,
    clauses: &mut Clauses,
) -> syn::Result<()> {
    for entry in entries(input, keyword, "own(y)", entry)? {
        if clauses.own.iter().any(|other| other.place == entry.place) {
            return Err(error(
                &entry.expr,
                format_args!("`{}` is owned twice", entry.place),
                "say once which part of it an iteration owns",
            ));
        }
        let around =
            |other: &&Own| other.place.contains(&entry.place) || entry.place.contains(&other.place);
        if let Some(other) = clauses.own.iter().find(around) {
            let (whole, part) = if entry.place.contains(&other.place) {
                (&entry.place, &other.place)
            } else {
                (&other.place, &entry.place)
            };
            return Err(error(
                &entry.expr,
                format_args!(
                    "`{part}` is a part of `{whole}`, so that iterations would own it twice"
                ),
                "own the arrays whose elements the body writes, and nothing around them",
            ));
        }
        clauses.own.push(entry);
    }
    Ok(())
}

/// One array.
fn entry(input: ParseStream) -> syn::Result<Own> {
    let expr: Expr = input.parse()?;
    let mut rows = false;
    let (array, chunks) = match &expr {
        Expr::MethodCall(call) if call.method == "rows" && call.args.is_empty() => {
            rows = true;
            (&*call.receiver, None)
        }
        Expr::MethodCall(call) if call.method == "chunks" && call.args.len() == 1 => {
            values::positive(&call.args[0], "chunk", "an iteration owns at least one element")?;
            (&*call.receiver, Some(call.args[0].clone()))
        }
        Expr::MethodCall(call) => {
            let help =
                match nearest(&call.method.to_string(), ["chunks", "chunks_mut", "chunks_exact"]) {
                    Some(_) => format!(
                        "write `{}.chunks(m)`: iteration `i` owns the `i`-th `m` elements",
                        tokens(&call.receiver)
                    ),
                    None => {
                        format!("write `own({})` or `own({0}.chunks(m))`", tokens(&call.receiver))
                    }
                };
            return Err(error(
                &call.method,
                format_args!("an iteration cannot own `.{}(..)`", call.method),
                help,
            ));
        }
        Expr::Reference(reference) => {
            let inner = tokens(&reference.expr);
            return Err(error(
                &expr,
                "`own` takes the array itself",
                format_args!("write `own({inner})`"),
            ));
        }
        Expr::Index(index) => {
            let inner = tokens(&index.expr);
            return Err(error(
                &expr,
                "`own` takes a whole array, not a part of it",
                format_args!(
                    "bind the part to a name before the loop, `let part = &mut {};`, or own `{inner}`",
                    tokens(&expr)
                ),
            ));
        }
        _ => (&expr, None),
    };
    match Place::of(array) {
        Some(place) => Ok(Own { expr, place, chunks, rows }),
        None => Err(error(
            array,
            "`own` takes something made of names and fields",
            "bind the array to a name before the loop: `let y = &mut ..;`",
        )),
    }
}
