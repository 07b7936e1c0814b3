//! The rules of the language: what a marked loop may do, and every error.
//!
//! A function is gone through once, in the order in which it runs ([`walk`]), with its names and its flow of control
//! in view ([`cx`]). What the loops do with what they capture is noted, and judged at each loop's end: which arrays its
//! iterations own, which it only reads, and what is not allowed. The result, the [`Facts`], is all that `expand` needs.

mod analysis;
pub(crate) mod arrays;
mod clauses;
pub(crate) mod cx;
mod events;
mod extrema;
pub(crate) mod index;
mod joined;
mod leaks;
pub(crate) mod macros;
mod methods;
mod owned;
mod reductions;
pub(crate) mod rows;
mod shared;
mod signed;
pub(crate) mod source;
pub(crate) mod walk;

use std::collections::HashMap;

use proc_macro2::Ident;
use syn::{Block, Expr, FnArg, Pat, Signature, Type};

use crate::ast::Marks;
use crate::attr::{Clauses, Operator, Place};
use crate::report::Report;
use cx::{Control, Cx, Means};
use index::Shift;
use source::LoopIndex;

/// What is known of the marked loops of a function, by the numbers of their marks.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) loops: HashMap<usize, LoopFacts>,
    /// The arrays that serial loops inside of them go along, by the numbers of these loops.
    pub(crate) rows: HashMap<usize, Vec<rows::Row>>,
}

/// What is known of a marked loop.
pub(crate) struct LoopFacts {
    /// Its clauses, with those of its function where it has none.
    pub(crate) clauses: Clauses,
    pub(crate) index: Option<LoopIndex>,
    /// The indices of the loops that are joined, the outermost first; none if it is one loop.
    pub(crate) nest: Vec<Ident>,
    pub(crate) owned: Vec<Owned>,
    pub(crate) reads: Vec<Read>,
    pub(crate) reductions: Vec<Reduction>,
    /// Whether what is accumulated is joined in the order of the iterations.
    pub(crate) ordered: bool,
    /// Whether an iteration may leave it.
    pub(crate) leaves: bool,
    /// Whether an iteration may take long, so that it is worth to look often whether the loop has been left.
    pub(crate) heavy: bool,
    /// The names of macros in it that are taken for those of the standard library.
    pub(crate) standard: Vec<Ident>,
}

/// An array that iterations own parts of.
pub(crate) struct Owned {
    pub(crate) place: Place,
    /// The array, in tokens of the user.
    pub(crate) array: Expr,
    /// How many elements an iteration owns, if not one.
    pub(crate) chunks: Option<Expr>,
    /// Whether it owns a row of an array of several axes, `a[[i, j]]`.
    pub(crate) rows: bool,
    /// In a nest that is run as one: by what the outer loops' indices are multiplied.
    pub(crate) coefficients: Vec<Expr>,
    /// Whether each iteration is certain to use its element.
    pub(crate) certain: bool,
}

/// An array that each iteration is certain to read at its index, or at a fixed distance from it.
pub(crate) struct Read {
    pub(crate) place: Place,
    /// The array, in tokens of the user.
    pub(crate) array: Expr,
    pub(crate) shift: Option<Shift>,
}

/// A variable that the loop reduces.
#[derive(Clone)]
pub(crate) struct Reduction {
    pub(crate) place: Place,
    pub(crate) variable: Expr,
    pub(crate) operator: Operator,
    /// Whether the body names it in another way than by one name.
    pub(crate) renamed: bool,
    /// Whether the body subtracts from the variable.
    pub(crate) subtracts: bool,
    /// Whether the loop around this one reduces it as well.
    pub(crate) again: bool,
    /// The places of `reduce(max: (value, along))`, if it is of one of them: the first of them is compared, the others go along.
    pub(crate) group: Vec<Place>,
    /// How many indices stand behind the variable where it is accumulated into: 0 for `v += ..`, 1 for `v[k] += ..`.
    pub(crate) indices: usize,
}

/// A function, as seen from its body.
pub(crate) struct Function<'a> {
    pub(crate) signature: Option<&'a Signature>,
}

impl Function<'_> {
    /// What is known at the beginning of the body.
    pub(crate) fn cx(&self) -> Cx {
        let mut cx = Cx::default();
        let returns = self.signature.map(|signature| match &signature.output {
            syn::ReturnType::Type(_, ty) => ty.clone(),
            syn::ReturnType::Default => Box::new(syn::parse_quote!(())),
        });
        cx.enter(Control::Body { returns });
        cx.open();
        for input in self.signature.iter().flat_map(|signature| &signature.inputs) {
            match input {
                FnArg::Receiver(receiver) => {
                    let mutable = match &receiver.kind {
                        syn::ReceiverKind::Reference(_, _, mutability) => mutability.is_some(),
                        _ => false,
                    } || receiver.mutability.is_some();
                    let name = Ident::from(receiver.self_token);
                    cx.bind(&name, mutable, Means::Value);
                }
                FnArg::Typed(typed) => {
                    let reference =
                        matches!(&*typed.ty, Type::Reference(r) if r.mutability.is_some());
                    let pat: &Pat = &typed.pat;
                    cx.bind_names(pat, reference, &Means::Value);
                    signed::note_type(&mut cx, pat, &typed.ty);
                }
            }
        }
        cx
    }
}

/// Checks the marked loops of a function. `defaults` are the clauses of the function.
pub(crate) fn check(
    function: &Function<'_>,
    block: &mut Block,
    marks: &Marks,
    defaults: &Clauses,
    report: &mut Report,
) -> Facts {
    analysis::analyse(function.cx(), block, marks, defaults, report)
}
