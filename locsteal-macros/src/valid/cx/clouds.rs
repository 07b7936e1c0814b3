//! What may be bound in a scope without being seen: by macros, imports and items.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;
use syn::{ForeignItem, Item, Stmt, UseTree};

use super::{Cx, Means};
use crate::valid::macros;

/// What may be bound in a scope.
#[derive(Default)]
pub(super) struct Cloud {
    /// Names that a macro is given, and how many marked loops are around the macro.
    names: HashMap<Ident, usize>,
    /// Whether items of any name may be declared in the scope, by a macro or a glob import, and how many marked loops are
    /// around it.
    any: Option<usize>,
    /// The macros that are defined in the scope, with the names in them.
    macros: HashMap<String, HashSet<Ident>>,
}

impl Cx {
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
}
