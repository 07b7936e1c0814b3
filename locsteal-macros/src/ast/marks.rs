//! Finding the marked loops.
//!
//! A loop's mark, `#[par_for(..)]`, is replaced by an attribute that holds a number, under which the clauses are kept.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, ExprForLoop, ImplItem, ImplItemFn, Item, ItemFn, Lit, Local, Macro,
    Meta, Stmt, TraitItem, TraitItemFn, parse_quote,
};

use super::Job;
use crate::attr::{self, Clauses};
use crate::report::Report;

/// What the attribute that replaces a mark is called.
pub(super) const NUMBERED: &str = "locsteal_marked_loop";

/// The clauses of all marks of an item.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) clauses: Vec<Clauses>,
}

impl Marks {
    /// Keeps clauses; gives the attribute that stands for them.
    fn add(&mut self, clauses: Clauses) -> Attribute {
        let number = self.clauses.len();
        self.clauses.push(clauses);
        let name = Ident::new(NUMBERED, Span::call_site());
        parse_quote!(#[#name = #number])
    }
}

/// Whether this is the mark of a loop.
pub(crate) fn is_mark(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "par_for")
}

/// The number of a loop's mark.
pub(crate) fn mark_of(attributes: &[Attribute]) -> Option<usize> {
    attributes.iter().find_map(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        if !pair.path.is_ident(NUMBERED) {
            return None;
        }
        match &pair.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(number) => number.base10_parse().ok(),
                _ => None,
            },
            _ => None,
        }
    })
}

/// Marks this one loop, with clauses that were read elsewhere.
pub(crate) fn mark_loop(expr: &mut ExprForLoop, clauses: Clauses, marks: &mut Marks) {
    expr.attrs.push(marks.add(clauses));
}

/// Finds the marked loops in an item that may hold functions.
pub(crate) fn mark_functions(item: &mut Item, marks: &mut Marks, report: &mut Report) {
    Finder { marks, report }.visit_item_mut(item);
}

struct Finder<'a> {
    marks: &'a mut Marks,
    report: &'a mut Report,
}

impl Finder<'_> {
    /// Takes the mark out of the attributes of something.
    fn take(&mut self, attributes: &mut Vec<Attribute>) -> Option<(Attribute, Clauses)> {
        let at = attributes.iter().position(is_mark)?;
        let mark = attributes.remove(at);
        if let Some(second) = attributes.iter().position(is_mark) {
            let second = attributes.remove(second);
            self.report.error(
                &second,
                "this loop is marked twice",
                "write all clauses into one `#[par_for(..)]`",
            );
        }
        let tokens = match &mark.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(pair) => {
                self.report.error(
                    &pair.value,
                    "`par_for` takes its clauses in parentheses",
                    "write `#[par_for(..)]`",
                );
                TokenStream::new()
            }
        };
        let clauses = attr::clauses(tokens, self.report);
        Some((mark, clauses))
    }

    /// The mark stands on an expression.
    fn expr(&mut self, expr: &mut Expr) {
        let Some(attributes) = attributes(expr) else { return };
        let Some((mark, clauses)) = self.take(attributes) else { return };
        match expr {
            Expr::ForLoop(expr) => mark_loop(expr, clauses, self.marks),
            Expr::While(_) | Expr::Loop(_) => self.report.error(
                &mark,
                "only a `for` loop can run in parallel",
                "how often a `while` or `loop` runs is not known beforehand: write `for i in 0..n`",
            ),
            _ => self.report.error(
                &mark,
                "this is not a loop",
                "`#[par_for]` stands on a `for` loop, on a function, or on an `impl` block or module of functions",
            ),
        }
    }

    fn local(&mut self, local: &mut Local) {
        let Some((mark, clauses)) = self.take(&mut local.attrs) else { return };
        match local.init.as_mut().map(|init| &mut *init.expr) {
            Some(Expr::ForLoop(expr)) => mark_loop(expr, clauses, self.marks),
            _ => self.report.error(
                &mark,
                "this `let` has no loop",
                "mark the loop itself; a loop that makes a value for each iteration is `let v: Vec<T> = for i in r { .. };`",
            ),
        }
    }
}

impl VisitMut for Finder<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        self.expr(expr);
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        self.local(local);
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(mac) = stmt
            && let Some((mark, _)) = self.take(&mut mac.attrs)
        {
            self.report.error(
                &mark,
                "this is a macro, not a loop",
                "put the mark on the `for` loop inside the macro's own definition, and `#[par_for]` on a function around it there",
            );
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    /// An item with a mark of its own is expanded on its own.
    fn visit_item_mut(&mut self, item: &mut Item) {
        let own = match item {
            Item::Fn(ItemFn { attrs, .. }) => attrs.iter().any(is_mark),
            Item::Impl(item) => item.attrs.iter().any(is_mark),
            Item::Mod(item) => item.attrs.iter().any(is_mark),
            Item::Trait(item) => item.attrs.iter().any(is_mark),
            _ => false,
        };
        if !own {
            visit_mut::visit_item_mut(self, item);
        }
    }

    fn visit_impl_item_mut(&mut self, item: &mut ImplItem) {
        if !matches!(item, ImplItem::Fn(ImplItemFn { attrs, .. }) if attrs.iter().any(is_mark)) {
            visit_mut::visit_impl_item_mut(self, item);
        }
    }

    fn visit_trait_item_mut(&mut self, item: &mut TraitItem) {
        if !matches!(item, TraitItem::Fn(TraitItemFn { attrs, .. }) if attrs.iter().any(is_mark)) {
            visit_mut::visit_trait_item_mut(self, item);
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let Some(mut mark) = hidden_mark(mac.tokens.clone()) else { return };
        let mut is_seen = false;
        if let Some(mut job) = Job::of(mac) {
            // The values of its options are not looked into.
            match job.options.iter().find_map(|option| hidden_mark(option.value.clone())) {
                Some(in_option) => mark = in_option,
                None => {
                    self.visit_expr_mut(&mut job.closure);
                    job.put_back(mac);
                    is_seen = true;
                }
            }
        }
        if !is_seen {
            self.report.error_at(
                mark,
                "a marked loop inside of a macro's arguments is not seen",
                "move the loop out of the macro, or into a function of its own with `#[par_for]`",
            );
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
    }
}

/// The mark of a loop somewhere in tokens that are not parsed.
fn hidden_mark(tokens: TokenStream) -> Option<Span> {
    let mut before_is_hash = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                if before_is_hash && group.delimiter() == proc_macro2::Delimiter::Bracket {
                    let mut path = group
                        .stream()
                        .into_iter()
                        .take_while(|token| !matches!(token, TokenTree::Group(_)));
                    if path
                        .any(|token| matches!(&token, TokenTree::Ident(word) if word == "par_for"))
                    {
                        return Some(group.span());
                    }
                } else if let Some(found) = hidden_mark(group.stream()) {
                    return Some(found);
                }
                before_is_hash = false;
            }
            TokenTree::Punct(punct) => before_is_hash = punct.as_char() == '#',
            _ => before_is_hash = false,
        }
    }
    None
}

/// The attributes of an expression.
fn attributes(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    Some(match expr {
        Expr::Array(e) => &mut e.attrs,
        Expr::Assign(e) => &mut e.attrs,
        Expr::Async(e) => &mut e.attrs,
        Expr::Await(e) => &mut e.attrs,
        Expr::Binary(e) => &mut e.attrs,
        Expr::Block(e) => &mut e.attrs,
        Expr::Break(e) => &mut e.attrs,
        Expr::Call(e) => &mut e.attrs,
        Expr::Cast(e) => &mut e.attrs,
        Expr::Closure(e) => &mut e.attrs,
        Expr::Const(e) => &mut e.attrs,
        Expr::Continue(e) => &mut e.attrs,
        Expr::Field(e) => &mut e.attrs,
        Expr::ForLoop(e) => &mut e.attrs,
        Expr::Group(e) => &mut e.attrs,
        Expr::If(e) => &mut e.attrs,
        Expr::Index(e) => &mut e.attrs,
        Expr::Infer(e) => &mut e.attrs,
        Expr::Let(e) => &mut e.attrs,
        Expr::Lit(e) => &mut e.attrs,
        Expr::Loop(e) => &mut e.attrs,
        Expr::Macro(e) => &mut e.attrs,
        Expr::Match(e) => &mut e.attrs,
        Expr::MethodCall(e) => &mut e.attrs,
        Expr::Paren(e) => &mut e.attrs,
        Expr::Path(e) => &mut e.attrs,
        Expr::Range(e) => &mut e.attrs,
        Expr::RawAddr(e) => &mut e.attrs,
        Expr::Reference(e) => &mut e.attrs,
        Expr::Repeat(e) => &mut e.attrs,
        Expr::Return(e) => &mut e.attrs,
        Expr::Struct(e) => &mut e.attrs,
        Expr::Try(e) => &mut e.attrs,
        Expr::TryBlock(e) => &mut e.attrs,
        Expr::Tuple(e) => &mut e.attrs,
        Expr::Unary(e) => &mut e.attrs,
        Expr::Unsafe(e) => &mut e.attrs,
        Expr::While(e) => &mut e.attrs,
        Expr::Yield(e) => &mut e.attrs,
        _ => return None,
    })
}
