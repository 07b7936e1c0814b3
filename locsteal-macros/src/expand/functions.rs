//! Finding the functions of an item, and expanding the loops of each.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprForLoop, ImplItemFn, Item, ItemFn, Macro, Signature, Stmt, TraitItemFn,
};

use super::{Hidden, rewrite};
use crate::ast::{Job, Marks, mark_loop, mark_of};
use crate::attr::Clauses;
use crate::report::Report;
use crate::valid::{self, Function};

/// Marks the only loop of a function that has no marked one.
pub(super) fn mark_only_loop(
    function: &mut ItemFn,
    clauses: &Clauses,
    marks: &mut Marks,
    report: &mut Report,
) {
    struct Outermost<'a> {
        loops: Vec<&'a mut ExprForLoop>,
        other: Option<TokenStream>,
    }

    impl<'a> Outermost<'a> {
        fn block(&mut self, block: &'a mut Block) {
            for stmt in &mut block.stmts {
                match stmt {
                    Stmt::Local(local) => {
                        if let Some(init) = &mut local.init {
                            self.expr(&mut init.expr);
                            if let Some((_, diverge)) = &mut init.diverge {
                                self.expr(diverge);
                            }
                        }
                    }
                    Stmt::Expr(expr, _) => self.expr(expr),
                    Stmt::Item(_) | Stmt::Macro(_) => {}
                }
            }
        }

        fn expr(&mut self, expr: &'a mut Expr) {
            match expr {
                Expr::ForLoop(found) => self.loops.push(found),
                Expr::Block(e) => self.block(&mut e.block),
                Expr::Unsafe(e) => self.block(&mut e.block),
                Expr::Async(e) => self.block(&mut e.block),
                Expr::Closure(e) => self.expr(&mut e.body),
                Expr::If(e) => {
                    self.block(&mut e.then_branch);
                    if let Some((_, otherwise)) = &mut e.else_branch {
                        self.expr(otherwise);
                    }
                }
                Expr::Match(e) => e.arms.iter_mut().for_each(|arm| self.expr(&mut arm.body)),
                Expr::While(e) => {
                    self.other.get_or_insert(e.while_token.to_token_stream());
                    self.block(&mut e.body);
                }
                Expr::Loop(e) => {
                    self.other.get_or_insert(e.loop_token.to_token_stream());
                    self.block(&mut e.body);
                }
                Expr::Paren(e) => self.expr(&mut e.expr),
                Expr::Group(e) => self.expr(&mut e.expr),
                Expr::Call(e) => e.args.iter_mut().for_each(|arg| self.expr(arg)),
                Expr::MethodCall(e) => {
                    self.expr(&mut e.receiver);
                    e.args.iter_mut().for_each(|arg| self.expr(arg));
                }
                Expr::Return(e) => {
                    if let Some(value) = &mut e.expr {
                        self.expr(value);
                    }
                }
                Expr::Await(e) => self.expr(&mut e.base),
                Expr::Try(e) => self.expr(&mut e.expr),
                Expr::Assign(e) => self.expr(&mut e.right),
                _ => {}
            }
        }
    }

    let mut outermost = Outermost { loops: Vec::new(), other: None };
    outermost.block(&mut function.block);
    let Outermost { mut loops, other } = outermost;
    if loops.len() == 1 {
        mark_loop(loops.remove(0), clauses.clone(), marks);
        return;
    }
    if !report.is_empty() && loops.is_empty() {
        // What was taken for a mark has been reported.
        return;
    }
    if let Some(second) = loops.get(1) {
        report.error(
            second.for_token,
            "this function has more than one loop, and none is marked",
            "write `#[par_for]` on each loop that is to run in parallel as well",
        );
    } else if let Some(other) = other {
        report.error(
            other,
            "only a `for` loop can run in parallel",
            "how often a `while` or `loop` runs is not known beforehand: write `for i in 0..n`",
        );
    } else {
        report.error(
            &function.sig.ident,
            format_args!("`{}` has no `for` loop", function.sig.ident),
            "`#[par_for]` runs the iterations of a `for` loop in parallel; a loop inside of a macro is not seen",
        );
    }
}

/// Expands the marked loops of functions.
pub(super) struct Functions<'a> {
    pub(super) marks: &'a Marks,
    pub(super) defaults: &'a Clauses,
    pub(super) report: &'a mut Report,
    pub(super) hidden: Hidden,
}

impl Functions<'_> {
    pub(super) fn expand_item(&mut self, item: &mut Item) {
        self.visit_item_mut(item);
    }

    /// A statement by itself: nothing is known of the function around it.
    pub(super) fn expand_statement(&mut self, stmt: &mut Stmt) {
        let mut block =
            Block { brace_token: syn::token::Brace::default(), stmts: vec![stmt.clone()] };
        self.function(None, &mut block);
        if let Some(expanded) = block.stmts.pop() {
            *stmt = expanded;
        }
    }

    fn function(&mut self, signature: Option<&Signature>, block: &mut Block) {
        if !has_marks(block) {
            return;
        }
        if let Some(constness) = signature.and_then(|signature| signature.constness) {
            self.report.error(
                constness,
                "a `const fn` cannot run a loop in parallel",
                "leave `const` out, or leave the loop unmarked",
            );
            return;
        }
        let function = Function { signature };
        let facts = valid::check(&function, block, self.marks, self.defaults, self.report);
        if self.report.is_empty() {
            rewrite::rewrite(&function, block, &facts, &self.hidden);
        }
        // Functions inside of this one.
        visit_mut::visit_block_mut(self, block);
    }
}

impl VisitMut for Functions<'_> {
    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        let ItemFn { sig, block, .. } = function;
        self.function(Some(sig), block);
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        let ImplItemFn { sig, block, .. } = function;
        self.function(Some(sig), block);
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        if let Some(mut job) = Job::with_marks(mac) {
            self.visit_expr_mut(&mut job.closure);
            job.put_back(mac);
        }
    }

    fn visit_trait_item_fn_mut(&mut self, function: &mut TraitItemFn) {
        let TraitItemFn { sig, default, .. } = function;
        if let Some(block) = default {
            self.function(Some(sig), block);
            visit_mut::visit_block_mut(self, block);
        }
    }
}

/// Whether there is a marked loop in the function itself.
fn has_marks(block: &Block) -> bool {
    let mut search = Search(false);
    search.visit_block(block);
    search.0
}

/// Looks for marked loops, but not into functions inside.
struct Search(bool);

impl<'a> Visit<'a> for Search {
    fn visit_expr_for_loop(&mut self, expr: &'a ExprForLoop) {
        self.0 |= mark_of(&expr.attrs).is_some();
        visit::visit_expr_for_loop(self, expr);
    }

    fn visit_item(&mut self, _: &'a Item) {}

    fn visit_macro(&mut self, mac: &'a Macro) {
        if let Some(job) = Job::with_marks(mac) {
            let mut inside = Search(false);
            inside.visit_expr(&job.closure);
            self.0 |= inside.0;
        }
    }
}
