//! Variables that are seen to be of a type with numbers below zero.
//!
//! Where a body subtracts from what it sums up, such a variable takes the difference as it is. Of any other type it is not known
//! whether it can.

use syn::parse::Parser;
use syn::{Expr, GenericArgument, Lit, Pat, PathArguments, Type, UnOp};

use super::cx::Cx;

/// Notes which of the names that a pattern has bound are of such a type, or hold values of it.
pub(super) fn note(cx: &mut Cx, pat: &Pat, value: Option<&Expr>) {
    match (pat, value) {
        (Pat::Ident(name), Some(value)) if is_of_value(value) => cx.mark_signed(&name.ident),
        (Pat::Type(typed), _) => {
            note_type(cx, &typed.pat, &typed.ty);
            note(cx, &typed.pat, value);
        }
        (Pat::Tuple(pats), Some(Expr::Tuple(values))) if pats.elems.len() == values.elems.len() => {
            for (pat, value) in pats.elems.iter().zip(&values.elems) {
                note(cx, pat, Some(value));
            }
        }
        _ => {}
    }
}

/// The same of a pattern whose type is written.
pub(super) fn note_type(cx: &mut Cx, pat: &Pat, ty: &Type) {
    match (pat, ty) {
        (Pat::Ident(name), ty) if is_of_type(ty) => cx.mark_signed(&name.ident),
        (Pat::Tuple(pats), Type::Tuple(types)) if pats.elems.len() == types.elems.len() => {
            for (pat, ty) in pats.elems.iter().zip(&types.elems) {
                note_type(cx, pat, ty);
            }
        }
        _ => {}
    }
}

fn is_of_type(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_of_type(&reference.elem),
        Type::Array(array) => is_of_type(&array.elem),
        Type::Slice(slice) => is_of_type(&slice.elem),
        Type::Paren(paren) => is_of_type(&paren.elem),
        Type::Group(group) => is_of_type(&group.elem),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return false };
            match &last.arguments {
                PathArguments::None => is_signed(&last.ident.to_string()),
                PathArguments::AngleBracketed(given) if last.ident == "Vec" => {
                    matches!(given.args.first(), Some(GenericArgument::Type(ty)) if is_of_type(ty))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_of_value(value: &Expr) -> bool {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => is_signed(int.suffix()),
            Lit::Float(_) => true,
            _ => false,
        },
        Expr::Unary(unary) => matches!((&unary.op, &*unary.expr), (UnOp::Neg(_), Expr::Lit(_))),
        Expr::Cast(cast) => is_of_type(&cast.ty),
        Expr::Paren(paren) => is_of_value(&paren.expr),
        Expr::Group(group) => is_of_value(&group.expr),
        Expr::Array(array) => array.elems.first().is_some_and(is_of_value),
        Expr::Repeat(repeat) => is_of_value(&repeat.expr),
        Expr::Macro(mac) if mac.mac.path.is_ident("vec") => {
            let first = |input: syn::parse::ParseStream<'_>| {
                let first: Expr = input.parse()?;
                input.parse::<proc_macro2::TokenStream>()?;
                Ok(first)
            };
            first.parse2(mac.mac.tokens.clone()).is_ok_and(|first| is_of_value(&first))
        }
        _ => false,
    }
}

fn is_signed(name: &str) -> bool {
    matches!(name, "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "f32" | "f64")
}
