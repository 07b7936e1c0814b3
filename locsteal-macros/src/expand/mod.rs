//! What marked loops become.

mod functions;
mod output;
mod rewrite;
mod rows;
mod serial;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Item, Stmt};

use crate::ast::{Marks, Target, is_mark, mark_functions, mark_loop};
use crate::attr::{self, Clauses};
use crate::manifest;
use crate::report::Report;
use functions::Functions;

/// The attribute.
pub(crate) fn par_for(clauses: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let own = attr::clauses(clauses, &mut report);
    let target: Target = match syn::parse2(item.clone()) {
        Ok(target) => target,
        Err(error) => {
            // The compiler reports what it cannot parse by itself, and better.
            report.push(error);
            let errors = report.into_tokens();
            return quote!(#errors #item);
        }
    };
    match target {
        Target::Item(item) => on_item(*item, &own, report),
        Target::Statement(stmt) => on_statement(*stmt, own, report),
    }
}

/// The module that generated code uses.
pub(super) struct Hidden {
    given: Option<syn::Path>,
}

impl Hidden {
    fn new(clauses: &Clauses) -> Self {
        Self { given: clauses.krate.as_ref().map(|clause| clause.value.clone()) }
    }

    /// Its path, for tokens that stand at this place: where tokens of one path stand at different places, the compiler
    /// underlines all that lies between.
    pub(super) fn at(&self, span: Span) -> TokenStream {
        match &self.given {
            Some(path) => quote_spanned!(span=> #path::__private),
            None => {
                let mut name = manifest::crate_name();
                name.set_span(span);
                quote_spanned!(span=> ::#name::__private)
            }
        }
    }
}

fn on_item(mut item: Item, own: &Clauses, mut report: Report) -> TokenStream {
    let mut marks = Marks::default();
    if let Some(second) = second_mark(&item) {
        report.error(second, "this is marked twice", "write all clauses into one `#[par_for(..)]`");
        let errors = report.into_tokens();
        serial::strip(&mut item);
        return quote!(#errors #item);
    }
    let errors = {
        match &item {
            Item::Fn(_) | Item::Impl(_) | Item::Trait(_) => {}
            Item::Mod(module) if module.content.is_some() => {}
            _ => {
                wrong_place(&item, &mut report);
                let errors = report.into_tokens();
                return quote!(#errors #item);
            }
        }
        mark_functions(&mut item, &mut marks, &mut report);
        if marks.clauses.is_empty() {
            match &mut item {
                Item::Fn(function) => {
                    functions::mark_only_loop(function, own, &mut marks, &mut report);
                }
                item => no_marks(item, &mut report),
            }
        }
        let mut expanded = item.clone();
        let readable = report.is_empty();
        let mut functions = Functions {
            marks: &marks,
            defaults: own,
            report: &mut report,
            hidden: Hidden::new(own),
        };
        // Where clauses could not be read, what follows from them is not known.
        if readable {
            functions.expand_item(&mut expanded);
        }
        if report.is_empty() {
            return expanded.into_token_stream();
        }
        report.into_tokens()
    };
    serial::strip(&mut item);
    quote!(#errors #item)
}

/// Another mark of what is marked.
fn second_mark(item: &Item) -> Option<&Attribute> {
    let attributes = match item {
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        _ => return None,
    };
    attributes.iter().find(|attribute| is_mark(attribute))
}

fn wrong_place(item: &Item, report: &mut Report) {
    let (token, what): (TokenStream, &str) = match item {
        Item::Struct(item) => (item.struct_token.to_token_stream(), "a struct"),
        Item::Enum(item) => (item.enum_token.to_token_stream(), "an enum"),
        Item::Union(item) => (item.union_token.to_token_stream(), "a union"),
        Item::Const(item) => (item.const_token.to_token_stream(), "a constant"),
        Item::Static(item) => (item.static_token.to_token_stream(), "a static"),
        Item::Use(item) => (item.use_token.to_token_stream(), "a `use`"),
        Item::Type(item) => (item.type_token.to_token_stream(), "a type alias"),
        Item::Macro(item) => (item.mac.path.to_token_stream(), "a macro"),
        Item::Mod(item) => {
            report.error(
                item.mod_token,
                "the functions of this module stand in another file",
                "put `#[par_for]` on the functions there",
            );
            return;
        }
        Item::Verbatim(tokens) => {
            report.error(
                tokens,
                "this function has no body, so there is no loop",
                "put `#[par_for]` on the functions that implement it, or on a default body",
            );
            return;
        }
        item => (item.to_token_stream(), "this"),
    };
    report.error(
        token,
        format_args!("{what} has no loop"),
        "`#[par_for]` stands on a function, on an `impl` block or module of functions, or on a loop in one of those",
    );
}

fn no_marks(item: &Item, report: &mut Report) {
    let (token, what): (TokenStream, &str) = match item {
        Item::Impl(item) => (item.impl_token.to_token_stream(), "`impl` block"),
        Item::Trait(item) => (item.trait_token.to_token_stream(), "trait"),
        Item::Mod(item) => (item.mod_token.to_token_stream(), "module"),
        item => (item.to_token_stream(), "item"),
    };
    report.error(
        token,
        format_args!("no loop is marked in this {what}"),
        "write `#[par_for]` on each `for` loop that is to run in parallel",
    );
}

/// The attribute stands on a loop itself, which takes features of the compiler that are not stable.
fn on_statement(mut stmt: Stmt, own: Clauses, mut report: Report) -> TokenStream {
    let mut marks = Marks::default();
    match &mut stmt {
        Stmt::Expr(Expr::ForLoop(expr), _) => mark_loop(expr, own.clone(), &mut marks),
        Stmt::Local(local) => match local.init.as_mut().map(|init| &mut *init.expr) {
            Some(Expr::ForLoop(expr)) => mark_loop(expr, own.clone(), &mut marks),
            _ => report.error_at(
                local.span(),
                "this `let` has no loop",
                "mark a `for` loop; one that makes a value for each iteration is `let v: Vec<T> = for i in r { .. };`",
            ),
        },
        Stmt::Expr(Expr::While(expr), _) => only_for(expr.while_token, &mut report),
        Stmt::Expr(Expr::Loop(expr), _) => only_for(expr.loop_token, &mut report),
        other => report.error(other, "this is not a loop", "`#[par_for]` stands on a `for` loop"),
    }
    let mut expanded = stmt.clone();
    let mut functions = Functions {
        marks: &marks,
        defaults: &Clauses::default(),
        report: &mut report,
        hidden: Hidden::new(&own),
    };
    functions.expand_statement(&mut expanded);
    if report.is_empty() {
        return expanded.into_token_stream();
    }
    serial::strip_stmt(&mut stmt);
    let errors = report.into_tokens();
    quote!({ #errors #stmt })
}

fn only_for(token: impl ToTokens, report: &mut Report) {
    report.error(
        token,
        "only a `for` loop can run in parallel",
        "how often a `while` or `loop` runs is not known beforehand: write `for i in 0..n`",
    );
}
