//! Uses of a reduced variable that are refused, and what to write instead.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Macro};

use crate::attr::{Operator, Place, tokens};
use crate::valid::analysis::Analysis;
use crate::valid::events::Usage;
use crate::valid::walk::Mode;
use crate::valid::{Reduction, macros};

/// Methods that change what they are called on, and answer with something of what was there before.
const TELLING: [&str; 11] = [
    "insert",
    "remove",
    "replace",
    "take",
    "pop",
    "pop_first",
    "pop_last",
    "pop_front",
    "pop_back",
    "swap_remove",
    "extract_if",
];

impl Analysis<'_> {
    /// A reduced variable is used in another way than to accumulate into it.
    pub(in crate::valid) fn report_read_reduction(
        &mut self,
        place: &Place,
        written: &Expr,
        usage: &Usage,
    ) {
        let Some(reduction) = self
            .active
            .last()
            .and_then(|active| active.reductions.iter().find(|r| r.place.contains(place)))
            .cloned()
        else {
            return;
        };
        if reduction.operator == Operator::Combine {
            let name = &reduction.place;
            let (Usage::Whole(mode) | Usage::Index { mode, .. }) = usage else { return };
            if let Mode::Method { name: method, dropped: false, .. } = mode
                && TELLING.contains(&method.to_string().as_str())
            {
                self.report.error(
                    method,
                    format_args!(
                        "what `{method}` answers is about the part of `{name}` that one participant has, and differs from run to run"
                    ),
                    format_args!("do not use the value of `{method}(..)`, or read `{name}` after the loop"),
                );
            }
            return;
        }
        let name = &reduction.place;
        let how = accumulations(&reduction, &name.to_string());
        self.report.error(
            written,
            format_args!("`{name}` has no value before the loop has ended: each participant accumulates for itself"),
            format_args!("in the body only accumulate into it, {how}, and read it after the loop"),
        );
    }

    /// Something is used as a whole, a part of which the innermost marked loop reduces. True if it has been reported.
    pub(in crate::valid) fn report_around_reduction(
        &mut self,
        whole: &Place,
        written: &Expr,
    ) -> bool {
        let Some(active) = self.active.last() else { return false };
        let is_part = |r: &&Reduction| whole.contains(&r.place) && *whole != r.place;
        let Some(part) = active.reductions.iter().find(is_part).map(|r| r.place.clone()) else {
            return false;
        };
        self.report.error(
            written,
            format_args!("`{whole}` cannot be used as a whole, since iterations accumulate into `{part}`, which has no value before the loop has ended"),
            format_args!(
                "name the fields that the body needs, such as `{whole}.other`, or compute what it needs before the loop"
            ),
        );
        true
    }

    /// A macro that cannot be looked into is given these names.
    pub(in crate::valid) fn report_given_away(&mut self, mac: &Macro, names: &HashSet<Ident>) {
        let depth = self.cx.depth();
        let Some(active) = self.active.last() else { return };
        let given = |r: &&Reduction| {
            let root = &r.place.root;
            let in_arguments = macros::names(mac.tokens.clone()).contains(root);
            names.contains(root)
                && self.cx.is_captured(root, depth)
                && (!in_arguments || mentions(&mac.tokens, &r.place))
        };
        // Whatever a file holds, it stands in the body.
        let includes = mac.path.segments.last().is_some_and(|last| last.ident == "include");
        let mut reductions = active.reductions.iter();
        let found = if includes { reductions.next() } else { reductions.find(given) };
        let Some(reduction) = found else { return };
        let name = reduction.place.clone();
        let how = accumulations(reduction, &name.to_string());
        let path = tokens(&mac.path);
        self.report.error(
            &mac.path,
            format_args!("what `{path}!` does with `{name}` cannot be seen, and `{name}` has no value before the loop has ended"),
            format_args!("accumulate in the body itself, {how}, and give the macro other values"),
        );
    }

    /// A marked loop inside of the innermost one reduces this as well.
    pub(in crate::valid) fn report_reduced_again(&mut self, inner: &Reduction) {
        let Some(active) = self.active.last() else { return };
        let Some(outer) = active.reductions.iter().find(|r| r.place.contains(&inner.place)) else {
            return;
        };
        let (operator, name) = (outer.operator, outer.place.clone());
        let alike = operator == inner.operator && outer.group == inner.group;
        let written = match outer.group.as_slice() {
            [] => name.to_string(),
            group => {
                let names: Vec<String> = group.iter().map(ToString::to_string).collect();
                format!("({})", names.join(", "))
            }
        };
        if !alike && self.cx.is_captured(&name.root, self.cx.depth()) {
            self.report.error(
                &inner.variable,
                format_args!("the loop around this one reduces `{name}` in another way"),
                format_args!(
                    "give both loops the same operator, `reduce({}: {written})`",
                    operator.written()
                ),
            );
        }
    }

    pub(in crate::valid) fn report_operator(
        &mut self,
        at: &impl ToTokens,
        reduction: &Reduction,
        target: &Expr,
    ) {
        let name = tokens(target);
        self.report.error(
            at,
            format_args!(
                "`{name}` is reduced with `{}`, and this does something else with it",
                reduction.operator.written()
            ),
            format_args!(
                "accumulate {}, or change the operator in `reduce(..)`",
                accumulations(reduction, &name)
            ),
        );
    }
}

/// How one accumulates with an operator, in words.
pub(in crate::valid) fn accumulations(reduction: &Reduction, name: &str) -> String {
    let operator = reduction.operator;
    if let [value, along @ ..] = reduction.group.as_slice() {
        let better = if operator == Operator::Max { ">" } else { "<" };
        let along: String = along.iter().map(|place| format!(" {place} = ..;")).collect();
        return format!("as in `if x {better} {value} {{ {value} = x;{along} }}`");
    }
    match operator {
        Operator::Add => format!("as in `{name} += ..`"),
        Operator::Mul => format!("as in `{name} *= ..`"),
        Operator::BitAnd => format!("as in `{name} &= ..`"),
        Operator::BitOr => format!("as in `{name} |= ..`"),
        Operator::BitXor => format!("as in `{name} ^= ..`"),
        Operator::And => format!("as in `{name} &= ..` or `{name} = {name} && ..`"),
        Operator::Or => format!("as in `{name} |= ..` or `{name} = {name} || ..`"),
        Operator::Min => {
            format!("as in `{name} = {name}.min(..)` or `if x < {name} {{ {name} = x; }}`")
        }
        Operator::Max => {
            format!("as in `{name} = {name}.max(..)` or `if x > {name} {{ {name} = x; }}`")
        }
        Operator::Combine => "with the methods of its type".to_owned(),
    }
}

/// Whether tokens name the place, something around it or a part of it: `self.sum` is not mentioned by `self.other`.
pub(in crate::valid) fn mentions(tokens: &TokenStream, place: &Place) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    trees.iter().enumerate().any(|(k, tree)| match tree {
        TokenTree::Group(group) => mentions(&group.stream(), place),
        TokenTree::Ident(name) if *name == place.root => {
            let mut rest = trees[k + 1..].chunks(2);
            place.fields.iter().all(|field| match rest.next() {
                Some([TokenTree::Punct(dot), next]) if dot.as_char() == '.' => {
                    next.to_string() == field.to_token_stream().to_string()
                }
                _ => true,
            })
        }
        TokenTree::Literal(literal) => {
            macros::names(TokenTree::from(literal.clone()).into()).contains(&place.root)
        }
        _ => false,
    })
}
