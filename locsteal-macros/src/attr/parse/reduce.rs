//! Reading `reduce(..)`.

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::{Expr, ExprTuple, Token, parenthesized, token};

use super::{entries, next_token};
use crate::attr::{Clauses, Operator, Place, Reduce};
use crate::report::{error, nearest};

/// Reads `reduce(..)`.
pub(super) fn clause(
    input: ParseStream,
    keyword: &Ident,
    clauses: &mut Clauses,
) -> syn::Result<()> {
    if input.peek(token::Paren) {
        let ahead = input.fork();
        let content;
        parenthesized!(content in ahead);
        if content.peek(syn::Ident) && content.peek2(Token![,]) {
            let word: Ident = content.parse()?;
            if word == "reproducible" {
                clauses.reproducible = Some(word);
            }
        } else if content.peek(syn::Ident) && !content.peek2(token::Paren) {
            let word: Ident = content.parse()?;
            if word == "reproducible" && content.is_empty() {
                return Err(error(
                    word,
                    "`reproducible` says how to reduce, but not what",
                    "write `reduce(reproducible, +: sum)`",
                ));
            }
        }
    }
    let entries = entries(input, keyword, "reduce(+: sum)", entry)?;
    for (k, entry) in entries
        .into_iter()
        .enumerate()
        .flat_map(|(k, group)| group.into_iter().map(move |entry| (k, entry)))
    {
        if k > 0 && entry.operator == Operator::Combine && entry.place.to_string() == "reproducible"
        {
            return Err(error(
                &entry.expr,
                "`reproducible` stands before what is reduced",
                "write `reduce(reproducible, +: sum)`",
            ));
        }
        if clauses.reduce.iter().any(|other| other.place == entry.place) {
            return Err(error(
                &entry.expr,
                format_args!("`{}` is reduced twice", entry.place),
                "give it one operator",
            ));
        }
        clauses.reduce.push(entry);
    }
    Ok(())
}

const OPERATORS: &str = "the operators are `+`, `*`, `&`, `|`, `^`, `&&`, `||`, `min` and `max`; for a type that \
                         implements `Reduce` write its name alone: `reduce(hist)`";

/// `+: sum`, `max: hi`, `hist`, or several entries, `max: (hi, at)`; nothing for the word `reproducible`.
fn entry(input: ParseStream) -> syn::Result<Vec<Reduce>> {
    let operator = if input.peek(Token![&&]) {
        input.parse::<Token![&&]>()?;
        Some(Operator::And)
    } else if input.peek(Token![||]) {
        input.parse::<Token![||]>()?;
        Some(Operator::Or)
    } else if input.peek(Token![+]) {
        input.parse::<Token![+]>()?;
        Some(Operator::Add)
    } else if input.peek(Token![*]) && input.peek2(Token![:]) {
        input.parse::<Token![*]>()?;
        Some(Operator::Mul)
    } else if input.peek(Token![&]) && input.peek2(Token![:]) {
        input.parse::<Token![&]>()?;
        Some(Operator::BitAnd)
    } else if input.peek(Token![|]) {
        input.parse::<Token![|]>()?;
        Some(Operator::BitOr)
    } else if input.peek(Token![^]) {
        input.parse::<Token![^]>()?;
        Some(Operator::BitXor)
    } else if input.peek(syn::Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
        let word: Ident = input.parse()?;
        Some(match word.to_string().as_str() {
            "min" => Operator::Min,
            "max" => Operator::Max,
            "add" | "sum" | "plus" => return Err(wrong_operator(&word, "did you mean `+`?")),
            "mul" | "product" | "prod" => return Err(wrong_operator(&word, "did you mean `*`?")),
            "and" => {
                return Err(wrong_operator(
                    &word,
                    "did you mean `&&`, or `&` for the bits of integers?",
                ));
            }
            "or" => {
                return Err(wrong_operator(
                    &word,
                    "did you mean `||`, or `|` for the bits of integers?",
                ));
            }
            "xor" => return Err(wrong_operator(&word, "did you mean `^`?")),
            name => {
                let help =
                    nearest(name, ["min", "max"]).map(|meant| format!("did you mean `{meant}`?"));
                return Err(wrong_operator(&word, &help.unwrap_or_else(|| OPERATORS.to_owned())));
            }
        })
    } else if input.peek(Token![-]) && input.peek2(Token![:]) {
        return Err(error(
            input.parse::<Token![-]>()?,
            "`-` joins no two partial results",
            "write `reduce(+: ..)`: the body may subtract from a sum with `-=`",
        ));
    } else {
        None
    };
    if let Some(operator) = operator {
        if input.parse::<Token![:]>().is_err() {
            return Err(error(
                next_token(input),
                format_args!("expected `:` after the operator `{}`", operator.written()),
                format_args!("write `reduce({}: sum)`", operator.written()),
            ));
        }
        let expr: Expr = input.parse()?;
        return match &expr {
            Expr::Tuple(tuple) if !tuple.elems.is_empty() => group(tuple, operator),
            _ => Ok(vec![variable(expr, operator)?]),
        };
    }
    let word = input.fork().parse::<Ident>().ok();
    if word.is_some_and(|word| word == "reproducible") && input.peek2(Token![,]) {
        input.parse::<Ident>()?;
        return Ok(Vec::new());
    }
    Ok(vec![variable(input.parse()?, Operator::Combine)?])
}

fn wrong_operator(word: &Ident, help: &str) -> syn::Error {
    error(word, format_args!("there is no reduction operator `{word}`"), help)
}

/// `(value, along, ..)`: what goes along with a least or greatest value.
fn group(tuple: &ExprTuple, operator: Operator) -> syn::Result<Vec<Reduce>> {
    if !matches!(operator, Operator::Min | Operator::Max) {
        return Err(error(
            tuple,
            format_args!("`{}` joins the values of one variable", operator.written()),
            format_args!(
                "give each its own entry, `reduce({0}: a, {0}: b)`: only with `min` and `max` something goes along with the value",
                operator.written()
            ),
        ));
    }
    let mut entries = Vec::new();
    for expr in &tuple.elems {
        entries.push(variable(expr.clone(), operator)?);
    }
    if entries.len() > 1 {
        let group: Vec<Place> = entries.iter().map(|entry| entry.place.clone()).collect();
        for entry in &mut entries {
            entry.group.clone_from(&group);
        }
    }
    Ok(entries)
}

fn variable(expr: Expr, operator: Operator) -> syn::Result<Reduce> {
    match Place::of(&expr) {
        Some(place) => Ok(Reduce { operator, expr, place, group: Vec::new() }),
        None => Err(error(
            &expr,
            "a reduction needs a variable",
            "declare it before the loop, `let mut sum = 0.0;`, and write `reduce(+: sum)`",
        )),
    }
}
