//! What a body does with what all iterations share: it may read it, and no more.

use proc_macro2::Ident;
use quote::quote;
use syn::Expr;

use super::arrays::written;
use super::events::{Active, Event, Usage};
use super::index::{Kind, Shift, Why};
use super::methods;
use super::owned::out_of_order;
use super::walk::Mode;
use crate::attr::{self, Operator};
use crate::report::Report;

pub(super) fn use_shared(event: &Event, active: &Active, depth: usize, report: &mut Report) {
    let place = &event.place;
    // Constants are no variables; who writes a `static mut` has said `unsafe`.
    if event.constant {
        return;
    }
    let element = written(event);
    match &event.usage {
        Usage::Index { index, mode, .. } => {
            match mode {
                Mode::Write(_) | Mode::Borrow => {}
                Mode::Method { name, swaps, .. }
                    if event.mutable && (*swaps || methods::is_mutating(&name.to_string())) => {}
                Mode::Read | Mode::Share | Mode::Method { .. } => return,
            }
            let Some(i) = &active.index else {
                if let Some(i) = &active.mutable_index {
                    report.error(
                        i,
                        format_args!("`{i}` can change in the body, so it does not say which `{element}` an iteration owns"),
                        format_args!("leave `mut` out, and change a copy: `let mut k = {i};`"),
                    );
                    return;
                }
                report.error(
                    index,
                    format_args!("iterations may not write `{element}`: the loop has no index that says which one owns it"),
                    "loop over a range, `for i in 0..n`, or over `.enumerate()` with a pattern `(i, x)`",
                );
                return;
            };
            if active.joined {
                if let Some(Kind::Other(why)) = event.kind(depth)
                    && out_of_order(event, index, why, active, report)
                {
                    return;
                }
                report.error(
                    index,
                    format_args!("nothing says which iteration owns `{element}`"),
                    format_args!(
                        "iterations of joined loops own elements of a flat array, whose index is a sum such as `i * m + j`; for an \
                         array of rows leave `collapse` out"
                    ),
                );
                return;
            }
            if hides_index(index, Some(i), report) {
                return;
            }
            shared_element(event, index, &i.to_string(), &element, depth, report);
        }
        Usage::Length => {}
        Usage::Whole(_) | Usage::Again => {
            let mode = match &event.usage {
                Usage::Whole(mode) => mode,
                _ => &Mode::Borrow,
            };
            let certain_to_write = match mode {
                Mode::Write(_) | Mode::Borrow => true,
                Mode::Method { swaps: true, .. } => event.mutable,
                Mode::Method { name, .. } => {
                    let name = name.to_string();
                    event.mutable
                        && place.is_name()
                        && (GROWING.contains(&name.as_str()) || methods::changes_elements(&name))
                }
                Mode::Read | Mode::Share => false,
            };
            if !certain_to_write {
                return;
            }
            if let Mode::Method { name: method, swaps: true, .. } = mode {
                let i = active.indices();
                let what = format!("and nothing says that both belong to iteration `{i}`");
                swaps_two(event, method, &what, &i, report);
            } else if let Mode::Method { name: method, .. } = mode
                && methods::changes_elements(&method.to_string())
            {
                let i = active.indices();
                report.error(
                    &event.written,
                    format_args!("`{place}` is shared by all iterations, so none can call `{place}.{method}(..)`"),
                    format_args!(
                        "change `{place}[{i}]`, the element of iteration `{i}`; or let it own `m` of them, `own({place}.chunks(m))`, \
                         and use `{place}[{i} * m..({i} + 1) * m]`"
                    ),
                );
            } else if let Mode::Method { name: method, .. } = mode {
                report.error(
                    &event.written,
                    format_args!("`{place}` is shared by all iterations, so none can call `{place}.{method}(..)`"),
                    format_args!(
                        "make each participant its own with `local({place} = ..)`, join them with `reduce({place})`, or collect \
                         one value per iteration: `let {place}: Vec<_> = for .. {{ .. }};`"
                    ),
                );
            } else {
                // A reference is reduced through: `*flag`.
                let variable = match &event.written {
                    written @ Expr::Unary(_) => attr::tokens(written),
                    _ => place.to_string(),
                };
                let (operator, variable) = match (mode, active.compared.get(&element)) {
                    (Mode::Write(Some(operator)), _) => (*operator, variable),
                    (Mode::Write(None), Some((operator, all))) => (*operator, all.clone()),
                    _ => (Operator::Add, variable),
                };
                let operator = operator.written();
                let own = place.last();
                report.error(
                    &event.written,
                    format_args!("`{place}` is shared by all iterations, so none can change it"),
                    format_args!(
                        "accumulate into it with `reduce({operator}: {variable})`, make each participant its own with \
                         `local({own} = ..)`, or let iterations own an array's elements with `own(..)`"
                    ),
                );
            }
        }
    }
}

/// Reports an index, judged not to be the loop's, that is called as the loop's is.
pub(super) fn hides_index(index: &Expr, i: Option<&Ident>, report: &mut Report) -> bool {
    let Some(i) = i.filter(|i| attr::tokens(index) == i.to_string()) else { return false };
    report.error(
        index,
        format_args!("this `{i}` is not the loop's index, which it hides"),
        "give one of the two another name",
    );
    true
}

/// Reports `x.swap(a, b)` of elements that need not be the iteration's.
pub(super) fn swaps_two(event: &Event, method: &Ident, what: &str, i: &str, report: &mut Report) {
    let (array, written) = (&event.place, &event.written);
    report.error(
        quote!(#written.#method),
        format_args!("`{array}.swap(..)` changes two elements, {what}"),
        format_args!(
            "if both lie in one chunk, let iteration `{i}` own that, `own({array}.chunks(m))`; else split the array before the loop, \
             `let (low, high) = {array}.split_at_mut(k);`, and swap pairs, `for (a, b) in low.iter_mut().zip(high) {{ \
             std::mem::swap(a, b); }}`"
        ),
    );
}

/// Methods that no one calls on a variable declared `mut` unless to change it.
const GROWING: [&str; 12] = [
    "push",
    "push_str",
    "push_back",
    "push_front",
    "pop",
    "insert",
    "extend",
    "append",
    "clear",
    "truncate",
    "resize",
    "retain",
];

fn shared_element(
    event: &Event,
    index: &Expr,
    i: &str,
    element: &str,
    depth: usize,
    report: &mut Report,
) {
    let name = &event.place;
    let row = event.is_of_row();
    let own = if row { format!("{name}[[{i}, j]]") } else { format!("{name}[{i}]") };
    match event.kind(depth) {
        Some(Kind::Shifted(_, shift)) => report.error(
            index,
            format_args!("iteration `{i}` does not own `{element}`"),
            format_args!(
                "an iteration owns the {} at exactly its index: shift the loop's range{}, and write `{own}`",
                if row { "row" } else { "element" },
                match shift {
                    Shift::Number(by) if *by > 0 => format!(" by {by}"),
                    _ => String::new(),
                }
            ),
        ),
        Some(Kind::Other(Why::Computed | Why::Fixed | Why::Inner(_)) | Kind::Unknown) | None if row => report.error(
            index,
            format_args!("nothing says which iteration owns `{element}`"),
            format_args!("iteration `{i}` can own the row with its index, `{own}`; to own columns, loop over `{name}.columns_mut()`"),
        ),
        Some(Kind::Other(Why::Computed | Why::Across(_) | Why::Without(_))) => report.error(
            index,
            format_args!("nothing says which iteration owns `{element}`"),
            match chunk_size(index, i) {
                Some(m) => format!(
                    "if iteration `{i}` owns the elements from `{i} * {m}` to `({i} + 1) * {m}`, write `own({name}.chunks({m}))`"
                ),
                None => format!(
                    "iteration `{i}` can own `{name}[{i}]`, or with `own({name}.chunks(m))` the elements from `{i} * m` to \
                     `({i} + 1) * m`"
                ),
            },
        ),
        Some(Kind::Other(Why::Fixed)) => report.error(
            index,
            format_args!("every iteration would write `{element}`"),
            "accumulate into a variable with `reduce(..)`, and write the element after the loop",
        ),
        Some(Kind::Other(Why::Inner(j))) => report.error(
            index,
            format_args!("every iteration would write `{element}`, for each `{j}`"),
            format_args!(
                "exchange the loops, so that iteration `{j}` owns `{name}[{j}]`, accumulate with `reduce(+: {name})`, or let iteration \
                 `{i}` own `m` elements with `own({name}.chunks(m))`"
            ),
        ),
        Some(Kind::Other(Why::Outer(outer))) => report.error(
            index,
            format_args!("all iterations over `{i}` would write `{element}`, the element of the outer loop's `{outer}`"),
            "accumulate into a variable with `reduce(..)` on the inner loop, and write the element after it",
        ),
        Some(Kind::Exact(_) | Kind::Grid(..)) => {}
        Some(Kind::Unknown) | None => report.error(
            index,
            format_args!("two iterations may write the same `{element}`"),
            format_args!(
                "iteration `{i}` can own `{name}[{i}]`; to count or sum into elements chosen by data write `reduce(+: {name})`, \
                 or use atomics"
            ),
        ),
    }
}

/// `m` of an index `i * m + ..`.
fn chunk_size(index: &Expr, i: &str) -> Option<String> {
    match index {
        Expr::Paren(paren) => chunk_size(&paren.expr, i),
        Expr::Binary(binary) if matches!(binary.op, syn::BinOp::Add(_)) => {
            chunk_size(&binary.left, i).or_else(|| chunk_size(&binary.right, i))
        }
        Expr::Binary(binary) if matches!(binary.op, syn::BinOp::Mul(_)) => {
            let (left, right) = (attr::tokens(&binary.left), attr::tokens(&binary.right));
            if left == i { Some(right) } else { (right == i).then_some(left) }
        }
        _ => None,
    }
}
