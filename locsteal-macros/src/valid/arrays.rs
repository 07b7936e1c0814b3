//! Which arrays a loop's iterations own, which it reads, and what of all that is not allowed.

use syn::Expr;

use super::events::{Active, Event, Usage};
use super::index::{Kind, Why};
use super::methods;
use super::owned::{use_around, use_owned};
use super::shared::use_shared;
use super::walk::Mode;
use super::{Owned, Read};
use crate::attr::{self, Place};
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
        Mode::Read | Mode::Share => false,
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
pub(super) fn written(event: &Event) -> String {
    attr::tokens(&event.written)
}

/// The arrays that each iteration is certain to read at its index, or at a fixed distance from it.
fn reads(active: &Active, owned: &[Owned], depth: usize) -> Vec<Read> {
    let mut reads: Vec<Read> = Vec::new();
    for event in &active.events {
        let Usage::Index { mode, row: false, .. } = &event.usage else { continue };
        if !mode.may_only_read() {
            continue;
        }
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
