//! `spawn_near!`: from options and a closure to the call that submits a job.
//!
//! | file | holds |
//! | --- | --- |
//! | `written.rs` | what was written: options in `<..>`, and the rest |
//! | `check.rs` | what is allowed, and every error |
//! | `mod.rs` | what it becomes |

mod check;
mod written;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::manifest::crate_name;
use crate::report::Report;
use check::{Job, Policy};
pub(crate) use written::{Written, WrittenOption};

/// The expansion of `spawn_near!`.
pub(crate) fn spawn_near(input: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let job =
        Written::parse(input, &mut report).and_then(|written| Job::check(written, &mut report));
    match job {
        Some(job) if report.is_empty() => expand(&job),
        // With what could be understood, so that the types around it are right and no further errors are reported.
        Some(job) => {
            let (errors, job) = (report.into_tokens(), expand(&job));
            quote!({ #errors #job })
        }
        None => {
            let errors = report.into_tokens();
            quote!({ #errors ::core::unreachable!() })
        }
    }
}

fn expand(job: &Job) -> TokenStream {
    let Job { closure, name, weight, policy, near, pool, scope } = job;
    let krate = crate_name();
    let name = match name {
        Some(name) => quote!(::core::option::Option::Some(#name)),
        None => quote!(::core::option::Option::None),
    };
    let policy = policy.map(|policy| match policy {
        Policy::Adaptive => quote!(.policy(::#krate::Policy::Adaptive)),
        Policy::Offload => quote!(.policy(::#krate::Policy::Offload)),
        Policy::Inline => quote!(.policy(::#krate::Policy::Inline)),
    });
    // Each option's own place is underlined where its type is wrong.
    let option = |method: &str, value: &Option<syn::Expr>| {
        value.as_ref().map(|value| {
            let method = syn::Ident::new(method, Span::call_site());
            quote_spanned!(value.span()=> .#method(#value))
        })
    };
    let (weight, near, pool) =
        (option("weight", weight), option("near", near), option("pool", pool));
    // What the lint would have in its stead, the function's name, is refused here.
    let closure = quote_spanned!(closure.span()=> #[allow(clippy::redundant_closure)] #closure);
    // The block around the static holds nothing of the user's, who may have the same name.
    let described = quote! {
        ::#krate::job()
            .site({
                static SITE: ::#krate::__private::JobSite = ::#krate::__private::JobSite::new(
                    ::core::file!(),
                    ::core::line!(),
                    ::core::column!(),
                    #name,
                );
                &SITE
            })
            #weight
            #policy
            #near
            #pool
    };
    let span = job.closure.span();
    match scope {
        Some(scope) => quote_spanned!(span=> #described.spawn_in(#scope, #closure)),
        None => {
            let spawn = syn::Ident::new("spawn", span);
            quote! {
                ::#krate::__private::to_borrow_spawn_the_job_in_a_scope!(#described, #spawn, #closure)
            }
        }
    }
}
