//! The clauses: what stands in the parentheses of `#[par_for(..)]`.

mod parse;
mod values;
mod words;

use proc_macro2::{Ident, TokenStream};
use syn::{Expr, Member, Path, Type};

pub(crate) use parse::clauses;
pub(crate) use words::tokens;

/// What the clauses of one mark say.
#[derive(Clone, Default)]
pub(crate) struct Clauses {
    pub(crate) schedule: Option<Clause<Schedule>>,
    pub(crate) locality: Option<Clause<Locality>>,
    pub(crate) grain: Option<Clause<Expr>>,
    pub(crate) threads: Option<Clause<Expr>>,
    pub(crate) pool: Option<Clause<Expr>>,
    pub(crate) name: Option<Clause<Expr>>,
    pub(crate) progress: Option<Clause<Expr>>,
    pub(crate) report: Option<Clause<Expr>>,
    pub(crate) collapse: Option<Clause<usize>>,
    pub(crate) krate: Option<Clause<Path>>,
    pub(crate) own: Vec<Own>,
    pub(crate) reduce: Vec<Reduce>,
    pub(crate) reproducible: Option<Ident>,
    pub(crate) local: Vec<Local>,
}

/// A clause that can stand once.
#[derive(Clone)]
pub(crate) struct Clause<T> {
    pub(crate) value: T,
}

/// `schedule = ..`
#[derive(Clone)]
pub(crate) enum Schedule {
    Auto,
    Static,
    StaticChunk(Expr),
    Steal,
    Dynamic,
    DynamicChunk(Expr),
    Serial,
    /// An expression in parentheses.
    Given(Expr),
}

/// `locality = ..`
#[derive(Clone)]
pub(crate) enum Locality {
    Llc,
    Node,
    Flat,
    /// An expression in parentheses.
    Given(Expr),
}

/// One entry of `own(..)`.
#[derive(Clone)]
pub(crate) struct Own {
    /// As it was written.
    pub(crate) expr: Expr,
    pub(crate) place: Place,
    /// `.chunks(..)`: how many elements an iteration owns.
    pub(crate) chunks: Option<Expr>,
    /// `.rows()`: an iteration owns a row of an array of several axes.
    pub(crate) rows: bool,
}

/// One entry of `reduce(..)`.
#[derive(Clone)]
pub(crate) struct Reduce {
    pub(crate) operator: Operator,
    pub(crate) expr: Expr,
    pub(crate) place: Place,
    /// All of `(value, along)` where it is one of them: the value that is compared, and what goes along with it. Each of them is an
    /// entry, in this order.
    pub(crate) group: Vec<Place>,
}

/// What joins the values of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Mul,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Min,
    Max,
    /// The type's own way.
    Combine,
}

impl Operator {
    /// As it is written; empty for the type's own.
    pub(crate) fn written(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Mul => "*",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::And => "&&",
            Self::Or => "||",
            Self::Min => "min",
            Self::Max => "max",
            Self::Combine => "",
        }
    }
}

/// One entry of `local(..)`.
#[derive(Clone)]
pub(crate) struct Local {
    pub(crate) name: Ident,
    pub(crate) ty: Option<Type>,
    pub(crate) init: Expr,
}

/// Something made of names and fields: `y`, `self.y`, `mesh.cells.0`. Dereferences are looked through.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) root: Ident,
    pub(crate) fields: Vec<Member>,
}

impl Place {
    /// The place that an expression is, if it is one.
    pub(crate) fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Path(path) if path.qself.is_none() => {
                path.path.get_ident().map(|root| Self { root: root.clone(), fields: Vec::new() })
            }
            Expr::Field(field) => {
                let mut place = Self::of(&field.base)?;
                place.fields.push(field.member.clone());
                Some(place)
            }
            Expr::Paren(paren) => Self::of(&paren.expr),
            Expr::Group(group) => Self::of(&group.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => Self::of(&unary.expr),
            _ => None,
        }
    }

    /// Whether it is one name.
    pub(crate) fn is_name(&self) -> bool {
        self.fields.is_empty()
    }

    /// The last of its names.
    pub(crate) fn last(&self) -> String {
        match self.fields.last() {
            Some(Member::Named(name)) => name.to_string(),
            Some(Member::Unnamed(_)) => "value".to_owned(),
            None => self.root.to_string(),
        }
    }

    /// Whether `other` is this place or a part of it.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.root == other.root && other.fields.starts_with(&self.fields)
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && self.fields == other.fields
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.root)?;
        for field in &self.fields {
            match field {
                Member::Named(name) => write!(f, ".{name}")?,
                Member::Unnamed(index) => write!(f, ".{}", index.index)?,
            }
        }
        Ok(())
    }
}

impl quote::ToTokens for Place {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { root, fields } = self;
        tokens.extend(quote::quote!(#root #(. #fields)*));
    }
}
