//! Going through a function, in the order in which it is run, with the names and the flow of control in view.
//!
//! A [`Pass`] is told of what matters to the language: places and how they are used, exits, marked loops. It can put
//! something else in the place of what it is shown.

mod blocks;
mod macros;
mod statements;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Expr, Item, Local, Macro, Pat, PatIdent, Type};

use super::cx::{Control, Cx, Exit, Goes};
use super::{methods, reductions};
use crate::attr::{Operator, Place};
use blocks::walk_block_like;
pub(crate) use blocks::walk_for;
use macros::walk_macro;
use statements::walk_dropped;
pub(crate) use statements::{walk_block, walk_stmts};

/// How a place is used.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    Read,
    /// `&` is taken of it.
    Share,
    /// It is assigned to; if that looks like accumulating, with this operator.
    Write(Option<Operator>),
    /// `&mut` is taken of it.
    Borrow,
    /// This method is called on it, which may need it mutable.
    Method {
        name: Ident,
        /// Whether its value is thrown away.
        dropped: bool,
        /// Whether it is `swap(a, b)` of two elements.
        swaps: bool,
    },
}

impl Mode {
    /// Whether it is nothing that certainly changes the place.
    pub(crate) fn may_only_read(&self) -> bool {
        matches!(self, Self::Read | Self::Share | Self::Method { .. })
    }
}

/// What goes through a function.
pub(crate) trait Pass: Sized {
    fn cx(&mut self) -> &mut Cx;

    /// A place that is used as a whole.
    fn place(&mut self, expr: &mut Expr, place: &Place, mode: &Mode);

    /// `place[index]`. The pass goes on into the index itself.
    fn index(&mut self, expr: &mut Expr, place: &Place, mode: &Mode);

    /// `place.len()` or `place.is_empty()`.
    fn length(&mut self, expr: &mut Expr, place: &Place);

    /// An assignment, or an operation that assigns. True if the pass has dealt with it.
    fn assignment(&mut self, expr: &mut Expr) -> bool;

    /// An `if`. True if the pass has dealt with it.
    fn conditional(&mut self, expr: &mut Expr) -> bool;

    /// A jump or `?` that leaves or ends the body of a marked loop. The expression that goes along has been walked.
    fn exit(&mut self, expr: &mut Expr, goes: Goes);

    /// A marked loop.
    fn marked(&mut self, expr: &mut Expr, mark: usize);

    /// A `for` loop that is not marked: [`walk_for`].
    fn serial(&mut self, expr: &mut Expr);

    /// A marked loop that yields: `let .. = for ..;`
    fn yielding(&mut self, local: &mut Local, mark: usize);

    /// `.await`, or `yield`.
    fn suspension(&mut self, expr: &Expr);

    /// A macro whose arguments cannot be understood.
    fn opaque(&mut self, mac: &Macro);

    /// A macro of the standard library.
    fn standard(&mut self, mac: &Macro);

    /// Something that is not looked into, since it is an item of its own.
    fn item(&mut self, item: &mut Item);
}

/// Walks something that is not run in every iteration.
pub(super) fn branch<P: Pass>(pass: &mut P, inside: impl FnOnce(&mut P)) {
    pass.cx().enter_branch();
    inside(pass);
    pass.cx().leave_branch();
}

/// Walks the body of a closure, async block or the like.
fn body<P: Pass>(pass: &mut P, returns: Option<Box<Type>>, inside: impl FnOnce(&mut P)) {
    branch(pass, |pass| {
        let exits = pass.cx().exits();
        pass.cx().enter(Control::Body { returns });
        pass.cx().open();
        inside(pass);
        pass.cx().close();
        pass.cx().leave();
        pass.cx().restore_exits(&exits);
    });
}

/// Walks an expression that is read.
pub(crate) fn walk<P: Pass>(pass: &mut P, expr: &mut Expr) {
    match expr {
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => walk_place(pass, expr, &Mode::Read),
        Expr::Paren(paren) => walk(pass, &mut paren.expr),
        Expr::Group(group) => walk(pass, &mut group.expr),
        Expr::Array(array) => array.elems.iter_mut().for_each(|e| walk(pass, e)),
        Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(|e| walk(pass, e)),
        Expr::Assign(_) => {
            if pass.assignment(expr) {
                return;
            }
            let Expr::Assign(assign) = expr else { return };
            let operator = reductions::resembles(assign);
            if matches!(*assign.left, Expr::Infer(_)) {
                walk_dropped(pass, &mut assign.right);
            } else {
                walk(pass, &mut assign.right);
            }
            walk_assigned(pass, &mut assign.left, operator);
        }
        Expr::Binary(binary) if is_assigning(&binary.op) => {
            if pass.assignment(expr) {
                return;
            }
            let Expr::Binary(binary) = expr else { return };
            let operator = reductions::of_assignment(&binary.op);
            walk(pass, &mut binary.right);
            walk_place(pass, &mut binary.left, &Mode::Write(operator));
        }
        Expr::Binary(binary) => {
            walk(pass, &mut binary.left);
            if matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) {
                branch(pass, |pass| walk(pass, &mut binary.right));
            } else {
                walk(pass, &mut binary.right);
            }
        }
        Expr::Unary(unary) => {
            if matches!(unary.op, syn::UnOp::Deref(_)) {
                walk_place(pass, expr, &Mode::Read);
            } else {
                walk(pass, &mut unary.expr);
            }
        }
        Expr::Reference(reference) => {
            let mode = if reference.mutability.is_some() { Mode::Borrow } else { Mode::Share };
            walk_place(pass, &mut reference.expr, &mode);
        }
        Expr::RawAddr(raw) => {
            let mutable = matches!(raw.mutability, syn::PointerMutability::Mut(_));
            walk_place(pass, &mut raw.expr, if mutable { &Mode::Borrow } else { &Mode::Read });
        }
        Expr::Call(call) => {
            walk(pass, &mut call.func);
            call.args.iter_mut().for_each(|e| walk(pass, e));
            if !comes_back(&call.func) {
                pass.cx().may_diverge();
            }
        }
        Expr::MethodCall(call) => {
            let dropped = pass.cx().takes_no_value();
            if (call.method == "len" || call.method == "is_empty")
                && call.args.is_empty()
                && let Some(place) = Place::of(&call.receiver)
            {
                pass.length(expr, &place);
                return;
            }
            let swaps = methods::swaps_elements(call);
            let mode = Mode::Method { name: call.method.clone(), dropped, swaps };
            walk_place(pass, &mut call.receiver, &mode);
            call.args.iter_mut().for_each(|e| walk(pass, e));
        }
        Expr::Cast(cast) => walk(pass, &mut cast.expr),
        Expr::Let(let_) => {
            walk_matched(pass, &mut let_.expr, [&*let_.pat]);
            let mutable = matches!(&*let_.expr, Expr::Reference(r) if r.mutability.is_some());
            pass.cx().bind_case(&let_.pat, mutable);
        }
        Expr::Range(range) => {
            for end in [&mut range.start, &mut range.end].into_iter().flatten() {
                walk(pass, end);
            }
        }
        Expr::Repeat(repeat) => walk(pass, &mut repeat.expr),
        Expr::Struct(literal) => {
            for field in &mut literal.fields {
                walk(pass, &mut field.expr);
                if field.colon_token.is_none()
                    && !matches!(&field.expr, Expr::Path(p) if p.path.get_ident().is_some())
                {
                    field.colon_token = Some(syn::token::Colon::default());
                }
            }
            if let Some(rest) = &mut literal.rest {
                walk(pass, rest);
            }
        }
        Expr::Try(try_) => {
            walk(pass, &mut try_.expr);
            exit(pass, expr);
        }
        Expr::Return(jump) => {
            if let Some(value) = &mut jump.expr {
                walk(pass, value);
            }
            exit(pass, expr);
        }
        Expr::Break(jump) => {
            if let Some(value) = &mut jump.expr {
                walk(pass, value);
            }
            exit(pass, expr);
        }
        Expr::Continue(_) => exit(pass, expr),
        Expr::Await(await_) => {
            walk(pass, &mut await_.base);
            pass.suspension(expr);
        }
        Expr::Yield(yield_) => {
            if let Some(value) = &mut yield_.expr {
                walk(pass, value);
            }
            pass.suspension(expr);
        }
        Expr::Macro(mac) => walk_macro(pass, &mut mac.mac),
        _ => walk_block_like(pass, expr),
    }
}

/// Walks something that is assigned to, which may be several places: `(a, b) = ..`.
fn walk_assigned<P: Pass>(pass: &mut P, expr: &mut Expr, operator: Option<Operator>) {
    match expr {
        Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(|e| walk_assigned(pass, e, None)),
        Expr::Array(array) => array.elems.iter_mut().for_each(|e| walk_assigned(pass, e, None)),
        Expr::Struct(literal) => {
            literal.fields.iter_mut().for_each(|f| walk_assigned(pass, &mut f.expr, None));
        }
        Expr::Call(call) => call.args.iter_mut().for_each(|e| walk_assigned(pass, e, None)),
        Expr::Infer(_) | Expr::Range(_) => {}
        _ => walk_place(pass, expr, &Mode::Write(operator)),
    }
}

/// Walks something that is matched with patterns, which may take references to its parts.
fn walk_matched<'p, P: Pass>(
    pass: &mut P,
    expr: &mut Expr,
    patterns: impl IntoIterator<Item = &'p Pat>,
) {
    let mut references = References::default();
    patterns.into_iter().for_each(|pattern| references.visit_pat(pattern));
    match references {
        References { mutable: true, .. } => walk_place(pass, expr, &Mode::Borrow),
        References { shared: true, .. } => walk_place(pass, expr, &Mode::Share),
        References { .. } => walk(pass, expr),
    }
}

/// Whether patterns have a `ref` or a `ref mut`.
#[derive(Default)]
struct References {
    shared: bool,
    mutable: bool,
}

impl Visit<'_> for References {
    fn visit_pat_ident(&mut self, ident: &PatIdent) {
        self.mutable |= ident.by_ref.is_some() && ident.mutability.is_some();
        self.shared |= ident.by_ref.is_some();
        visit::visit_pat_ident(self, ident);
    }
}

/// Walks something that may be a place, and is used in this way.
pub(crate) fn walk_place<P: Pass>(pass: &mut P, expr: &mut Expr, mode: &Mode) {
    if let Some(place) = Place::of(expr) {
        pass.place(expr, &place, mode);
        return;
    }
    match expr {
        Expr::Index(index) => match Place::of(&index.expr) {
            Some(place) => pass.index(expr, &place, mode),
            None => {
                walk_place(pass, &mut index.expr, mode);
                walk(pass, &mut index.index);
            }
        },
        Expr::Field(field) => walk_place(pass, &mut field.base, mode),
        Expr::Paren(paren) => walk_place(pass, &mut paren.expr, mode),
        Expr::Group(group) => walk_place(pass, &mut group.expr, mode),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
            walk_place(pass, &mut unary.expr, mode);
        }
        // A path of several parts names an item.
        Expr::Path(_) => {}
        _ => walk(pass, expr),
    }
}

/// What an expression that jumps is.
pub(crate) fn exit_of(expr: &Expr) -> Exit<'_> {
    match expr {
        Expr::Break(jump) => Exit::Break(jump.label.as_ref()),
        Expr::Continue(jump) => Exit::Continue(jump.label.as_ref()),
        Expr::Return(_) => Exit::Return,
        _ => Exit::Try,
    }
}

/// An expression that may leave the body of a marked loop.
fn exit<P: Pass>(pass: &mut P, expr: &mut Expr) {
    let exit = exit_of(expr);
    let goes = pass.cx().goes(exit);
    match exit {
        // Where a labelled block or an outer serial loop ends is not looked at more closely.
        Exit::Break(Some(_)) | Exit::Continue(Some(_)) | Exit::Return | Exit::Try => {
            pass.cx().exit_all();
        }
        Exit::Break(None) | Exit::Continue(None) => pass.cx().exit_innermost(),
    }
    if goes != Goes::Within {
        pass.exit(expr, goes);
    }
}

pub(crate) fn is_assigning(op: &syn::BinOp) -> bool {
    use syn::BinOp::{
        AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign, RemAssign,
        ShlAssign, ShrAssign, SubAssign,
    };
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

/// Whether a call of this function certainly comes back. Only a guess, on the safe side where it matters: what stands in a
/// branch and does not come back keeps what follows from being certain.
fn comes_back(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let name = last.ident.to_string();
    // Variants and tuple structs, and what everyone calls.
    name.starts_with(char::is_uppercase)
        || matches!(
            name.as_str(),
            "from" | "new" | "default" | "min" | "max" | "swap" | "replace" | "take" | "drop"
        )
}
