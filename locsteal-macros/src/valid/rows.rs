//! Serial loops inside of a body, and the arrays that they go along.
//!
//! In `for j in 0..m { c[i * m + j] += a * b[k * m + j]; }` each iteration is certain to use `c` and `b` at its own index plus
//! something that stays the same. What is found here makes such a loop as fast as one over iterators, and changes nothing
//! else.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{BinOp, Expr, ExprForLoop, Pat, RangeLimits};

use super::Owned;
use super::cx::{Cx, is_constant};
use super::events::Active;
use super::walk::Mode;
use crate::attr::Place;

/// An array that a serial loop goes along.
pub(crate) struct Row {
    pub(crate) place: Place,
    /// The array, in tokens of the user.
    pub(crate) array: Expr,
    /// What is added to the loop's variable.
    pub(crate) terms: Vec<Term>,
    /// Whether it is a chunk that the iteration owns.
    pub(crate) owned: bool,
}

/// A part of a sum.
#[derive(Clone)]
pub(crate) struct Term {
    pub(crate) negative: bool,
    pub(crate) expr: Expr,
}

/// A serial loop whose body is being gone through.
pub(super) struct Serial {
    number: usize,
    /// Its variable, if it is a loop to be looked at.
    variable: Option<Ident>,
    /// The scope that holds the variable, as a number of scopes around it.
    scope: usize,
    /// How many marked loops are around it.
    depth: usize,
    uses: Vec<Use>,
    /// Names that macros in the body are given, which may do anything with them.
    opaque: HashSet<Ident>,
}

/// Something that the body of a serial loop does with a place that the marked loop around it captures.
struct Use {
    place: Place,
    array: Option<Expr>,
    /// Of an index that is the loop's variable plus these.
    terms: Option<Vec<Term>>,
    writes: bool,
    certain: bool,
}

impl Use {
    /// Whether it reads an element of an array that is behind no pointer, and no constant.
    fn only_reads(&self) -> bool {
        !self.writes
            && !is_constant(&self.place.root)
            && !matches!(self.array, Some(Expr::Paren(_) | Expr::Unary(_)))
    }
}

impl Row {
    fn new(used: &Use, array: &Expr, terms: &[Term], owned: bool) -> Self {
        Self { place: used.place.clone(), array: array.clone(), terms: terms.to_vec(), owned }
    }

    /// Whether a use is one of this row, where its index adds these terms.
    fn is_of(&self, used: &Use, terms: &[Term]) -> bool {
        self.place == used.place && key(&self.terms) == key(terms)
    }
}

impl Serial {
    pub(super) fn new(loop_: &ExprForLoop, number: usize, cx: &Cx) -> Self {
        let variable = variable(loop_).filter(|_| cx.depth() > 0);
        Self {
            number,
            variable,
            scope: cx.scopes(),
            depth: cx.depth(),
            uses: Vec::new(),
            opaque: HashSet::new(),
        }
    }

    /// The innermost loop of a nest that is run as one, with this variable in `scope`: it goes along arrays within each row.
    pub(super) fn of_nest(number: usize, variable: Option<Ident>, scope: usize, cx: &Cx) -> Self {
        Self {
            number,
            variable,
            scope,
            depth: cx.depth(),
            uses: Vec::new(),
            opaque: HashSet::new(),
        }
    }

    /// The arrays that the innermost loop of a nest reads along its rows.
    pub(super) fn reads(&self, owned: &[Owned]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for used in self.uses.iter().filter(|used| used.certain && used.only_reads()) {
            let (Some(terms), Some(array)) = (&used.terms, &used.array) else { continue };
            let own = owned.iter().any(|own| own.place.contains(&used.place));
            if !own && !rows.iter().any(|row| row.is_of(used, terms)) {
                rows.push(Row::new(used, array, terms, false));
            }
        }
        rows
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Notes a use. `index`: it is `place[index]`, in this mode; `certain`: each iteration of the innermost loop does it.
    pub(super) fn note(
        &mut self,
        place: &Place,
        written: &Expr,
        index: Option<(&Expr, &Mode)>,
        certain: bool,
        cx: &Cx,
    ) {
        if cx.depth() != self.depth {
            // A marked loop in between captures it.
            self.variable = None;
        }
        let Some(variable) = &self.variable else { return };
        let terms = index.and_then(|(index, _)| split(index, variable, self.scope, cx));
        let array = match written {
            Expr::Index(index) => Some((*index.expr).clone()),
            _ => None,
        };
        let writes = !matches!(index, Some((_, Mode::Read | Mode::Share)));
        self.uses.push(Use { place: place.clone(), array, terms, writes, certain });
    }

    /// A macro in the body is given these names.
    pub(super) fn note_opaque(&mut self, names: &HashSet<Ident>) {
        self.opaque.extend(names.iter().cloned());
    }

    /// The arrays that the loop goes along. `leaves`: an iteration may leave it, or leave out what follows in it.
    pub(super) fn rows(&self, active: &Active, leaves: bool) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        if leaves {
            // How far the loop comes is not known.
            return rows;
        }
        for used in &self.uses {
            let (Some(terms), Some(array)) = (&used.terms, &used.array) else { continue };
            let own = active.clauses.own.iter().find(|own| own.place.contains(&used.place));
            let same = |other: &Use| other.place == used.place;
            let alike =
                |other: &Use| other.terms.as_ref().is_some_and(|other| key(other) == key(terms));
            let fits = match own {
                // One slice is lent to the whole loop.
                Some(own) => {
                    let around = |other: &Use| other.place.contains(&used.place) && !same(other);
                    own.chunks.is_some()
                        && own.place == used.place
                        && !self.opaque.contains(&used.place.root)
                        && self
                            .uses
                            .iter()
                            .all(|other| if same(other) { alike(other) } else { !around(other) })
                }
                None => used.only_reads(),
            };
            let known = rows.iter().any(|row| row.is_of(used, terms));
            if used.certain && fits && !known {
                rows.push(Row::new(used, array, terms, own.is_some()));
            }
        }
        rows
    }
}

/// The variable of a loop over `a..b`.
pub(crate) fn variable(loop_: &ExprForLoop) -> Option<Ident> {
    let Expr::Range(range) = &*loop_.expr else { return None };
    if range.start.is_none()
        || range.end.is_none()
        || !matches!(range.limits, RangeLimits::HalfOpen(_))
    {
        return None;
    }
    match &*loop_.pat {
        Pat::Ident(pat)
            if pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none() =>
        {
            Some(pat.ident.clone())
        }
        _ => None,
    }
}

/// Terms as they can be compared.
pub(crate) fn key(terms: &[Term]) -> Vec<String> {
    let mut key: Vec<String> = terms
        .iter()
        .map(|term| {
            format!("{}{}", if term.negative { '-' } else { '+' }, term.expr.to_token_stream())
        })
        .collect();
    key.sort();
    key
}

/// What an index adds to the variable of a loop, where all of that stays the same while the loop runs. `scope`: the scope
/// that holds the variable.
pub(crate) fn split(index: &Expr, variable: &Ident, scope: usize, cx: &Cx) -> Option<Vec<Term>> {
    let mut terms = Vec::new();
    let mut found = 0;
    sum(index, false, variable, scope, cx, &mut terms, &mut found)?;
    (found == 1).then_some(terms)
}

fn sum(
    expr: &Expr,
    negative: bool,
    variable: &Ident,
    scope: usize,
    cx: &Cx,
    terms: &mut Vec<Term>,
    found: &mut usize,
) -> Option<()> {
    match expr {
        Expr::Paren(paren) => sum(&paren.expr, negative, variable, scope, cx, terms, found),
        Expr::Group(group) => sum(&group.expr, negative, variable, scope, cx, terms, found),
        Expr::Binary(binary) if matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_)) => {
            let subtracts = matches!(binary.op, BinOp::Sub(_));
            sum(&binary.left, negative, variable, scope, cx, terms, found)?;
            sum(&binary.right, negative != subtracts, variable, scope, cx, terms, found)
        }
        Expr::Path(path) if path.path.get_ident() == Some(variable) => {
            // The variable itself, and not one that hides it.
            let (at, _) = cx.find_in_scope(variable)?;
            *found += 1;
            (at == scope && !negative && !cx.is_clouded(variable)).then_some(())
        }
        expr => {
            is_fixed(expr, scope, cx).then(|| terms.push(Term { negative, expr: expr.clone() }))
        }
    }
}

/// Whether a literal is the same number where nothing says that it is an index, so that it becomes an `i32`.
fn is_number_of_any_type(int: &syn::LitInt) -> bool {
    !int.suffix().is_empty() || int.base10_parse::<i32>().is_ok()
}

/// Whether an expression is made of literals without a type.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => is_literal(&paren.expr),
        Expr::Group(group) => is_literal(&group.expr),
        Expr::Binary(binary) => is_literal(&binary.left) && is_literal(&binary.right),
        Expr::Lit(lit) => matches!(&lit.lit, syn::Lit::Int(int) if int.suffix().is_empty()),
        _ => false,
    }
}

/// Whether an expression has the same value in all iterations of the loop whose variable is in `scope`, and can be computed
/// before it.
fn is_fixed(expr: &Expr, scope: usize, cx: &Cx) -> bool {
    match expr {
        Expr::Paren(paren) => is_fixed(&paren.expr, scope, cx),
        Expr::Group(group) => is_fixed(&group.expr, scope, cx),
        Expr::Lit(lit) => matches!(&lit.lit, syn::Lit::Int(int) if is_number_of_any_type(int)),
        Expr::Cast(cast) => is_fixed(&cast.expr, scope, cx),
        Expr::Binary(binary) => {
            // Literals alone are numbers of another type outside of the index.
            !(is_literal(&binary.left) && is_literal(&binary.right))
                && matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_))
                && is_fixed(&binary.left, scope, cx)
                && is_fixed(&binary.right, scope, cx)
        }
        Expr::Path(_) | Expr::Field(_) => {
            let Some(place) = Place::of(expr) else { return false };
            if cx.is_clouded(&place.root) {
                return false;
            }
            match cx.find_in_scope(&place.root) {
                // What the marked loop captures, nobody changes.
                Some((_, binding)) if binding.depth < cx.depth() => true,
                // So are the indices of outer loops that are joined, within a row.
                Some((at, binding)) => {
                    (at < scope || cx.is_outer_of_nest(binding))
                        && !binding.mutable
                        && place.is_name()
                }
                None => is_constant(&place.root) && place.is_name(),
            }
        }
        _ => false,
    }
}
