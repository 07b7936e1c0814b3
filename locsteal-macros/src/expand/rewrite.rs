//! Writing the bodies of marked loops anew.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprForLoop, Item, Lifetime, Local, Macro};

use super::Hidden;
use super::output::{self, Exits};
use super::rows;
use crate::ast::level_mut;
use crate::attr::Place;
use crate::valid::arrays::view_of;
use crate::valid::cx::{Control, Cx, Goes, Means};
use crate::valid::index::{judge, of_row};
use crate::valid::rows::{Row, key, split, variable};
use crate::valid::walk::{self, Mode, Pass};
use crate::valid::{Facts, Function, LoopFacts};

/// Replaces the marked loops of a function.
pub(super) fn rewrite(function: &Function<'_>, block: &mut Block, facts: &Facts, hidden: &Hidden) {
    let mut rewriter =
        Rewriter { cx: function.cx(), facts, hidden, active: Vec::new(), serial: Vec::new() };
    walk::walk_stmts(&mut rewriter, &mut block.stmts);
}

struct Rewriter<'a> {
    cx: Cx,
    facts: &'a Facts,
    hidden: &'a Hidden,
    active: Vec<Active<'a>>,
    /// The serial loops around this point that go along arrays.
    serial: Vec<Serial<'a>>,
}

/// A serial loop that goes along arrays, or the innermost loop of a nest that is run as one, whose body is being written.
pub(super) struct Serial<'a> {
    pub(super) rows: &'a [Row],
    pub(super) names: rows::Names,
    /// None of a nest whose loops have none.
    variable: Option<Ident>,
    /// The scope that holds the variable.
    scope: usize,
    depth: usize,
    /// Which of the rows are used.
    pub(super) used: HashSet<usize>,
}

/// A marked loop whose body is being written.
struct Active<'a> {
    facts: &'a LoopFacts,
    names: output::Names,
    exits: Exits,
    /// Which of the views are used.
    views: HashSet<usize>,
}

/// What a captured place is, seen from inside of marked loops.
enum Found {
    /// Owned by the `loop_`-th active loop, as its `array`-th.
    Owned { loop_: usize, array: usize },
    /// Reduced by the innermost loop, as its `variable`-th.
    Reduced { variable: usize },
}

impl Rewriter<'_> {
    /// What a place is.
    fn find(&self, place: &Place) -> Option<Found> {
        for loop_ in (0..self.active.len()).rev() {
            let depth = loop_ + 1;
            if !self.cx.is_captured(&place.root, depth) {
                return None;
            }
            let facts = self.active[loop_].facts;
            if let Some(array) = facts.owned.iter().position(|owned| owned.place == *place) {
                return Some(Found::Owned { loop_, array });
            }
            if let Some(variable) = facts.reductions.iter().position(|r| r.place.contains(place)) {
                return Some(Found::Reduced { variable })
                    .filter(|_| loop_ + 1 == self.active.len());
            }
        }
        None
    }

    /// The name that stands for an owned array in a body.
    fn window(&self, loop_: usize, array: usize, place: &Place) -> TokenStream {
        let active = &self.active[loop_];
        if active.facts.owned[array].place.is_name() {
            place.root.to_token_stream()
        } else {
            active.names.window(array).to_token_stream()
        }
    }

    /// Reads or writes an element through the row of a serial loop, if it is of one.
    fn row(&mut self, expr: &mut Expr, place: &Place, mode: &Mode) -> bool {
        let depth = self.cx.depth();
        let Expr::Index(index) = expr else { return false };
        if depth == 0 || !self.cx.is_captured(&place.root, depth) || self.cx.is_clouded(&place.root)
        {
            return false;
        }
        let found = self.serial.iter().enumerate().rev().find_map(|(at, serial)| {
            if serial.depth != depth {
                return None;
            }
            let variable = serial.variable.as_ref()?;
            let terms = split(&index.index, variable, serial.scope, &self.cx)?;
            let fits = |row: &Row| row.place == *place && key(&row.terms) == key(&terms);
            serial.rows.iter().position(fits).map(|row| (at, row))
        });
        let Some((at, row)) = found else { return false };
        walk::walk(self, &mut index.index);
        let serial = &mut self.serial[at];
        serial.used.insert(row);
        let span = Span::mixed_site().located_at(index.expr.span());
        let mut name = serial.names.row(row);
        name.set_span(span);
        if serial.rows[row].owned {
            let (mut at, inner, field) =
                (serial.names.at(row), &index.index, Ident::new("window", span));
            at.set_span(span);
            let offset = quote_spanned!(span=> #at.offset(#inner));
            let mut tokens = quote_spanned!(span=> #name.#field);
            index.bracket_token.surround(&mut tokens, |tokens| tokens.extend(offset));
            *expr = Expr::Verbatim(tokens);
        } else {
            read_through(expr, name, mode, self.hidden);
        }
        true
    }

    /// Replaces a loop.
    fn marked_loop(&mut self, expr: &mut ExprForLoop, mark: usize, yields: bool) -> TokenStream {
        let facts = &self.facts.loops[&mark];
        let joined = facts.clauses.collapse.as_ref().map_or(1, |clause| clause.value);
        for level in 0..joined {
            walk::walk(self, &mut level_mut(expr, level).expr);
        }
        let names = output::Names::new(self.active.len(), expr.for_token.span);
        let label =
            level_mut(expr, joined - 1).label.as_ref().map(|label| label.name.ident.to_string());
        self.cx.enter(Control::Marked { label });
        self.cx.begin_round(true);
        let scope = self.cx.scopes();
        self.cx.open();
        for level in 0..joined {
            self.cx.bind_pattern(&level_mut(expr, level).pat);
        }
        let depth = self.cx.depth();
        for (level, name) in facts.nest.iter().enumerate() {
            self.cx.bind(name, false, Means::Nested(depth, level));
        }
        if let Some(index) = &facts.index {
            self.cx.bind(&index.name, false, Means::Index(depth));
        }
        for local in &facts.clauses.local {
            self.cx.bind(&local.name, true, Means::Value);
        }
        self.active.push(Active { facts, names, exits: Exits::default(), views: HashSet::new() });
        let nest = facts.clauses.collapse.is_some();
        if nest {
            let number = self.cx.number_serial();
            let rows = self.facts.rows.get(&number).map_or(&[][..], Vec::as_slice);
            self.serial.push(Serial {
                rows,
                names: rows::Names::new(number, expr.for_token.span),
                variable: facts.nest.last().cloned(),
                scope,
                depth,
                used: HashSet::new(),
            });
        }
        walk::walk_block(self, &mut level_mut(expr, joined - 1).body);
        let along_rows = if nest { self.serial.pop() } else { None };
        self.cx.close();
        self.cx.leave();
        self.cx.end_round();
        let Some(active) = self.active.pop() else { return TokenStream::new() };
        let Active { names, exits, views, .. } = active;
        // What leaves this loop may leave one further out as well.
        let mut ways = Vec::new();
        for mut way in exits.ways() {
            walk::walk(self, &mut way);
            ways.push(way);
        }
        output::Output {
            expr,
            facts,
            names: &names,
            exits: &exits,
            ways: &ways,
            views: &views,
            along_rows: along_rows.as_ref(),
            hidden: &self.hidden.at(names.span()),
            yields,
        }
        .tokens()
    }
}

impl Pass for Rewriter<'_> {
    fn cx(&mut self) -> &mut Cx {
        &mut self.cx
    }

    fn place(&mut self, expr: &mut Expr, place: &Place, _mode: &Mode) {
        let name = match self.find(place) {
            Some(Found::Owned { loop_, array }) if !place.is_name() => {
                self.window(loop_, array, place)
            }
            Some(Found::Reduced { variable }) => {
                let active = &self.active[self.active.len() - 1];
                let reduction = &active.facts.reductions[variable];
                if !reduction.renamed {
                    return;
                }
                let name = active.names.reduced(variable);
                let rest = &place.fields[reduction.place.fields.len()..];
                quote_spanned!(expr.span()=> #name #(. #rest)*)
            }
            _ => return,
        };
        *expr = Expr::Verbatim(name);
    }

    fn index(&mut self, expr: &mut Expr, place: &Place, mode: &Mode) {
        if self.row(expr, place, mode) {
            return;
        }
        let Expr::Index(index) = expr else { return };
        let depth = self.cx.depth();
        let kind = (depth > 0).then(|| judge(&index.index, &self.cx, depth));
        walk::walk(self, &mut index.index);
        let found = self.find(place);
        if let Some(Found::Owned { loop_, array }) = found {
            let owned = &self.active[loop_].facts.owned[array];
            let at = self.active[loop_].names.at(array);
            let window = self.window(loop_, array, place);
            let inner = &index.index;
            // The names are the generated code's, the places the user's: for what the compiler may have to say.
            let span = Span::mixed_site().located_at(index.expr.span());
            let offset = match &**inner {
                Expr::Range(_) if owned.chunks.is_some() => {
                    quote_spanned!(span=> #at.range(#inner))
                }
                inner if owned.chunks.is_some() && may_be_range(inner) => {
                    quote_spanned!(span=> #at.place(#inner))
                }
                inner => quote_spanned!(span=> #at.offset(#inner)),
            };
            let field = Ident::new("window", span);
            let mut tokens = quote_spanned!(span=> #window.#field);
            let bracket = index.bracket_token;
            if let Some((first, others)) = of_row(inner).filter(|_| owned.rows) {
                let others = match others.as_slice() {
                    [other] => other.to_token_stream(),
                    others => quote_spanned!(span=> [#(#others),*]),
                };
                bracket.surround(&mut tokens, |tokens| {
                    tokens.extend(quote_spanned!(span=> #at.offset(#first)));
                });
                bracket.surround(&mut tokens, |tokens| tokens.extend(others));
            } else {
                bracket.surround(&mut tokens, |tokens| tokens.extend(offset));
            }
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if let (None, Some(kind), Some(active)) = (&found, kind, self.active.last_mut())
            && mode.may_only_read()
            && self.cx.is_captured(&place.root, depth)
            && !self.cx.is_clouded(&place.root)
            && let Some((view, _)) = view_of(&active.facts.reads, place, &kind)
        {
            active.views.insert(view);
            let name = active.names.view(view).clone();
            read_through(expr, name, mode, self.hidden);
            return;
        }
        walk::walk_place(self, &mut index.expr, mode);
    }

    fn length(&mut self, expr: &mut Expr, place: &Place) {
        if let Expr::MethodCall(call) = expr {
            self.place(&mut call.receiver, place, &Mode::Read);
        }
    }

    fn assignment(&mut self, _: &mut Expr) -> bool {
        false
    }

    fn conditional(&mut self, _: &mut Expr) -> bool {
        false
    }

    fn exit(&mut self, expr: &mut Expr, goes: Goes) {
        // A `break` and a `continue` of the loop itself are those of the loop around the body.
        if goes == Goes::Native {
            return;
        }
        let returns = self.cx.returns().cloned();
        if let Some(active) = self.active.last_mut() {
            let leave = active.exits.leave(expr, returns.as_ref(), &active.names, self.hidden);
            *expr = Expr::Verbatim(leave);
        }
    }

    fn marked(&mut self, expr: &mut Expr, mark: usize) {
        if let Expr::ForLoop(loop_) = expr {
            let tokens = self.marked_loop(loop_, mark, false);
            *expr = Expr::Verbatim(tokens);
        }
    }

    fn serial(&mut self, expr: &mut Expr) {
        let Expr::ForLoop(loop_) = expr else { return };
        let number = self.cx.number_serial();
        let (Some(rows), Some(variable)) = (self.facts.rows.get(&number), variable(loop_)) else {
            walk::walk_for(self, loop_);
            return;
        };
        let names = rows::Names::new(number, loop_.for_token.span);
        // The scope of the variable is the next one to be opened.
        let (scope, depth) = (self.cx.scopes(), self.cx.depth());
        let variable = Some(variable);
        self.serial.push(Serial { rows, names, variable, scope, depth, used: HashSet::new() });
        walk::walk_for(self, loop_);
        let Some(serial) = self.serial.pop() else { return };
        if serial.used.is_empty() {
            return;
        }
        let windows: Vec<Option<rows::Window>> = rows
            .iter()
            .map(|row| match self.find(&row.place) {
                Some(Found::Owned { loop_, array }) if row.owned => Some(rows::Window {
                    name: self.window(loop_, array, &row.place),
                    at: self.active[loop_].names.at(array),
                }),
                _ => None,
            })
            .collect();
        let hidden = self.hidden.at(Span::mixed_site().located_at(loop_.for_token.span));
        let tokens = rows::tokens(loop_, &serial.names, rows, &serial.used, &windows, &hidden);
        *expr = Expr::Verbatim(tokens);
    }

    fn yielding(&mut self, local: &mut Local, mark: usize) {
        if let Some(init) = &mut local.init
            && let Expr::ForLoop(loop_) = &mut *init.expr
        {
            let tokens = self.marked_loop(loop_, mark, true);
            *init.expr = Expr::Verbatim(tokens);
        }
    }

    fn suspension(&mut self, _: &Expr) {}

    fn opaque(&mut self, _: &Macro) {}

    fn standard(&mut self, _: &Macro) {}

    fn item(&mut self, _: &mut Item) {}
}

/// Reads an element through the view of this name. A reference to it, be it taken by `&` or for a method, lives as long as the
/// array is borrowed, where one that `Index` gives would end with the view.
fn read_through(expr: &mut Expr, mut view: Ident, mode: &Mode, hidden: &Hidden) {
    let Expr::Index(index) = expr else { return };
    let span = Span::mixed_site().located_at(index.expr.span());
    view.set_span(span);
    if !matches!(mode, Mode::Share | Mode::Method { .. }) {
        *index.expr = Expr::Verbatim(view.to_token_stream());
        return;
    }
    let (inner, hidden) = (&index.index, hidden.at(span));
    *expr = Expr::Verbatim(quote_spanned! {span=>
        (*{
            #[allow(unused_imports)]
            use #hidden::ElementOfArray as _;
            #view.element_of_array(#inner)
        })
    });
}

/// A lifetime that only generated code knows.
pub(super) fn hidden_label(name: &str, level: usize, span: Span) -> Lifetime {
    Lifetime::new(&format!("'{name}_{level}"), Span::mixed_site().located_at(span))
}

/// A name that only generated code knows.
pub(super) fn hidden_name(name: &str, level: usize, number: usize, span: Span) -> Ident {
    format_ident!("{name}_{level}_{number}", span = Span::mixed_site().located_at(span))
}

/// Whether an index may be a range that stands elsewhere.
fn may_be_range(index: &Expr) -> bool {
    match index {
        Expr::Path(_) | Expr::Field(_) => true,
        Expr::MethodCall(call) => call.method == "clone",
        _ => false,
    }
}
