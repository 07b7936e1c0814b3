//! What `spawn_near!` allows, and every error.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{Expr, ExprClosure, Ident, LitStr, Token};

use super::written::{Written, WrittenOption};
use crate::report::{self, Report};

/// A job as it is to be submitted.
pub(super) struct Job {
    pub(super) closure: ExprClosure,
    pub(super) name: Option<LitStr>,
    pub(super) weight: Option<Expr>,
    pub(super) policy: Option<Policy>,
    pub(super) near: Option<Expr>,
    pub(super) pool: Option<Expr>,
    pub(super) scope: Option<Expr>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    Adaptive,
    Offload,
    Inline,
}

const OPTIONS: [&str; 6] = ["weight", "policy", "near", "pool", "scope", "name"];
const POLICIES: [(&str, Policy); 3] =
    [("adaptive", Policy::Adaptive), ("offload", Policy::Offload), ("inline", Policy::Inline)];

/// The values of the options, by key.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    policy: Option<Policy>,
    /// Those that are expressions.
    others: Vec<(Ident, Expr)>,
}

impl Job {
    pub(super) fn check(written: Written, report: &mut Report) -> Option<Self> {
        let mut options = Options::default();
        let mut seen: Vec<Ident> = Vec::new();
        let mut is_readable = true;
        for option in written.options {
            if seen.contains(&option.key) {
                report.error(
                    &option.key,
                    format_args!("`{}` is given twice", option.key),
                    "keep one of the two",
                );
                continue;
            }
            seen.push(option.key.clone());
            is_readable &= options.add(option, report);
        }
        if !is_readable {
            // What follows may be the end of the option that could not be read.
            return None;
        }
        if options.policy == Some(Policy::Inline)
            && let Some(near) = seen.iter().find(|key| *key == "near")
        {
            report.error(
                near,
                "an inline job runs in the thread that submits it, so `near` has no effect",
                "leave out `near`, or the policy",
            );
        }
        let closure = closure(written.rest, report);
        let mut expression = |key: &str| {
            let index = options.others.iter().position(|(other, _)| other == key)?;
            Some(options.others.swap_remove(index).1)
        };
        let (weight, near) = (expression("weight"), expression("near"));
        let (pool, scope) = (expression("pool"), expression("scope"));
        let Options { name, policy, .. } = options;
        Some(Self { closure: closure?, name, weight, policy, near, pool, scope })
    }
}

impl Options {
    /// False if the value cannot be read as what it should be.
    fn add(&mut self, option: WrittenOption, report: &mut Report) -> bool {
        let WrittenOption { key, value } = option;
        let word = key.to_string();
        if !OPTIONS.contains(&word.as_str()) {
            let what = format_args!("`spawn_near!` has no option `{word}`");
            match report::nearest(&word, OPTIONS) {
                Some(meant) => report.error(&key, what, format_args!("did you mean `{meant}`?")),
                None => report.error(
                    &key,
                    what,
                    "its options are `weight`, `policy`, `near`, `pool`, `scope` and `name`",
                ),
            }
            return true;
        }
        if value.is_empty() {
            report.error(&key, format_args!("`{word}` has no value"), example(&word));
            return true;
        }
        match word.as_str() {
            "name" => match syn::parse2(value.clone()) {
                Ok(name) => self.name = Some(name),
                Err(_) => report.error(
                    value,
                    "a job's name is a string literal, since it names the place in the source",
                    example("name"),
                ),
            },
            "policy" => match policy(&value) {
                Some(policy) => self.policy = Some(policy),
                None => report.error(
                    value,
                    "this is no policy",
                    "write `policy = adaptive`, `policy = offload` or `policy = inline`",
                ),
            },
            _ => match syn::parse2(value.clone()) {
                Ok(expression) => self.others.push((key, expression)),
                Err(_) => {
                    let help = "a comparison, or a closure's body, must stand in parentheses";
                    report.error(
                        value,
                        format_args!("the value of `{word}` is not an expression"),
                        format_args!("{}; {help}", example(&word)),
                    );
                    return false;
                }
            },
        }
        true
    }
}

fn policy(value: &TokenStream) -> Option<Policy> {
    let word: Ident = syn::parse2(value.clone()).ok()?;
    POLICIES.iter().find(|(name, _)| word == name).map(|&(_, policy)| policy)
}

/// How to write an option.
fn example(option: &str) -> &'static str {
    match option {
        "weight" => "write a `usize`, as in `weight = keys.len()`",
        "policy" => "write `policy = adaptive`, `policy = offload` or `policy = inline`",
        "near" => "write a place, as in `near = Near::of(cpu)`",
        "pool" => "write a reference to a pool, as in `pool = &pool`",
        "scope" => {
            "write the scope, as in `locsteal::scope(|s| { spawn_near!(<scope = s> || ..); })`"
        }
        _ => "write it as in `name = \"index\"`",
    }
}

/// The closure, which is all that may follow the options.
fn closure(rest: TokenStream, report: &mut Report) -> Option<ExprClosure> {
    const HELP: &str = "write the work as a closure, as in `spawn_near!(move || work())`";
    if rest.is_empty() {
        let here = proc_macro2::Span::call_site();
        report.error_at(here, "`spawn_near!` needs a closure", HELP);
        return None;
    }
    let one = |input: ParseStream<'_>| {
        let expression: Expr = input.parse()?;
        let comma = input.parse::<Option<Token![,]>>()?;
        let after: TokenStream = input.parse()?;
        Ok((expression, comma, after))
    };
    let (expression, comma, after) = match one.parse2(rest.clone()) {
        Ok(parts) => parts,
        Err(error) => {
            let what =
                format_args!("`spawn_near!` needs a closure here, and this is none: {error}");
            let help = format!("{HELP}; a comparison in an option must stand in parentheses");
            report.push(report::error_at(error.span(), what, help));
            return None;
        }
    };
    if !after.is_empty() {
        let help =
            "options stand in front of the closure: `spawn_near!(<weight = n> move || work())`";
        let what = match comma {
            Some(_) => "`spawn_near!` takes one closure, and nothing after it",
            None => "the closure does not end here",
        };
        report.error(after, what, help);
        return None;
    }
    let work = match expression {
        Expr::Closure(work) => work,
        other => {
            not_a_closure(&other, report);
            return None;
        }
    };
    let mut is_job = true;
    if let Some(first) = work.inputs.first() {
        is_job = false;
        report.error(
            &work.inputs,
            "the closure of a job takes no parameters",
            format_args!(
                "let it capture what it needs: `move || ..`, with `{}` defined before",
                first.to_token_stream()
            ),
        );
    }
    if let Some(asyncness) = &work.asyncness {
        is_job = false;
        report.error(
            asyncness,
            "a job is not async: a worker runs it from its beginning to its end",
            "leave out `async`, or spawn this on an async executor; the job's handle itself can be awaited",
        );
    }
    let mut awaits = Awaits { report, any: false };
    awaits.visit_expr(&work.body);
    is_job &= !awaits.any;
    is_job.then_some(work)
}

fn not_a_closure(expression: &Expr, report: &mut Report) {
    match expression {
        Expr::Block(_) => report.error(
            expression,
            "this is a block, and `spawn_near!` needs a closure",
            "write `move ||` in front of it",
        ),
        Expr::Async(_) => report.error(
            expression,
            "this is an async block, and a job is a closure that a worker runs to its end",
            "write `move || ..`, or spawn this on an async executor",
        ),
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Macro(_) => report.error(
            expression,
            "this would run here and now, and its value be spawned: `spawn_near!` needs a closure",
            format_args!("write `move || {}`", expression.to_token_stream()),
        ),
        Expr::Path(path) => report.error(
            path,
            "`spawn_near!` needs a closure that is written here, so that the place is known",
            format_args!("write `move || {}()`", path.to_token_stream()),
        ),
        _ => report.error(
            expression,
            "this is not a closure",
            "write the work as a closure, as in `spawn_near!(move || work())`",
        ),
    }
}

/// Finds `.await` in a job, outside of async blocks.
struct Awaits<'a> {
    report: &'a mut Report,
    any: bool,
}

impl<'ast> Visit<'ast> for Awaits<'_> {
    fn visit_expr_await(&mut self, node: &'ast syn::ExprAwait) {
        self.any = true;
        self.report.error(
            node.await_token,
            "a job cannot await: a worker runs it from its beginning to its end",
            "await before spawning it, or spawn this on an async executor and a job from there",
        );
        visit::visit_expr_await(self, node);
    }

    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}

    fn visit_expr_closure(&mut self, node: &'ast ExprClosure) {
        if node.asyncness.is_none() {
            visit::visit_expr_closure(self, node);
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
