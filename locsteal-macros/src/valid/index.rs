//! Judging an index: is it the loop's, and if not, whose?

use proc_macro2::Ident;
use syn::{BinOp, Expr, Lit, Type, UnOp};

use super::cx::{Cx, Means, is_constant};

/// What an index is, seen from a marked loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The index of the marked loop at this depth.
    Exact(usize),
    /// The sum of the indices of the nest at this depth, each times one of these; the last one is not multiplied.
    Grid(usize, Vec<Expr>),
    /// That index plus or minus something fixed.
    Shifted(usize, Shift),
    /// Certainly something else.
    Other(Why),
    /// Who knows.
    Unknown,
}

/// What is added to an index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shift {
    Number(i64),
    /// A name that is declared outside of the loop.
    Plus(Ident),
    Minus(Ident),
}

/// Why an index is not the loop's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Why {
    /// It is computed from the loop's index.
    Computed,
    /// It is the same in each iteration.
    Fixed,
    /// It is the variable of an inner loop.
    Inner(String),
    /// It is the index of a marked loop further out.
    Outer(String),
    /// It goes along this index of a nest that is run as one, which is not that of the innermost loop.
    Across(String),
    /// It is the same for all values of this index of a nest that is run as one.
    Without(String),
}

/// The parts of an index of several axes, `[i, j]` or `(i, j)`: the first, which chooses the row, and the others.
pub(crate) fn of_row(index: &Expr) -> Option<(&Expr, Vec<&Expr>)> {
    let parts = match index {
        Expr::Array(array) => &array.elems,
        Expr::Tuple(tuple) => &tuple.elems,
        Expr::Paren(paren) => return of_row(&paren.expr),
        Expr::Group(group) => return of_row(&group.expr),
        _ => return None,
    };
    let mut parts = parts.iter();
    let (first, others) = (parts.next()?, parts.collect::<Vec<_>>());
    (!others.is_empty()).then_some((first, others))
}

/// Judges an index, seen from the marked loop at `depth` that is around it.
pub(crate) fn judge(expr: &Expr, cx: &Cx, depth: usize) -> Kind {
    if let Some(coefficients) = linear(expr, cx, depth) {
        return Kind::Grid(depth, coefficients);
    }
    if let Some(why) = no_grid(expr, cx, depth) {
        return Kind::Other(why);
    }
    match expr {
        Expr::Paren(paren) => judge(&paren.expr, cx, depth),
        Expr::Group(group) => judge(&group.expr, cx, depth),
        Expr::Block(block) if block.label.is_none() => match block.block.stmts.as_slice() {
            [syn::Stmt::Expr(expr, None)] => judge(expr, cx, depth),
            _ => Kind::Unknown,
        },
        Expr::Lit(lit) => match lit.lit {
            Lit::Int(_) => Kind::Other(Why::Fixed),
            _ => Kind::Unknown,
        },
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) => judge_name(name, cx, depth),
            None => Kind::Other(Why::Fixed),
        },
        Expr::Cast(cast) => match judge(&cast.expr, cx, depth) {
            Kind::Exact(_) | Kind::Shifted(..) if !is_index_type(&cast.ty) => Kind::Unknown,
            kind => kind,
        },
        Expr::Call(call) if call.args.len() == 1 && is_conversion(&call.func) => {
            judge(&call.args[0], cx, depth)
        }
        Expr::MethodCall(call)
            if call.args.is_empty() && (call.method == "into" || call.method == "clone") =>
        {
            judge(&call.receiver, cx, depth)
        }
        // Lengths do not change while a loop runs.
        Expr::MethodCall(call) if call.args.is_empty() && call.method == "len" => {
            match crate::attr::Place::of(&call.receiver) {
                Some(place) if cx.is_captured(&place.root, depth) => Kind::Other(Why::Fixed),
                _ => Kind::Unknown,
            }
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) => {
            match judge(&unary.expr, cx, depth) {
                Kind::Exact(_) | Kind::Shifted(..) => Kind::Other(Why::Computed),
                kind => kind,
            }
        }
        Expr::Binary(binary) => judge_binary(binary, cx, depth),
        _ => Kind::Unknown,
    }
}

fn judge_name(name: &Ident, cx: &Cx, depth: usize) -> Kind {
    let Some(binding) = cx.find(name) else {
        return if is_constant(name) { Kind::Other(Why::Fixed) } else { Kind::Unknown };
    };
    match &binding.means {
        Means::Index(loop_) if *loop_ == depth => Kind::Exact(depth),
        Means::Nested(loop_, _) if *loop_ == depth => Kind::Other(Why::Computed),
        Means::Index(loop_) | Means::Nested(loop_, _) if *loop_ < depth => {
            Kind::Other(Why::Outer(name.to_string()))
        }
        Means::Index(_) | Means::Nested(..) => Kind::Other(Why::Inner(name.to_string())),
        // What a marked loop captures stays as it is while the loop runs.
        _ if binding.depth < depth => Kind::Other(Why::Fixed),
        Means::InnerIndex => Kind::Other(Why::Inner(name.to_string())),
        Means::Alias(kind) if binding.depth == depth => kind.clone(),
        _ => Kind::Unknown,
    }
}

fn judge_binary(binary: &syn::ExprBinary, cx: &Cx, depth: usize) -> Kind {
    let (left, right) = (judge(&binary.left, cx, depth), judge(&binary.right, cx, depth));
    let (number, name) = (|expr: &Expr| number(expr), |expr: &Expr| captured_name(expr, cx, depth));
    match (&binary.op, left, right) {
        (_, Kind::Unknown, _) | (_, _, Kind::Unknown) => Kind::Unknown,
        (BinOp::Add(_), Kind::Exact(_), Kind::Other(Why::Fixed)) => {
            shifted(depth, &binary.right, 1, number, name)
        }
        (BinOp::Add(_), Kind::Other(Why::Fixed), Kind::Exact(_)) => {
            shifted(depth, &binary.left, 1, number, name)
        }
        (BinOp::Sub(_), Kind::Exact(_), Kind::Other(Why::Fixed)) => {
            shifted(depth, &binary.right, -1, number, name)
        }
        (_, Kind::Other(Why::Fixed), Kind::Other(Why::Fixed)) => Kind::Other(Why::Fixed),
        _ => Kind::Other(Why::Computed),
    }
}

/// The coefficients of a sum of the indices of the nest at `depth`: those of all but the last, which has none.
fn linear(expr: &Expr, cx: &Cx, depth: usize) -> Option<Vec<Expr>> {
    let levels = cx.levels(depth)?;
    let mut coefficients: Vec<Option<Expr>> = vec![None; levels];
    for (level, factors) in terms(expr, cx, depth)? {
        let factor = factors.into_iter().reduce(|a, b| syn::parse_quote!((#a) * (#b)));
        let slot = coefficients.get_mut(level)?;
        match (&factor, level + 1 == levels) {
            (None, true) | (Some(_), false) if slot.is_none() => {}
            _ => return None,
        }
        *slot = Some(factor.unwrap_or_else(|| syn::parse_quote!(1)));
    }
    let mut coefficients: Vec<Expr> = coefficients.into_iter().collect::<Option<_>>()?;
    coefficients.pop();
    Some(coefficients)
}

/// Why a sum of indices of the nest at `depth` says of no iteration that it owns an element.
fn no_grid(expr: &Expr, cx: &Cx, depth: usize) -> Option<Why> {
    let levels = cx.levels(depth)?;
    let terms = terms(expr, cx, depth)?;
    let name = |level| cx.name_of_level(depth, level);
    if let Some(missing) = (0..levels).find(|level| terms.iter().all(|(at, _)| at != level)) {
        return name(missing).map(Why::Without);
    }
    let mut alone = terms.iter().filter(|(_, factors)| factors.is_empty());
    match (alone.next(), alone.next(), terms.len() == levels) {
        (Some((level, _)), None, true) => name(*level).map(Why::Across),
        _ => None,
    }
}

/// A sum of products, each of one index of the nest and of factors that stay the same.
fn terms(expr: &Expr, cx: &Cx, depth: usize) -> Option<Vec<(usize, Vec<Expr>)>> {
    match expr {
        Expr::Paren(paren) => terms(&paren.expr, cx, depth),
        Expr::Group(group) => terms(&group.expr, cx, depth),
        Expr::Cast(cast) if is_index_type(&cast.ty) => terms(&cast.expr, cx, depth),
        Expr::Path(path) => match cx.find(path.path.get_ident()?)?.means {
            Means::Nested(nest, level) if nest == depth => Some(vec![(level, Vec::new())]),
            _ => None,
        },
        Expr::Binary(binary) if matches!(binary.op, BinOp::Add(_)) => {
            let mut sum = terms(&binary.left, cx, depth)?;
            sum.extend(terms(&binary.right, cx, depth)?);
            Some(sum)
        }
        Expr::Binary(binary) if matches!(binary.op, BinOp::Mul(_)) => {
            let is_fixed = |expr: &Expr| judge(expr, cx, depth) == Kind::Other(Why::Fixed);
            let (sum, factor) = if is_fixed(&binary.right) {
                (&binary.left, &binary.right)
            } else if is_fixed(&binary.left) {
                (&binary.right, &binary.left)
            } else {
                return None;
            };
            let mut sum = terms(sum, cx, depth)?;
            for (_, factors) in &mut sum {
                factors.push((**factor).clone());
            }
            Some(sum)
        }
        _ => None,
    }
}

fn shifted(
    depth: usize,
    by: &Expr,
    sign: i64,
    number: impl Fn(&Expr) -> Option<i64>,
    name: impl Fn(&Expr) -> Option<Ident>,
) -> Kind {
    if let Some(by) = number(by) {
        return if by == 0 {
            Kind::Exact(depth)
        } else {
            Kind::Shifted(depth, Shift::Number(sign * by))
        };
    }
    match name(by) {
        Some(name) if sign == 1 => Kind::Shifted(depth, Shift::Plus(name)),
        Some(name) => Kind::Shifted(depth, Shift::Minus(name)),
        None => Kind::Other(Why::Computed),
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => int.base10_parse::<i32>().ok().map(i64::from),
            _ => None,
        },
        Expr::Paren(paren) => number(&paren.expr),
        Expr::Group(group) => number(&group.expr),
        _ => None,
    }
}

/// A name that is declared outside of the marked loop at `depth`.
fn captured_name(expr: &Expr, cx: &Cx, depth: usize) -> Option<Ident> {
    match expr {
        Expr::Path(path) => {
            let name = path.path.get_ident()?;
            let binding = cx.find(name)?;
            (binding.depth < depth).then(|| name.clone())
        }
        Expr::Paren(paren) => captured_name(&paren.expr, cx, depth),
        Expr::Group(group) => captured_name(&group.expr, cx, depth),
        _ => None,
    }
}

/// `usize::from`, `usize::try_from` and the like.
fn is_conversion(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let segments: Vec<String> =
        path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    matches!(segments.as_slice(), [.., ty, from] if ty == "usize" && from == "from")
}

fn is_index_type(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "usize"),
        Type::Group(group) => is_index_type(&group.elem),
        Type::Paren(paren) => is_index_type(&paren.elem),
        _ => false,
    }
}
