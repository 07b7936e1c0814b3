//! The clauses of a loop: which of its function's it takes over, and which of them contradict each other.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Block, ExprForLoop};

use super::analysis::Analysis;
use super::macros;
use crate::attr::{Clauses, Reduce};
use crate::report::nearest;

impl Analysis<'_> {
    pub(super) fn clauses_of(&self, mark: usize, expr: &ExprForLoop) -> Clauses {
        let mut clauses = self.marks.clauses[mark].clone();
        let defaults = self.defaults;
        macro_rules! default {
            ($($clause:ident),*) => {$(
                if clauses.$clause.is_none() {
                    clauses.$clause = defaults.$clause.clone();
                }
            )*};
        }
        default!(schedule, locality, grain, threads, pool, name, progress, report, krate);
        // What is owned or reduced is a matter of the loops that name it, the outermost ones.
        if self.active.is_empty() {
            let names = macros::names(expr.body.to_token_stream());
            if clauses.own.is_empty() {
                clauses.own = defaults
                    .own
                    .iter()
                    .filter(|o| names.contains(&o.place.root))
                    .cloned()
                    .collect();
            }
            if clauses.reduce.is_empty() {
                let named = |r: &&Reduce| {
                    names.contains(&r.place.root)
                        || r.group.iter().any(|place| names.contains(&place.root))
                };
                clauses.reduce = defaults.reduce.iter().filter(named).cloned().collect();
                clauses.reproducible =
                    clauses.reproducible.or_else(|| defaults.reproducible.clone());
            }
            if clauses.local.is_empty() {
                clauses.local =
                    defaults.local.iter().filter(|l| names.contains(&l.name)).cloned().collect();
            }
        }
        clauses
    }

    /// Reports what `reduce` and `local` name and the body does not. `given_away`: what macros that cannot be looked into may
    /// name by themselves.
    pub(super) fn report_unused(
        &mut self,
        clauses: &Clauses,
        body: &Block,
        given_away: &HashSet<Ident>,
        index: Option<&Ident>,
    ) {
        let mut names = macros::names(body.to_token_stream());
        names.extend(given_away.iter().cloned());
        // What has the index's name has been reported.
        names.extend(index.cloned());
        // Whatever a file holds, it stands in the body.
        if names.iter().any(|name| name == "include") {
            return;
        }
        for reduce in &clauses.reduce {
            let group = reduce.group.iter().any(|place| names.contains(&place.root));
            if group || names.contains(&reduce.place.root) {
                continue;
            }
            let variables: Vec<String> = names
                .iter()
                .filter(|name| self.cx.find(name).is_some())
                .map(ToString::to_string)
                .collect();
            let place = &reduce.place;
            let what = format_args!("the loop does not use `{place}`");
            let meant = nearest(&place.root.to_string(), variables.iter().map(String::as_str));
            match meant.filter(|_| place.is_name()) {
                Some(meant) => {
                    let help = format_args!("did you mean `{meant}`?");
                    self.report.error(&reduce.expr, what, help);
                }
                None => self.report.error(&reduce.expr, what, "leave it out of `reduce(..)`"),
            }
        }
        for local in clauses.local.iter().filter(|local| !names.contains(&local.name)) {
            self.report.error(
                &local.name,
                format_args!("the loop does not use `{}`", local.name),
                "leave it out of `local(..)`",
            );
        }
    }

    pub(super) fn check_clauses(&mut self, clauses: &Clauses, index: Option<&Ident>) {
        let named = clauses.local.iter().map(|local| ("local", &local.name)).chain(
            clauses.reduce.iter().filter(|r| r.place.is_name()).map(|r| ("reduce", &r.place.root)),
        );
        for (clause, name) in named {
            if Some(name) == index {
                self.report.error(
                    name,
                    format_args!("`{name}` is the loop's index"),
                    format_args!("give what `{clause}` names another name"),
                );
            }
        }
        for local in &clauses.local {
            if let Some(reduce) = clauses.reduce.iter().find(|r| r.place.root == local.name) {
                self.report.error(
                    &local.name,
                    format_args!("`{}` is reduced as well", reduce.place),
                    "a local is thrown away after the loop, a reduction's result is kept: choose one",
                );
            }
            if let Some(own) = clauses.own.iter().find(|o| o.place.root == local.name) {
                self.report.error(
                    &local.name,
                    format_args!("`{}` is owned as well", own.place),
                    "give the local another name",
                );
            }
        }
        for own in &clauses.own {
            if clauses.reduce.iter().any(|r| r.place == own.place) {
                self.report.error(
                    &own.expr,
                    format_args!("`{}` is reduced as well", own.place),
                    "iterations own parts of an array, or accumulate into all of it: choose one",
                );
            }
        }
    }
}
