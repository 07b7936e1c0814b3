//! Going through a function, in the order in which it is run, with the names and the flow of control in view.
//!
//! A [`Pass`] is told of what matters to the language: places and how they are used, exits, marked loops. It can put
//! something else in the place of what it is shown.

use proc_macro2::Ident;
use syn::{Attribute, Block, Expr, ExprClosure, ExprForLoop, Item, Local, Macro, Pat, Stmt, Type};

use super::cx::{Control, Cx, Exit, Goes, Means};
use super::index::{Kind, judge};
use super::{macros, methods, reductions, signed};
use crate::ast::mark_of;
use crate::attr::{Operator, Place};

/// How a place is used.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    Read,
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

pub(crate) fn walk_block<P: Pass>(pass: &mut P, block: &mut Block) {
    pass.cx().open();
    walk_stmts(pass, &mut block.stmts);
    pass.cx().close();
}

pub(crate) fn walk_stmts<P: Pass>(pass: &mut P, stmts: &mut [Stmt]) {
    pass.cx().bind_items(stmts);
    for stmt in stmts {
        if is_conditional(stmt) {
            // It may be left out when compiling.
            let names = match &*stmt {
                Stmt::Local(local) => super::source::names(&local.pat),
                Stmt::Macro(mac) => macros::names(mac.mac.tokens.clone()).into_iter().collect(),
                _ => Vec::new(),
            };
            branch(pass, |pass| {
                pass.cx().open();
                walk_stmt(pass, stmt);
                pass.cx().close();
            });
            pass.cx().cloud(names);
            continue;
        }
        walk_stmt(pass, stmt);
    }
}

/// Whether a statement is compiled only under a condition.
fn is_conditional(stmt: &Stmt) -> bool {
    let attributes: &[Attribute] = match stmt {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(mac) => &mac.attrs,
        Stmt::Expr(expr, _) => first_attributes(expr),
        Stmt::Item(_) => &[],
    };
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

/// The attributes before an expression, which stand at the first operand.
fn first_attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Assign(e) => first_attributes(&e.left),
        Expr::Binary(e) => first_attributes(&e.left),
        Expr::Cast(e) => first_attributes(&e.expr),
        Expr::Block(e) => &e.attrs,
        Expr::Break(e) => &e.attrs,
        Expr::Call(e) => &e.attrs,
        Expr::Continue(e) => &e.attrs,
        Expr::Field(e) => &e.attrs,
        Expr::ForLoop(e) => &e.attrs,
        Expr::If(e) => &e.attrs,
        Expr::Index(e) => &e.attrs,
        Expr::Loop(e) => &e.attrs,
        Expr::Macro(e) => &e.attrs,
        Expr::Match(e) => &e.attrs,
        Expr::MethodCall(e) => &e.attrs,
        Expr::Paren(e) => &e.attrs,
        Expr::Path(e) => &e.attrs,
        Expr::Return(e) => &e.attrs,
        Expr::Try(e) => &e.attrs,
        Expr::Unary(e) => &e.attrs,
        Expr::Unsafe(e) => &e.attrs,
        Expr::While(e) => &e.attrs,
        _ => &[],
    }
}

fn walk_stmt<P: Pass>(pass: &mut P, stmt: &mut Stmt) {
    match stmt {
        Stmt::Local(local) => walk_local(pass, local),
        Stmt::Item(item) => pass.item(item),
        Stmt::Expr(expr, semi) => {
            if semi.is_some() {
                walk_dropped(pass, expr);
            } else {
                walk(pass, expr);
            }
        }
        Stmt::Macro(mac) => {
            walk_macro(pass, &mut mac.mac);
            if macros::arguments(&mac.mac, pass.cx()).is_none() {
                pass.cx().cloud(macros::names(mac.mac.tokens.clone()));
            }
        }
    }
}

/// Walks something whose value is thrown away.
fn walk_dropped<P: Pass>(pass: &mut P, expr: &mut Expr) {
    let Expr::MethodCall(call) = expr else { return walk(pass, expr) };
    let changes = methods::is_mutating(&call.method.to_string());
    pass.cx().drop_value();
    walk(pass, expr);
    // It may be there for not coming back.
    if !changes {
        pass.cx().may_diverge();
    }
}

fn walk_local<P: Pass>(pass: &mut P, local: &mut Local) {
    let mark = match local.init.as_ref().map(|init| &*init.expr) {
        Some(Expr::ForLoop(expr)) => mark_of(&expr.attrs),
        _ => None,
    };
    if let Some(mark) = mark {
        pass.yielding(local, mark);
        pass.cx().bind_pattern(&local.pat);
        return;
    }
    let mut means = Means::Value;
    let mut mutable = false;
    if let Some(init) = &mut local.init {
        let depth = pass.cx().depth();
        if depth > 0 {
            means = match judge(&init.expr, pass.cx(), depth) {
                Kind::Unknown => Means::Value,
                kind => Means::Alias(kind),
            };
        }
        mutable =
            matches!(&*init.expr, Expr::Reference(reference) if reference.mutability.is_some());
        if matches!(local.pat, Pat::Wild(_)) {
            walk_dropped(pass, &mut init.expr);
        } else {
            walk(pass, &mut init.expr);
        }
        if let Some((_, diverge)) = &mut init.diverge {
            let exits = pass.cx().exits();
            branch(pass, |pass| walk(pass, diverge));
            if pass.cx().exits() == exits {
                // It does not come back, in a way that cannot be seen.
                pass.cx().exit_all();
            }
            pass.cx().bind_case(&local.pat, mutable);
            return;
        }
    }
    pass.cx().bind_names(&local.pat, mutable, &means);
    signed::note(pass.cx(), &local.pat, local.init.as_ref().map(|init| &*init.expr));
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
            let mode = if reference.mutability.is_some() { Mode::Borrow } else { Mode::Read };
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
            walk(pass, &mut let_.expr);
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

/// Expressions that hold blocks.
fn walk_block_like<P: Pass>(pass: &mut P, expr: &mut Expr) {
    match expr {
        Expr::Block(block) => {
            let label = block.label.as_ref().map(|label| label.name.ident.to_string());
            pass.cx().enter(Control::Block { label });
            walk_block(pass, &mut block.block);
            pass.cx().leave();
        }
        Expr::Unsafe(block) => {
            pass.cx().enter_unsafe();
            walk_block(pass, &mut block.block);
            pass.cx().leave_unsafe();
        }
        Expr::Const(block) => body(pass, None, |pass| walk_block(pass, &mut block.block)),
        Expr::TryBlock(block) => {
            pass.cx().enter(Control::Try);
            branch(pass, |pass| walk_block(pass, &mut block.block));
            pass.cx().leave();
        }
        Expr::Async(block) => body(pass, None, |pass| walk_block(pass, &mut block.block)),
        Expr::Closure(closure) => walk_closure(pass, closure),
        Expr::If(_) => {
            // What the condition binds is seen in the first branch only.
            pass.cx().open();
            if pass.conditional(expr) {
                pass.cx().close();
                return;
            }
            let Expr::If(if_) = expr else { return pass.cx().close() };
            walk(pass, &mut if_.cond);
            branch(pass, |pass| walk_block(pass, &mut if_.then_branch));
            pass.cx().close();
            if let Some((_, otherwise)) = &mut if_.else_branch {
                branch(pass, |pass| walk(pass, otherwise));
            }
        }
        Expr::Match(match_) => {
            walk(pass, &mut match_.expr);
            for arm in &mut match_.arms {
                branch(pass, |pass| {
                    pass.cx().open();
                    pass.cx().bind_case(&arm.pat, false);
                    if let Pat::Guard(guarded) = &mut arm.pat {
                        walk(pass, &mut guarded.guard);
                    }
                    walk(pass, &mut arm.body);
                    pass.cx().close();
                });
            }
        }
        Expr::ForLoop(loop_) => {
            if let Some(mark) = mark_of(&loop_.attrs) {
                pass.marked(expr, mark);
                return;
            }
            pass.serial(expr);
        }
        Expr::While(loop_) => {
            let label = loop_.label.as_ref().map(|label| label.name.ident.to_string());
            pass.cx().enter(Control::Loop { label, round: false });
            branch(pass, |pass| {
                pass.cx().open();
                walk(pass, &mut loop_.cond);
                walk_block(pass, &mut loop_.body);
                pass.cx().close();
            });
            pass.cx().leave();
        }
        Expr::Loop(loop_) => {
            let label = loop_.label.as_ref().map(|label| label.name.ident.to_string());
            pass.cx().enter(Control::Loop { label, round: false });
            branch(pass, |pass| walk_block(pass, &mut loop_.body));
            pass.cx().leave();
        }
        _ => {}
    }
}

/// A serial loop; true if an iteration may leave it.
pub(crate) fn walk_for<P: Pass>(pass: &mut P, loop_: &mut ExprForLoop) -> bool {
    walk(pass, &mut loop_.expr);
    let label = loop_.label.as_ref().map(|label| label.name.ident.to_string());
    pass.cx().enter(Control::Loop { label, round: true });
    let mut leaves = false;
    branch(pass, |pass| {
        pass.cx().begin_round(false);
        pass.cx().open();
        pass.cx().bind_names(&loop_.pat, false, &Means::InnerIndex);
        walk_block(pass, &mut loop_.body);
        pass.cx().close();
        leaves = pass.cx().end_round();
    });
    pass.cx().leave();
    leaves
}

fn walk_closure<P: Pass>(pass: &mut P, closure: &mut ExprClosure) {
    let returns = match &closure.output {
        syn::ReturnType::Type(_, ty) => Some(ty.clone()),
        syn::ReturnType::Default => None,
    };
    body(pass, returns, |pass| {
        for input in &closure.inputs {
            pass.cx().bind_pattern(input);
        }
        walk(pass, &mut closure.body);
    });
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

fn walk_macro<P: Pass>(pass: &mut P, mac: &mut Macro) {
    let Some(mut arguments) = macros::arguments(mac, pass.cx()) else {
        pass.cx().exit_all();
        pass.opaque(mac);
        return;
    };
    pass.standard(mac);
    let captures = macros::captures(mac, &arguments);
    if macros::writes_to_first(mac)
        && let Some(first) = arguments.exprs.first_mut()
    {
        let name = Ident::new("write_fmt", mac.path.segments[0].ident.span());
        walk_place(pass, first, &Mode::Method { name, dropped: true, swaps: false });
    }
    let skip = usize::from(macros::writes_to_first(mac));
    let certain = macros::certain_arguments(mac);
    for (i, argument) in arguments.exprs.iter_mut().enumerate().skip(skip) {
        if i >= certain {
            branch(pass, |pass| walk_argument(pass, argument));
        } else {
            walk_argument(pass, argument);
        }
    }
    if let Some((_, count)) = &mut arguments.count {
        walk(pass, count);
    }
    if let Some(case) = &mut arguments.case
        && let Some((_, guard)) = &mut case.guard
    {
        branch(pass, |pass| {
            pass.cx().open();
            pass.cx().bind_case(&case.pat, false);
            walk(pass, guard);
            pass.cx().close();
        });
    }
    for name in captures {
        // It is read where it stands, and nothing else can be put there.
        let mut name = syn::parse_quote!(#name);
        branch(pass, |pass| walk(pass, &mut name));
    }
    if macros::may_panic(mac) {
        pass.cx().exit_all();
    }
    arguments.put_back(mac);
}

/// An argument may be `name = value`, which assigns nothing.
fn walk_argument<P: Pass>(pass: &mut P, argument: &mut Expr) {
    match argument {
        Expr::Assign(named) => walk(pass, &mut named.right),
        argument => walk(pass, argument),
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
