//! A marked loop whose body is gone through, and what that does with the places that it captures.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;
use syn::Expr;

use super::Reduction;
use super::index::Kind;
use super::walk::Mode;
use crate::attr::{Clauses, Operator, Place};

/// A marked loop whose body is being gone through.
pub(super) struct Active {
    pub(super) clauses: Clauses,
    pub(super) events: Vec<Event>,
    pub(super) reductions: Vec<Reduction>,
    pub(super) index: Option<Ident>,
    /// The name in place of the index, if that can change.
    pub(super) mutable_index: Option<Ident>,
    pub(super) leaves: bool,
    pub(super) yields: bool,
    /// The names of the standard library's macros that the body uses.
    pub(super) standard: Vec<Ident>,
    /// The names that macros which cannot be looked into are given.
    pub(super) given_away: HashSet<Ident>,
    /// What `if x > v { v = x; }` was seen of, and how that could be reduced: the operator and what it would be given.
    pub(super) compared: HashMap<String, (Operator, String)>,
    /// Whether it is a nest of loops that are joined.
    pub(super) joined: bool,
    /// Their indices.
    pub(super) nest: Vec<Ident>,
    pub(super) depth: usize,
    /// The labels of all of them but the innermost.
    pub(super) labels: Vec<String>,
}

/// Something that a body does with a place that it captures.
#[derive(Clone)]
pub(super) struct Event {
    pub(super) place: Place,
    /// What was written: the place with its index, if it has one.
    pub(super) written: Expr,
    pub(super) usage: Usage,
    /// Whether each iteration does it, unless it is left before.
    pub(super) certain: bool,
    /// Whether it is known that the place can be borrowed mutably.
    pub(super) mutable: bool,
    /// Whether the place is that of a constant or a static.
    pub(super) constant: bool,
}

#[derive(Clone)]
pub(super) enum Usage {
    /// `place[index]`; `kinds` judges the index, seen from each of the loops around. `row`: it is `place[[i, j]]`, and `i` is
    /// judged.
    Index {
        index: Expr,
        kinds: Vec<Kind>,
        row: bool,
        mode: Mode,
    },
    /// `place.len()`
    Length,
    Whole(Mode),
    /// A marked loop inside of the body owns parts of it, or accumulates into it.
    Again,
}

impl Active {
    /// The loop's index, or those of joined loops, as a reader would name the iteration.
    pub(super) fn indices(&self) -> String {
        match &self.index {
            _ if self.joined => {
                let names: Vec<String> = self.nest.iter().map(ToString::to_string).collect();
                format!("({})", names.join(", "))
            }
            Some(index) => index.to_string(),
            None => "i".to_owned(),
        }
    }

    /// The element of an array that an iteration owns, as it is written; or, of `rows`, all of the row.
    pub(super) fn element(&self, array: &Place, rows: bool) -> String {
        if rows {
            return format!("{array}[[{}, _]]", self.indices());
        }
        let is_own = |event: &&Event| {
            event.place == *array && matches!(event.kind(self.depth), Some(Kind::Grid(..)))
        };
        match self.events.iter().find(is_own) {
            Some(event) => crate::attr::tokens(&event.written),
            None => format!("{array}[{}]", self.indices()),
        }
    }
}

impl Event {
    /// Whether it is a use by several indices, `place[[i, j]]`.
    pub(super) fn is_of_row(&self) -> bool {
        matches!(self.usage, Usage::Index { row: true, .. })
    }

    /// What the index is, seen from the loop at `depth`.
    pub(super) fn kind(&self, depth: usize) -> Option<&Kind> {
        match &self.usage {
            Usage::Index { kinds, .. } => kinds.get(depth - 1),
            _ => None,
        }
    }
}
