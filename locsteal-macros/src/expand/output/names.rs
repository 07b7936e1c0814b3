//! The names that generated code has for itself.

use proc_macro2::{Ident, Span};
use syn::Lifetime;

use crate::expand::rewrite::{hidden_label, hidden_name};

/// The names of a loop's generated code, which differ from those of loops around it.
pub(in crate::expand) struct Names {
    level: usize,
    pub(super) span: Span,
}

macro_rules! numbered {
    ($($name:ident),*) => {$(
        pub(in crate::expand) fn $name(&self, number: usize) -> Ident {
            hidden_name(stringify!($name), self.level, number, self.span)
        }
    )*};
}

impl Names {
    pub(in crate::expand) fn new(level: usize, span: Span) -> Self {
        Self { level, span }
    }

    numbered!(
        base,
        size,
        own,
        area,
        part,
        pieces,
        window,
        at,
        array,
        rows,
        view,
        accumulator,
        together,
        sum,
        reduced,
        slot
    );

    pub(super) fn name(&self, name: &str) -> Ident {
        Ident::new(&format!("{name}_{}", self.level), self.span())
    }

    /// The label that exits break to.
    pub(super) fn label(&self) -> Lifetime {
        hidden_label("chunk", self.level, self.span)
    }

    /// Of the generated tokens: the place is the loop's, the names nobody else's.
    pub(in crate::expand) fn span(&self) -> Span {
        Span::mixed_site().located_at(self.span)
    }
}
