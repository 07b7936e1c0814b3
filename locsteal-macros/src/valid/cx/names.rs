//! What names stand for: those that patterns bind.

use std::collections::HashSet;

use proc_macro2::Ident;
use syn::{Pat, Type};

use super::Cx;
use crate::valid::index::Kind;
use crate::valid::{macros, source};

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

impl Cx {
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
        for name in source::names(pat).into_iter().filter(is_constant) {
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
}

/// Whether a name is written as constants and statics are.
pub(crate) fn is_constant(name: &Ident) -> bool {
    let name = name.to_string();
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
