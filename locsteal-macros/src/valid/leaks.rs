//! What a participant has accumulated of a type of its own must stay where it is.
//!
//! With `reduce(best)` the body may look at `best` to accumulate into it: `if x > best.value { best.value = x; }`. What it sees is
//! the part of one participant, which differs from run to run. So nothing that follows from it may go elsewhere: into another
//! variable of the function, out of the loop, or to the reader of a message. This follows names that are bound to something
//! that was seen, and branches that depend on it.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprMatch, ExprWhile, Item, Local, Macro, Pat,
    Stmt,
};

use super::reductions::mentions;
use super::{macros, source};
use crate::attr::Place;
use crate::report::Report;

/// Reports what leaves the body of a loop that reduces `places`. `yields`: the body's value is kept.
pub(super) fn report(places: &[Place], body: &Block, yields: bool, report: &mut Report) {
    if places.is_empty() {
        return;
    }
    let mut bound = Bound(HashSet::new());
    bound.visit_block(body);
    let mut seen = HashSet::new();
    // What is bound in a round of an inner loop may be used in the next one.
    for _ in 0..2 {
        let mut silent = Report::default();
        let mut leaks =
            Leaks { places, bound: &bound.0, seen, depends: 0, loops: 0, report: &mut silent };
        leaks.visit_block(body);
        seen = leaks.seen;
    }
    let mut leaks = Leaks { places, bound: &bound.0, seen, depends: 0, loops: 0, report };
    leaks.visit_block(body);
    if yields && let Some(Stmt::Expr(value, None)) = body.stmts.last() {
        leaks.check(value);
    }
}

/// The names that the body itself declares.
struct Bound(HashSet<String>);

impl<'a> Visit<'a> for Bound {
    fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
        self.0.insert(pat.ident.to_string());
        visit::visit_pat_ident(self, pat);
    }
}

struct Leaks<'a> {
    /// What is reduced.
    places: &'a [Place],
    bound: &'a HashSet<String>,
    /// Names that are bound to something that was seen.
    seen: HashSet<String>,
    /// How many branches around this point depend on something that was seen.
    depends: usize,
    /// How many loops are around this point, from the outermost branch that does.
    loops: usize,
    report: &'a mut Report,
}

impl Leaks<'_> {
    /// What was seen in these tokens: a reduced place, or a name that is bound to something of one.
    fn sees(&self, tokens: &TokenStream) -> Option<&Place> {
        let names = macros::names(tokens.clone());
        if names.iter().any(|name| self.seen.contains(&name.to_string())) {
            return self.places.first();
        }
        self.places.iter().find(|place| names.contains(&place.root) && mentions(tokens, place))
    }

    /// These tokens go out of the body.
    fn check(&mut self, going: &impl ToTokens) {
        if let Some(place) = self.sees(&going.to_token_stream()).cloned() {
            self.error(&place, going);
        }
    }

    /// Something is done that is seen outside of the body.
    fn check_done(&mut self, what: &impl ToTokens) {
        if self.depends > 0
            && let Some(place) = self.places.first().cloned()
        {
            self.error(&place, what);
        }
    }

    fn error(&mut self, place: &Place, at: &impl ToTokens) {
        self.report.error(
            at,
            format_args!(
                "`{place}` has no value before the loop has ended: this depends on the part of it that one participant has"
            ),
            format_args!("in the body only accumulate into it, with the methods of its type, and read it after the loop"),
        );
    }

    /// Whether something is a part of what is reduced, or of what the body itself declares.
    fn is_inside(&self, target: &Expr) -> bool {
        if let Some(place) = Place::of(target) {
            let root = place.root.to_string();
            return self.bound.contains(&root)
                || self.places.iter().any(|p| p.contains(&place) || place.contains(p));
        }
        match target {
            Expr::Field(e) => self.is_inside(&e.base),
            Expr::Index(e) => self.is_inside(&e.expr),
            Expr::MethodCall(e) => self.is_inside(&e.receiver),
            Expr::Paren(e) => self.is_inside(&e.expr),
            Expr::Group(e) => self.is_inside(&e.expr),
            Expr::Unary(e) => self.is_inside(&e.expr),
            Expr::Reference(e) => self.is_inside(&e.expr),
            Expr::Try(e) => self.is_inside(&e.expr),
            // The value of a call is nobody's variable.
            _ => true,
        }
    }

    fn bind(&mut self, pat: &Pat, to: &impl ToTokens) {
        if self.sees(&to.to_token_stream()).is_some() {
            self.seen.extend(source::names(pat).iter().map(ToString::to_string));
        }
    }

    /// Goes through what is done only where the condition holds.
    fn under(&mut self, condition: &impl ToTokens, inside: impl FnOnce(&mut Self)) {
        if self.depends == 0 && self.sees(&condition.to_token_stream()).is_none() {
            return inside(self);
        }
        let loops = if self.depends == 0 { std::mem::take(&mut self.loops) } else { self.loops };
        self.depends += 1;
        inside(self);
        self.depends -= 1;
        self.loops = loops;
    }

    fn inside_loop(&mut self, inside: impl FnOnce(&mut Self)) {
        self.loops += 1;
        inside(self);
        self.loops -= 1;
    }
}

impl<'a> Visit<'a> for Leaks<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Assign(assign) if !self.is_inside(&assign.left) => {
                self.check(assign);
                self.check_done(assign);
            }
            Expr::Binary(binary)
                if super::walk::is_assigning(&binary.op) && !self.is_inside(&binary.left) =>
            {
                self.check(binary);
                self.check_done(binary);
            }
            Expr::MethodCall(call) if !self.is_inside(&call.receiver) => self.check_done(call),
            Expr::Return(jump) => {
                jump.expr.iter().for_each(|value| self.check(&**value));
                self.check_done(jump);
            }
            Expr::Break(jump) if self.loops == 0 || jump.label.is_some() => {
                jump.expr.iter().for_each(|value| self.check(&**value));
                self.check_done(jump);
            }
            Expr::Continue(jump) if self.loops == 0 || jump.label.is_some() => {
                self.check_done(jump);
            }
            Expr::Let(let_) => self.bind(&let_.pat, &let_.expr),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_if(&mut self, if_: &'a ExprIf) {
        self.visit_expr(&if_.cond);
        self.under(&if_.cond, |leaks| {
            leaks.visit_block(&if_.then_branch);
            if let Some((_, otherwise)) = &if_.else_branch {
                leaks.visit_expr(otherwise);
            }
        });
    }

    fn visit_expr_match(&mut self, match_: &'a ExprMatch) {
        self.visit_expr(&match_.expr);
        for arm in &match_.arms {
            self.bind(&arm.pat, &match_.expr);
        }
        // A guard of one arm decides about the next ones.
        let guards: TokenStream = match_.arms.iter().map(|arm| arm.pat.to_token_stream()).collect();
        let all = [match_.expr.to_token_stream(), guards].into_iter().collect::<TokenStream>();
        self.under(&all, |leaks| match_.arms.iter().for_each(|arm| leaks.visit_arm(arm)));
    }

    fn visit_expr_while(&mut self, loop_: &'a ExprWhile) {
        self.visit_expr(&loop_.cond);
        self.under(&loop_.cond, |leaks| leaks.inside_loop(|leaks| leaks.visit_block(&loop_.body)));
    }

    fn visit_expr_for_loop(&mut self, loop_: &'a ExprForLoop) {
        self.visit_expr(&loop_.expr);
        self.bind(&loop_.pat, &loop_.expr);
        self.under(&loop_.expr, |leaks| leaks.inside_loop(|leaks| leaks.visit_block(&loop_.body)));
    }

    fn visit_expr_loop(&mut self, loop_: &'a syn::ExprLoop) {
        self.inside_loop(|leaks| leaks.visit_block(&loop_.body));
    }

    fn visit_expr_closure(&mut self, closure: &'a ExprClosure) {
        // Its jumps are its own.
        self.inside_loop(|leaks| visit::visit_expr_closure(leaks, closure));
    }

    fn visit_local(&mut self, local: &'a Local) {
        visit::visit_local(self, local);
        if let Some(init) = &local.init {
            self.bind(&local.pat, &init.expr);
        }
    }

    fn visit_macro(&mut self, mac: &'a Macro) {
        if macros::shows(mac) {
            self.check(&mac.tokens);
            self.check_done(&mac.path);
        }
    }

    fn visit_item(&mut self, _: &'a Item) {}
}
