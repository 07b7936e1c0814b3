//! Reading `local(..)`.

use proc_macro2::Ident;
use syn::Token;
use syn::parse::ParseStream;

use super::{entries, next_token};
use crate::attr::{Clauses, Local};
use crate::report::error;

/// Reads `local(..)`.
pub(super) fn clause(
    input: ParseStream,
    keyword: &Ident,
    clauses: &mut Clauses,
) -> syn::Result<()> {
    for entry in entries(input, keyword, "local(buf = Vec::new())", entry)? {
        if clauses.local.iter().any(|other| other.name == entry.name) {
            return Err(error(
                &entry.name,
                format_args!("`{}` is declared twice", entry.name),
                "give each local a name of its own",
            ));
        }
        clauses.local.push(entry);
    }
    Ok(())
}

/// One local.
fn entry(input: ParseStream) -> syn::Result<Local> {
    let _ = input.parse::<Option<Token![mut]>>()?;
    let name: Ident = input.parse().map_err(|_| {
        error(next_token(input), "expected a name", "write `local(buf = Vec::new())`")
    })?;
    let ty = match input.parse::<Option<Token![:]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    if input.parse::<Token![=]>().is_err() {
        return Err(error(
            &name,
            format_args!("`{name}` needs a value to begin with"),
            format_args!("write `local({name} = ..)`: each participant makes itself one"),
        ));
    }
    Ok(Local { name, ty, init: input.parse()? })
}
