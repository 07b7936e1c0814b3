//! Where in a function one is: which names mean what, and where control can go.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;
use syn::{ForeignItem, Item, Lifetime, Pat, Stmt, Type, UseTree};

use super::index::Kind;
use super::macros;

/// What is known at a point of a function.
#[derive(Default)]
pub(crate) struct Cx {
    scopes: Vec<Vec<Binding>>,
    /// What may be bound in the scopes that are open, by something that does not show what it binds.
    clouds: Vec<Cloud>,
    /// Whether the value of the method call that is met next is thrown away.
    drops_value: bool,
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

/// What may be bound in a scope.
#[derive(Default)]
struct Cloud {
    /// Names that a macro is given, and how many marked loops are around the macro.
    names: HashMap<Ident, usize>,
    /// Whether items of any name may be declared in the scope, by a macro or a glob import, and how many marked loops are
    /// around it.
    any: Option<usize>,
    /// The macros that are defined in the scope, with the names in them.
    macros: HashMap<String, HashSet<Ident>>,
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
    /// Whether it is seen to hold numbers of a type that has some below zero.
    pub(crate) signed: bool,
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

/// The way that an exit takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// How many marked loops it leaves.
    pub(crate) crossed: usize,
    /// Whether it then ends or continues a marked loop.
    pub(crate) ends_marked: bool,
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
        self.clouds.push(Cloud::default());
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
        self.clouds.pop();
    }

    /// Something may bind any of these names: a macro that is given them, or a pattern of constants or names.
    pub(crate) fn cloud(&mut self, names: impl IntoIterator<Item = Ident>) {
        let depth = self.depth;
        if let Some(cloud) = self.clouds.last_mut() {
            cloud.names.extend(names.into_iter().map(|name| (name, depth)));
        }
    }

    /// Whether something in the body of the innermost marked loop may have bound the name.
    pub(crate) fn is_clouded(&self, name: &Ident) -> bool {
        if self.is_given_away(name) {
            return true;
        }
        // An item hides what is declared around the block that it stands in, and nothing that is declared in that block.
        let at = self.find_in_scope(name).map(|(at, _)| at);
        let hides =
            |k: usize, cloud: &Cloud| cloud.any.is_some_and(|d| d >= self.depth) && at < Some(k);
        self.clouds.iter().enumerate().any(|(k, cloud)| hides(k, cloud))
    }

    /// Whether a macro or pattern in the body of the innermost marked loop names the name, so that it may have bound it.
    pub(crate) fn is_given_away(&self, name: &Ident) -> bool {
        let names = |cloud: &Cloud| cloud.names.get(name).is_some_and(|d| *d >= self.depth);
        self.clouds.iter().any(names)
    }

    /// Binds the items of a block: they are there in the whole block.
    pub(crate) fn bind_items(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Item(item) => self.bind_item(item),
                // It may declare items, whose names need not stand in its arguments.
                Stmt::Macro(mac) if macros::arguments(&mac.mac, self).is_none() => {
                    self.any_item();
                }
                _ => {}
            }
        }
    }

    fn bind_item(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Static(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Struct(item) if !matches!(item.fields, syn::Fields::Named(_)) => &item.ident,
            Item::Use(item) => return self.bind_use(&item.tree),
            Item::ForeignMod(items) => {
                for item in &items.items {
                    match item {
                        ForeignItem::Static(item) => self.bind(&item.ident, false, Means::Value),
                        ForeignItem::Fn(item) => self.bind(&item.sig.ident, false, Means::Value),
                        ForeignItem::Type(_) => {}
                        _ => self.any_item(),
                    }
                }
                return;
            }
            Item::Macro(item) => {
                match (&item.ident, self.clouds.last_mut()) {
                    (Some(name), Some(cloud)) => {
                        let names = macros::names(item.mac.tokens.clone());
                        cloud.macros.insert(name.to_string(), names);
                    }
                    _ => self.any_item(),
                }
                return;
            }
            Item::Verbatim(_) => return self.any_item(),
            _ => return,
        };
        let name = name.clone();
        self.bind(&name, false, Means::Value);
    }

    /// What is imported may be a value, or something that hides none.
    fn bind_use(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.bind_use(&path.tree),
            UseTree::Name(name) => self.cloud([name.ident.clone()]),
            UseTree::Rename(name) => self.cloud([name.rename.clone()]),
            UseTree::Glob(_) => self.any_item(),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.bind_use(tree)),
        }
    }

    /// An item of any name may be declared in this scope.
    fn any_item(&mut self) {
        let depth = self.depth;
        if let Some(cloud) = self.clouds.last_mut() {
            cloud.any = Some(depth);
        }
    }

    /// Whether a macro of this name is defined in the function.
    pub(crate) fn defines_macro(&self, name: &str) -> bool {
        self.clouds.iter().any(|cloud| cloud.macros.contains_key(name))
    }

    /// The names that occur in the definitions of macros that are named here, and in those of macros that these name.
    pub(crate) fn names_in_definitions(&self, names: &HashSet<Ident>) -> HashSet<Ident> {
        let mut found: HashSet<Ident> = HashSet::new();
        let mut waiting: Vec<Ident> = names.iter().cloned().collect();
        while let Some(name) = waiting.pop() {
            let name = name.to_string();
            for inner in self.clouds.iter().filter_map(|cloud| cloud.macros.get(&name)).flatten() {
                if found.insert(inner.clone()) {
                    waiting.push(inner.clone());
                }
            }
        }
        found
    }

    /// Says that the value of the method call that comes next is thrown away.
    pub(crate) fn drop_value(&mut self) {
        self.drops_value = true;
    }

    /// Whether the value of the method call at this point is thrown away; asked once.
    pub(crate) fn takes_no_value(&mut self) -> bool {
        std::mem::take(&mut self.drops_value)
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

    /// Whether this point is in a branch of the innermost iteration.
    pub(crate) fn is_in_branch(&self) -> bool {
        self.rounds.last().is_some_and(|round| self.branches > round.branches)
    }

    /// Something may not come back: if it is run in some iterations only, what follows is not reached in all.
    pub(crate) fn may_diverge(&mut self) {
        if self.is_in_branch() {
            self.exit_all();
        }
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
        let name = name.to_string();
        let binding = Binding { name, depth: self.depth, mutable, reference, signed: false, means };
        match self.scopes.last_mut() {
            Some(scope) => scope.push(binding),
            None => self.scopes.push(vec![binding]),
        }
    }

    /// Says that what was bound last under this name holds numbers of a type that has some below zero.
    pub(crate) fn mark_signed(&mut self, name: &Ident) {
        let bindings = self.scopes.last_mut().into_iter().flatten().rev();
        if let Some(binding) = bindings.into_iter().find(|binding| *name == binding.name) {
            binding.signed = true;
        }
    }

    /// Binds the names of a pattern that always matches, all with values that no one knows.
    pub(crate) fn bind_pattern(&mut self, pat: &Pat) {
        self.bind_names(pat, false, &Means::Value);
    }

    /// Binds the names of a pattern that need not match.
    pub(crate) fn bind_case(&mut self, pat: &Pat, mutable: bool) {
        // A name in capitals may be a constant that is compared with.
        for name in super::source::names(pat).into_iter().filter(is_constant) {
            self.cloud([name]);
        }
        self.bind_names(pat, mutable, &Means::Value);
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
                // One that is clouded may be a constant that is compared with.
                if !(is_constant(&pat.ident) && self.is_given_away(&pat.ident)) {
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
            Pat::Macro(pat) => self.bind_any(macros::names(pat.mac.tokens.clone())),
            Pat::Verbatim(tokens) => self.bind_any(macros::names(tokens.clone())),
            _ => {}
        }
    }

    /// Binds any of these names, or none. The loop's index may be one of them, so that nothing is certain from here on.
    fn bind_any(&mut self, names: HashSet<Ident>) {
        self.cloud(names);
        self.exit_all();
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

    /// Whether it is the index of a loop of the innermost marked nest, and not of the innermost loop of it.
    pub(crate) fn is_outer_of_nest(&self, binding: &Binding) -> bool {
        match binding.means {
            Means::Nested(nest, level) if nest == self.depth => {
                self.levels(nest).is_some_and(|levels| level + 1 < levels)
            }
            _ => false,
        }
    }

    /// The index of one of the loops that are joined at this depth.
    pub(crate) fn name_of_level(&self, depth: usize, level: usize) -> Option<String> {
        let is_it = |binding: &&Binding| matches!(binding.means, Means::Nested(nest, at) if nest == depth && at == level);
        self.scopes.iter().flatten().find(is_it).map(|binding| binding.name.clone())
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

    /// Where an exit at this point goes, seen from the innermost marked loop.
    pub(crate) fn goes(&self, exit: Exit<'_>) -> Goes {
        match self.route(exit) {
            Route { crossed: 0, ends_marked: true } => Goes::Native,
            Route { crossed: 0, .. } => Goes::Within,
            _ => Goes::Out,
        }
    }

    /// Which marked loops an exit at this point leaves.
    pub(crate) fn route(&self, exit: Exit<'_>) -> Route {
        let mut crossed = 0;
        let wanted = match exit {
            Exit::Break(label) | Exit::Continue(label) => {
                label.map(|label| label.ident.to_string())
            }
            Exit::Return | Exit::Try => None,
        };
        let jumps = matches!(exit, Exit::Break(_) | Exit::Continue(_));
        let nowhere = Route { crossed: 0, ends_marked: false };
        for control in self.control.iter().rev() {
            let (ends, ends_marked) = match control {
                // A jump out of a function: the compiler will say so.
                Control::Body { .. } if jumps => return nowhere,
                Control::Body { .. } => (true, false),
                Control::Try => (matches!(exit, Exit::Try), false),
                Control::Loop { label, .. } => {
                    (jumps && (wanted.is_none() || *label == wanted), false)
                }
                Control::Block { label } => (jumps && wanted.is_some() && *label == wanted, false),
                Control::Marked { label } => {
                    (jumps && (wanted.is_none() || *label == wanted), true)
                }
            };
            if ends {
                return Route { crossed, ends_marked };
            }
            crossed += usize::from(matches!(control, Control::Marked { .. }));
        }
        // A label that is nowhere: the same.
        nowhere
    }
}

/// Whether a name is written as constants and statics are.
pub(crate) fn is_constant(name: &Ident) -> bool {
    let name = name.to_string();
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
