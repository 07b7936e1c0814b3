//! What a body does with arrays that its iterations own parts of.

use syn::Expr;

use super::Owned;
use super::arrays::written;
use super::events::{Active, Event, Usage};
use super::index::{Kind, Why};
use super::shared::{hides_index, swaps_two};
use super::walk::Mode;
use crate::attr;
use crate::report::Report;

pub(super) fn use_owned(
    owned: &mut Owned,
    event: &Event,
    active: &Active,
    depth: usize,
    report: &mut Report,
) {
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
    if hides_index(index, active.index.as_ref(), report)
        || owned.coefficients.is_empty() && out_of_order(event, index, &why, active, report)
    {
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
pub(super) fn out_of_order(
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
pub(super) fn use_around(owned: &Owned, event: &Event, report: &mut Report) {
    let (whole, part) = (&event.place, &owned.place);
    report.error(
        &event.written,
        format_args!("`{whole}` cannot be used as a whole, since iterations own parts of `{part}`"),
        format_args!(
            "name the fields that the body needs, such as `{whole}.other`, or compute what it needs before the loop"
        ),
    );
}
