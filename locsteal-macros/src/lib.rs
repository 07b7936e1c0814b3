//! The procedural macros of [`locsteal`](https://docs.rs/locsteal): use them through that crate.
//!
//! A marked loop goes through four layers: `ast` finds out what was written, `attr` reads the clauses, `valid`
//! knows the rules of the language and holds every error, `expand` writes what the loop becomes.

mod ast;
mod attr;
mod expand;
mod manifest;
mod report;
mod spawn_near;
mod valid;

use proc_macro::TokenStream;

/// Runs the marked loops of a function in parallel.
#[proc_macro_attribute]
pub fn par_for(clauses: TokenStream, item: TokenStream) -> TokenStream {
    expand::par_for(clauses.into(), item.into()).into()
}

/// Submits a job to a worker near to the calling thread.
#[proc_macro]
pub fn spawn_near(input: TokenStream) -> TokenStream {
    spawn_near::spawn_near(input.into()).into()
}
