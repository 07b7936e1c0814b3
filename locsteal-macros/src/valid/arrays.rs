//! Which arrays a loop's iterations own, which it reads, and what of all that is not allowed.

use proc_macro2::Ident;
use quote::quote;
use syn::Expr;

use super::analysis::{Active, Event, Usage};
use super::index::{Kind, Shift, Why};
use super::methods;
use super::walk::Mode;
use super::{Owned, Read};
use crate::attr::{self, Operator, Place};
use crate::report::Report;

pub(super) struct Judged {
    pub(super) owned: Vec<Owned>,
    pub(super) reads: Vec<Read>,
}

/// Judges what the loop at `depth` does.
pub(super) fn judge(active: &Active, depth: usize, report: &mut Report) -> Judged {
    let mut owned: Vec<Owned> = Vec::new();
    for own in &active.clauses.own {
        let array = match &own.expr {
            Expr::MethodCall(call) if own.chunks.is_some() || own.rows => (*call.receiver).clone(),
            expr => expr.clone(),
        };
        owned.push(Owned {
            place: own.place.clone(),
            array,
            chunks: own.chunks.clone(),
            // Of an array that is indexed as one of several axes, what else could an iteration own?
            rows: own.rows
                || own.chunks.is_none()
                    && active.events.iter().any(|e| e.place == own.place && e.is_of_row()),
            coefficients: coefficients(&own.place, active, depth),
            certain: false,
        });
    }
    for event in &active.events {
        if infers(event, active, depth)
            && !owned.iter().any(|owned| owned.place.contains(&event.place))
        {
            let Expr::Index(written) = &event.written else { continue };
            let array = (*written.expr).clone();
            owned.push(Owned {
                place: event.place.clone(),
                array,
                chunks: None,
                rows: event.is_of_row(),
                coefficients: coefficients(&event.place, active, depth),
                certain: false,
            });
        }
    }
    if owned.len() > 12 {
        report.error(
            &owned[12].array,
            "an iteration can own parts of at most 12 arrays",
            "put arrays that belong together into one array of structs",
        );
    }
    for event in &active.events {
        if let Some(part) = owned
            .iter()
            .find(|owned| event.place.contains(&owned.place) && event.place != owned.place)
        {
            use_around(part, event, report);
            continue;
        }
        match owned.iter_mut().find(|owned| owned.place.contains(&event.place)) {
            Some(owned) => use_owned(owned, event, active, depth, report),
            None => use_shared(event, active, depth, report),
        }
    }
    if active.joined {
        for array in
            owned.iter().filter(|owned| owned.chunks.is_none() && owned.coefficients.is_empty())
        {
            let explained = |event: &Event| {
                event.place == array.place
                    && matches!(
                        event.kind(depth),
                        Some(Kind::Other(Why::Across(_) | Why::Without(_)))
                    )
            };
            if active.events.iter().any(explained) {
                continue;
            }
            report.error(
                &array.array,
                format_args!("which element of `{}` an iteration of the joined loops owns is not clear", array.place),
                "write its index as a sum such as `i * m + j`, with each loop's index once; an array of rows, `c[i][j]`, needs \
                 `collapse` left out",
            );
        }
    }
    for own in &active.clauses.own {
        let used = active.events.iter().any(|event| own.place.contains(&event.place))
            || active.given_away.contains(&own.place.root);
        // That it is something else as well has been reported.
        let other = active.clauses.reduce.iter().any(|r| r.place == own.place)
            || active.clauses.local.iter().any(|local| local.name == own.place.root);
        if !used && !other {
            report.error(
                &own.expr,
                format_args!("the loop does not use `{}`", own.place),
                "leave it out of `own(..)`",
            );
        }
        if active.index.is_none() && active.mutable_index.is_none() {
            report.error(
                &own.expr,
                "this loop has no index that says what an iteration owns",
                "loop over a range, `for i in 0..n`, or over `.enumerate()` with a pattern `(i, x)`",
            );
        }
    }
    let reads = reads(active, &owned, depth);
    Judged { owned, reads }
}

/// Whether it follows from this use that iterations own elements of the array.
fn infers(event: &Event, active: &Active, depth: usize) -> bool {
    let Usage::Index { mode, .. } = &event.usage else { return false };
    if !is_own(event, depth) {
        return false;
    }
    match mode {
        Mode::Read => false,
        Mode::Write(_) | Mode::Borrow => true,
        Mode::Method { name, swaps, .. } if *swaps || methods::is_mutating(&name.to_string()) => {
            true
        }
        Mode::Method { .. } if event.is_of_row() => false,
        // Whether the method changes the element is not known. Owning it does no harm if nothing else of the array is used.
        Mode::Method { .. } => {
            event.mutable
                && active
                    .events
                    .iter()
                    .filter(|other| other.place == event.place)
                    .all(|other| matches!(other.usage, Usage::Length) || is_own(other, depth))
        }
    }
}

/// Whether the index is that of the iteration.
fn is_own(event: &Event, depth: usize) -> bool {
    matches!(event.kind(depth), Some(Kind::Exact(loop_) | Kind::Grid(loop_, _)) if *loop_ == depth)
}

/// The coefficients of the array's index in a nest that is run as one.
fn coefficients(place: &Place, active: &Active, depth: usize) -> Vec<Expr> {
    let of = |event: &Event| match event.kind(depth) {
        Some(Kind::Grid(_, coefficients)) if event.place == *place => Some(coefficients.clone()),
        _ => None,
    };
    active.events.iter().find_map(of).unwrap_or_default()
}

/// The array as it is written.
fn written(event: &Event) -> String {
    attr::tokens(&event.written)
}

fn use_owned(owned: &mut Owned, event: &Event, active: &Active, depth: usize, report: &mut Report) {
    let name = &owned.place;
    if active.index.is_none() {
        return;
    }
    let i = active.indices();
    let own = active.element(name, owned.rows);
    if event.is_of_row() != owned.rows
        && event.place == owned.place
        && let Usage::Index { .. } = &event.usage
    {
        let (what, help) = match (&owned.chunks, owned.rows) {
            (Some(_), _) => (
                "chunks of its elements",
                format!(
                    "use one index, `{name}[{i} * m + j]`, or own it by row, `own({name}.rows())`"
                ),
            ),
            (None, true) => {
                ("rows", format!("use as many indices as it has axes: `{name}[[{i}, j]]`"))
            }
            (None, false) => ("elements", format!("use one index, `{name}[{i}]`")),
        };
        report.error(
            &event.written,
            format_args!("iterations own {what} of `{name}`, which this index does not choose"),
            help,
        );
        return;
    }
    if owned.chunks.is_some() {
        if event.place != owned.place {
            report.error(
                &event.written,
                format_args!(
                    "only elements of `{name}` can be used here, since iterations own it by chunks"
                ),
                format_args!(
                    "bind what the body needs to a name before the loop: `let value = {};`",
                    event.place
                ),
            );
            return;
        }
        use_chunk(owned, event, &i, active.joined, report);
        return;
    }
    let (index, kind) = match &event.usage {
        Usage::Length if event.place == owned.place => return,
        Usage::Index { index, .. } if event.place == owned.place => (index, event.kind(depth)),
        Usage::Whole(Mode::Method { name: method, .. })
            if owned.rows
                && event.place == owned.place
                && OF_ROWS.contains(&method.to_string().as_str()) =>
        {
            return;
        }
        Usage::Whole(Mode::Method { name: method, swaps: true, .. })
            if event.place == owned.place && !owned.rows =>
        {
            let what = format!("and iteration `{i}` owns `{own}` alone");
            swaps_two(event, method, &what, &i, report);
            return;
        }
        _ if owned.rows => {
            report.error(
                &event.written,
                format_args!("iteration `{i}` owns the row `{own}` alone, not all of `{name}`"),
                format_args!(
                    "use its elements `{name}[[{i}, j]]`, or the whole row `{name}.row_mut({i})`; to read old values, copy them before \
                     the loop: `let old = {name}.to_owned();`"
                ),
            );
            return;
        }
        _ => {
            report.error(
                &event.written,
                format_args!("iteration `{i}` owns `{own}` alone, not all of `{name}`"),
                format_args!(
                    "use `{own}` or `{name}.len()`; to read old values, copy them before the loop: `let old = \
                     {name}.to_vec();`"
                ),
            );
            return;
        }
    };
    let why = match kind {
        Some(Kind::Exact(_)) => {
            owned.certain |= event.certain && !owned.rows;
            return;
        }
        Some(Kind::Grid(_, coefficients)) if *coefficients == owned.coefficients => {
            owned.certain |= event.certain;
            return;
        }
        Some(Kind::Unknown) | None => return,
        Some(Kind::Shifted(..) | Kind::Grid(..)) => Why::Computed,
        Some(Kind::Other(why)) => why.clone(),
    };
    if owned.coefficients.is_empty() && out_of_order(event, index, &why, active, report) {
        return;
    }
    let element = written(event);
    let copy = if owned.rows { "to_owned" } else { "to_vec" };
    match why {
        Why::Computed | Why::Across(_) | Why::Without(_) => report.error(
            index,
            format_args!("`{element}` belongs to another iteration, which may be changing it at this moment"),
            format_args!(
                "iteration `{i}` owns `{own}` alone; to read old values, copy them before the loop: `let old = \
                 {name}.{copy}();`"
            ),
        ),
        Why::Fixed if owned.rows => report.error(
            index,
            format_args!("`{element}` lies in the same row in every iteration, and that belongs to one of them at most"),
            format_args!("iteration `{i}` owns `{own}` alone; copy the row before the loop, `let row = {name}.row(..).to_owned();`"),
        ),
        Why::Fixed => report.error(
            index,
            format_args!("`{element}` is the same element in every iteration, and belongs to one of them at most"),
            format_args!(
                "iteration `{i}` owns `{own}` alone; copy the element before the loop, or accumulate into a variable \
                 with `reduce(..)`"
            ),
        ),
        Why::Inner(j) if owned.rows => report.error(
            index,
            format_args!("`{element}` lies in rows of other iterations as `{j}` moves on"),
            format_args!(
                "iteration `{i}` owns `{own}` alone; to own columns, loop over `{name}.columns_mut()`"
            ),
        ),
        Why::Inner(j) => report.error(
            index,
            format_args!("`{element}` belongs to other iterations as `{j}` moves on"),
            format_args!(
                "iteration `{i}` owns `{own}` alone; if it should own `m` elements, write `own({name}.chunks(m))`"
            ),
        ),
        Why::Outer(outer) => report.error(
            index,
            format_args!("all iterations over `{i}` share `{element}`, the element of the outer loop's `{outer}`"),
            "take it out of the inner loop, or accumulate into a variable with `reduce(..)`",
        ),
    }
}

/// Reports an element of a nest that is run as one, whose index does not follow the order of the iterations.
fn out_of_order(
    event: &Event,
    index: &Expr,
    why: &Why,
    active: &Active,
    report: &mut Report,
) -> bool {
    let element = written(event);
    let last = active.nest.last().map(ToString::to_string).unwrap_or_default();
    match why {
        Why::Across(along) => {
            let exchanged = match active.nest.as_slice() {
                [_, _] => format!(": `for {last} in .. {{ for {along} in .. {{ .. }} }}`"),
                _ => String::new(),
            };
            report.error(
                index,
                format_args!(
                    "`{element}` goes along `{along}`, and the innermost loop is that of `{last}`: iterations own elements in the \
                     order in which they run"
                ),
                format_args!("exchange the loops, so that `{along}` is the innermost{exchanged}"),
            );
        }
        Why::Without(missing) => report.error(
            index,
            format_args!("all iterations over `{missing}` would write `{element}`"),
            format_args!(
                "leave `collapse` out, so that one iteration has all of `{element}`; a flat array is owned by element, such as \
                 `{0}[i * m + j]`, and sums take `reduce(+: {0})`",
                event.place
            ),
        ),
        _ => return false,
    }
    true
}

/// Methods that mean the same of an iteration's row as of the array.
const OF_ROWS: [&str; 8] = ["nrows", "ncols", "dim", "raw_dim", "shape", "ndim", "row", "row_mut"];

/// An array is used that iterations own by chunks.
fn use_chunk(owned: &Owned, event: &Event, i: &str, joined: bool, report: &mut Report) {
    let name = &owned.place;
    let whole = match &event.usage {
        Usage::Index { index: Expr::Range(range), .. } => {
            range.start.is_none() && range.end.is_none()
        }
        Usage::Index { .. } | Usage::Length | Usage::Again => false,
        // These take the array's ordinary indices.
        Usage::Whole(Mode::Method { name: method, .. }) => {
            !matches!(method.to_string().as_str(), "get" | "get_mut" | "swap")
        }
        Usage::Whole(_) => true,
    };
    if !whole {
        return;
    }
    let size = owned.chunks.as_ref().map_or_else(
        || "m".to_owned(),
        |size| {
            let text = attr::tokens(size);
            if matches!(size, Expr::Path(_) | Expr::Lit(_) | Expr::Field(_)) {
                text
            } else {
                format!("({text})")
            }
        },
    );
    let chunk = format!("{name}[{i} * {size}..({i} + 1) * {size}]");
    let instead = match &event.usage {
        Usage::Whole(Mode::Method { name: method, .. }) => format!("{chunk}.{method}(..)"),
        Usage::Whole(Mode::Borrow) => format!("&mut {chunk}"),
        _ => chunk,
    };
    let help = if joined {
        format!(
            "use the elements of its chunk, `{name}[..]` with one of their indices or a range of them"
        )
    } else {
        format!("write `{instead}`; where the last chunk is shorter, its end is `{name}.len()`")
    };
    report.error(
        &event.written,
        format_args!("iteration `{i}` owns a chunk of `{name}` alone, not all of it"),
        help,
    );
}

/// Something is used as a whole, of which iterations own a part.
fn use_around(owned: &Owned, event: &Event, report: &mut Report) {
    let (whole, part) = (&event.place, &owned.place);
    report.error(
        &event.written,
        format_args!("`{whole}` cannot be used as a whole, since iterations own parts of `{part}`"),
        format_args!(
            "name the fields that the body needs, such as `{whole}.other`, or compute what it needs before the loop"
        ),
    );
}

fn use_shared(event: &Event, active: &Active, depth: usize, report: &mut Report) {
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
                Mode::Read | Mode::Method { .. } => return,
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
                Mode::Read => false,
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

/// Reports `x.swap(a, b)` of elements that need not be the iteration's.
fn swaps_two(event: &Event, method: &Ident, what: &str, i: &str, report: &mut Report) {
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
                "accumulate with `reduce(+: {name})`, or let iteration `{i}` own `m` elements with `own({name}.chunks(m))`"
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

/// The arrays that each iteration is certain to read at its index, or at a fixed distance from it.
fn reads(active: &Active, owned: &[Owned], depth: usize) -> Vec<Read> {
    let mut reads: Vec<Read> = Vec::new();
    for event in &active.events {
        let Usage::Index { mode: Mode::Read | Mode::Method { .. }, row: false, .. } = &event.usage
        else {
            continue;
        };
        let shift = match event.kind(depth) {
            Some(Kind::Exact(_)) => None,
            Some(Kind::Shifted(_, shift)) => Some(shift.clone()),
            _ => continue,
        };
        let known = |read: &Read| read.place == event.place && read.shift == shift;
        if !event.certain
            || owned.iter().any(|o| o.place.contains(&event.place))
            || reads.iter().any(known)
        {
            continue;
        }
        let Expr::Index(written) = &event.written else { continue };
        // The compiler sees the length of a constant, and a `static mut` takes `unsafe`, as a raw pointer does.
        if event.constant || matches!(&*written.expr, Expr::Paren(_) | Expr::Unary(_)) {
            continue;
        }
        reads.push(Read { place: event.place.clone(), array: (*written.expr).clone(), shift });
    }
    reads
}

/// Whether the place is read through a view in a loop that reads these.
pub(crate) fn view_of<'r>(
    reads: &'r [Read],
    place: &Place,
    kind: &Kind,
) -> Option<(usize, &'r Read)> {
    let shift = match kind {
        Kind::Exact(_) => None,
        Kind::Shifted(_, shift) => Some(shift),
        _ => return None,
    };
    reads.iter().enumerate().find(|(_, read)| read.place == *place && read.shift.as_ref() == shift)
}
