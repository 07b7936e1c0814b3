//! Where in a function one is: which names mean what, and where control can go.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;
use syn::{Lifetime, Pat, Type};

use super::index::Kind;

/// What is known at a point of a function.
#[derive(Default)]
pub(crate) struct Cx {
    scopes: Vec<Vec<Binding>>,
    /// Names that a macro may have bound, in the scopes that are open, and how many marked loops are around the macro.
    clouded: Vec<HashMap<Ident, usize>>,
    /// How many `unsafe` blocks are around this point.
    unsafe_blocks: usize,
    control: Vec<Control>,
    /// How many marked loops are around this point.
    depth: usize,
    /// The loops around this point whose iterations are looked at one by one: marked ones, and serial ones in their bodies.
    rounds: Vec<Round>,
    /// How many serial loops have been met.
    serials: usize,
    /// How many branches, such as those of an `if`, are around this point.
    branches: usize,
}

/// What is known of an iteration that this point is in.
#[derive(Clone, Copy)]
struct Round {
    /// How many branches are around the loop's body.
    branches: usize,
    /// Whether the iteration may have been left before this point.
    exited: bool,
    marked: bool,
}

/// A name that a pattern bound.
#[derive(Clone)]
pub(crate) struct Binding {
    pub(crate) name: String,
    /// How many marked loops are around its declaration.
    pub(crate) depth: usize,
    /// Whether it is certain that one can borrow it mutably, or what it refers to.
    pub(crate) mutable: bool,
    /// Whether it is declared as a mutable reference.
    pub(crate) reference: bool,
    pub(crate) means: Means,
}

/// What a name stands for, as far as indexing goes.
#[derive(Clone)]
pub(crate) enum Means {
    /// No one knows.
    Value,
    /// The index of the marked loop at this depth (the outermost is 1).
    Index(usize),
    /// The index of a loop in a nest that is marked as one: the depth of the nest, and which of its loops it is.
    Nested(usize, usize),
    /// The variable of a loop that is not marked.
    InnerIndex,
    /// The value of an expression, judged where it was bound.
    Alias(Kind),
}

/// What `break`, `continue`, `return` and `?` can go to.
pub(crate) enum Control {
    Marked {
        label: Option<String>,
    },
    /// A loop that is not marked; `round`: it is one of [`Cx`]'s rounds.
    Loop {
        label: Option<String>,
        round: bool,
    },
    Block {
        label: Option<String>,
    },
    /// A function, closure or async block, and what it is said to return.
    Body {
        returns: Option<Box<Type>>,
    },
    /// A `try` block.
    Try,
}

/// Where an exit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goes {
    /// It stays in the body of the innermost marked loop, or there is none.
    Within,
    /// To the next iteration of that loop, or to its end: the loop around the body in the generated code does that.
    Native,
    /// Out of that loop.
    Out,
}

/// What a macro is asked to do with an exit.
#[derive(Clone, Copy)]
pub(crate) enum Exit<'a> {
    Break(Option<&'a Lifetime>),
    Continue(Option<&'a Lifetime>),
    Return,
    Try,
}

impl Cx {
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Runs `inside` in a scope of its own.
    pub(crate) fn open(&mut self) {
        self.scopes.push(Vec::new());
        self.clouded.push(HashMap::new());
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
        self.clouded.pop();
    }

    /// A statement is a macro, which may bind any of the names that it is given.
    pub(crate) fn cloud(&mut self, names: HashSet<Ident>) {
        let depth = self.depth;
        if let Some(clouded) = self.clouded.last_mut() {
            clouded.extend(names.into_iter().map(|name| (name, depth)));
        }
    }

    /// Whether a macro in the body of the innermost marked loop may have bound the name.
    pub(crate) fn is_clouded(&self, name: &Ident) -> bool {
        self.clouded.iter().any(|names| names.get(name).is_some_and(|depth| *depth >= self.depth))
    }

    /// A number for a serial loop: the same each time that the function is gone through.
    pub(crate) fn number_serial(&mut self) -> usize {
        self.serials += 1;
        self.serials
    }

    /// The body of a loop begins.
    pub(crate) fn begin_round(&mut self, marked: bool) {
        self.rounds.push(Round { branches: self.branches, exited: false, marked });
    }

    /// The body of a loop ends; true if its iterations may be left. One that may leave a marked loop may leave what is around it.
    pub(crate) fn end_round(&mut self) -> bool {
        let Some(Round { exited, marked, .. }) = self.rounds.pop() else { return false };
        if exited && marked {
            self.exit_all();
        }
        exited
    }

    /// What follows is not reached in every iteration, until `leave_branch`.
    pub(crate) fn enter_branch(&mut self) {
        self.branches += 1;
    }

    pub(crate) fn leave_branch(&mut self) {
        self.branches -= 1;
    }

    /// What follows may not be reached.
    pub(crate) fn exit_all(&mut self) {
        self.rounds.iter_mut().for_each(|round| round.exited = true);
    }

    /// An unlabelled `break` or `continue` in the innermost loop: what follows in its body may not be reached.
    pub(crate) fn exit_innermost(&mut self) {
        let innermost = self
            .control
            .iter()
            .rev()
            .find(|c| matches!(c, Control::Loop { .. } | Control::Marked { .. }));
        if matches!(innermost, Some(Control::Loop { round: true, .. } | Control::Marked { .. }))
            && let Some(round) = self.rounds.last_mut()
        {
            round.exited = true;
        }
    }

    /// The state of all iterations, to be put back after something that has its own control flow.
    pub(crate) fn exits(&self) -> Vec<bool> {
        self.rounds.iter().map(|round| round.exited).collect()
    }

    pub(crate) fn restore_exits(&mut self, exits: &[bool]) {
        for (round, exited) in self.rounds.iter_mut().zip(exits) {
            round.exited = *exited;
        }
    }

    /// Whether this point is reached in each iteration of the innermost marked loop.
    pub(crate) fn is_certain(&self) -> bool {
        self.rounds.iter().rev().find(|round| round.marked).is_some_and(|round| self.reaches(round))
    }

    /// Whether this point is reached in each iteration of the innermost loop, marked or not.
    pub(crate) fn is_certain_in_round(&self) -> bool {
        self.rounds.last().is_some_and(|round| self.reaches(round))
    }

    fn reaches(&self, round: &Round) -> bool {
        round.branches == self.branches && !round.exited
    }

    pub(crate) fn enter_unsafe(&mut self) {
        self.unsafe_blocks += 1;
    }

    pub(crate) fn leave_unsafe(&mut self) {
        self.unsafe_blocks -= 1;
    }

    pub(crate) fn is_unsafe(&self) -> bool {
        self.unsafe_blocks > 0
    }

    pub(crate) fn enter(&mut self, control: Control) {
        self.depth += usize::from(matches!(control, Control::Marked { .. }));
        self.control.push(control);
    }

    pub(crate) fn leave(&mut self) {
        let control = self.control.pop();
        self.depth -= usize::from(matches!(control, Some(Control::Marked { .. })));
    }

    pub(crate) fn bind(&mut self, name: &Ident, mutable: bool, means: Means) {
        self.bind_as(name, mutable, false, means);
    }

    fn bind_as(&mut self, name: &Ident, mutable: bool, reference: bool, means: Means) {
        let binding =
            Binding { name: name.to_string(), depth: self.depth, mutable, reference, means };
        match self.scopes.last_mut() {
            Some(scope) => scope.push(binding),
            None => self.scopes.push(vec![binding]),
        }
    }

    /// Binds the names of a pattern, all with values that no one knows.
    pub(crate) fn bind_pattern(&mut self, pat: &Pat) {
        self.bind_names(pat, false, &Means::Value);
    }

    /// Binds the names of a pattern. `mutable`: what is matched is known to be a mutable reference.
    pub(crate) fn bind_names(&mut self, pat: &Pat, mutable: bool, means: &Means) {
        match pat {
            Pat::Ident(pat) => {
                let by_value = pat.by_ref.is_none() && pat.subpat.is_none();
                let means =
                    if by_value && pat.mutability.is_none() { means.clone() } else { Means::Value };
                let reference = mutable && by_value;
                let mutable = mutable || pat.mutability.is_some();
                // A name in capitals is a constant that is compared with.
                let constant = by_value && pat.mutability.is_none() && is_constant(&pat.ident);
                if !constant {
                    self.bind_as(&pat.ident, mutable, reference, means);
                }
                if let Some((_, inner)) = &pat.subpat {
                    self.bind_names(inner, false, &Means::Value);
                }
            }
            Pat::Type(pat) => {
                let reference = matches!(&*pat.ty, Type::Reference(r) if r.mutability.is_some());
                self.bind_names(&pat.pat, mutable || reference, means);
            }
            Pat::Paren(pat) => self.bind_names(&pat.pat, mutable, means),
            Pat::Guard(pat) => self.bind_names(&pat.pat, mutable, means),
            Pat::Tuple(pat) => self.bind_all(&pat.elems),
            Pat::TupleStruct(pat) => self.bind_all(&pat.elems),
            Pat::Slice(pat) => self.bind_all(&pat.elems),
            Pat::Or(pat) => self.bind_all(pat.cases.iter().take(1)),
            Pat::Struct(pat) => {
                // `S { x }` is parsed as a field `x` with a pattern that binds `x`.
                for field in &pat.fields {
                    self.bind_names(&field.pat, false, &Means::Value);
                }
            }
            Pat::Reference(pat) => self.bind_names(&pat.pat, false, &Means::Value),
            _ => {}
        }
    }

    fn bind_all<'p>(&mut self, pats: impl IntoIterator<Item = &'p Pat>) {
        for pat in pats {
            self.bind_names(pat, false, &Means::Value);
        }
    }

    pub(crate) fn find(&self, name: &Ident) -> Option<&Binding> {
        self.find_in_scope(name).map(|(_, binding)| binding)
    }

    /// What a name is bound to, and in which of the scopes that are open.
    pub(crate) fn find_in_scope(&self, name: &Ident) -> Option<(usize, &Binding)> {
        let name = name.to_string();
        let scopes = self.scopes.iter().enumerate().rev();
        scopes
            .flat_map(|(k, scope)| scope.iter().rev().map(move |b| (k, b)))
            .find(|(_, b)| b.name == name)
    }

    /// How many scopes are open.
    pub(crate) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// How many loops are joined at this depth, if more than one.
    pub(crate) fn levels(&self, depth: usize) -> Option<usize> {
        let level = |binding: &Binding| match binding.means {
            Means::Nested(nest, level) if nest == depth => Some(level + 1),
            _ => None,
        };
        self.scopes.iter().flatten().filter_map(level).max()
    }

    /// Whether the name is declared outside of the innermost marked loop: the loop's code would capture it. A name that
    /// is not known to be declared anywhere is one of an item, or of a macro.
    pub(crate) fn is_captured(&self, name: &Ident, depth: usize) -> bool {
        self.find(name).is_none_or(|binding| binding.depth < depth)
    }

    /// What the innermost function, closure or async block is said to return.
    pub(crate) fn returns(&self) -> Option<&Type> {
        self.control.iter().rev().find_map(|control| match control {
            Control::Body { returns } => Some(returns.as_deref()),
            _ => None,
        })?
    }

    /// Whether `.await` at this point would suspend the body of a marked loop, rather than an async block in it.
    pub(crate) fn suspends_marked_loop(&self) -> bool {
        self.goes(Exit::Return) == Goes::Out
    }

    /// Where an exit at this point goes.
    pub(crate) fn goes(&self, exit: Exit<'_>) -> Goes {
        let mut crossed = 0;
        let end = |crossed| if crossed == 0 { Goes::Within } else { Goes::Out };
        let wanted = match exit {
            Exit::Break(label) | Exit::Continue(label) => {
                label.map(|label| label.ident.to_string())
            }
            Exit::Return | Exit::Try => None,
        };
        let jumps = matches!(exit, Exit::Break(_) | Exit::Continue(_));
        for control in self.control.iter().rev() {
            match control {
                Control::Body { .. } => return if jumps { Goes::Within } else { end(crossed) },
                Control::Try => {
                    if matches!(exit, Exit::Try) {
                        return end(crossed);
                    }
                }
                Control::Loop { label, .. } => {
                    if jumps && (wanted.is_none() || *label == wanted) {
                        return end(crossed);
                    }
                }
                Control::Block { label } => {
                    if jumps && wanted.is_some() && *label == wanted {
                        return end(crossed);
                    }
                }
                Control::Marked { label } => {
                    if jumps && (wanted.is_none() || *label == wanted) {
                        return if crossed == 0 { Goes::Native } else { Goes::Out };
                    }
                    crossed += 1;
                }
            }
        }
        // A label that is nowhere: the compiler will say so.
        Goes::Within
    }
}

/// Whether a name is written as constants and statics are.
pub(crate) fn is_constant(name: &Ident) -> bool {
    let name = name.to_string();
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
