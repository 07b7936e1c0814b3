//! Reading the clauses.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprTuple, Lit, Token, parenthesized, token};

use super::{Clause, Clauses, Local, Operator, Own, Place, Reduce, values};
use crate::report::{Report, error, nearest};

/// All clauses, in the order in which they are told to those who misspell one.
const KEYWORDS: [&str; 13] = [
    "schedule", "locality", "grain", "threads", "pool", "own", "reduce", "local", "collapse",
    "name", "progress", "report", "crate",
];

/// Reads what stands between the parentheses. What cannot be read is reported and skipped.
pub(crate) fn clauses(tokens: TokenStream, report: &mut Report) -> Clauses {
    let mut clauses = Clauses::default();
    let parser = |input: ParseStream| {
        while !input.is_empty() {
            if let Err(error) = clause(input, &mut clauses) {
                report.push(error);
                skip_clause(input);
            }
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                report.push(error(
                    next_token(input),
                    "expected `,` between two clauses",
                    "write `#[par_for(schedule = steal, own(y))]`",
                ));
                skip_clause(input);
                let _ = input.parse::<Token![,]>();
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        report.push(error);
    }
    clauses
}

/// The token that comes next, for an error to underline.
fn next_token(input: ParseStream) -> TokenStream {
    input.cursor().token_tree().map(|(token, _)| token.into_token_stream()).unwrap_or_default()
}

/// Moves to the comma that ends a clause.
fn skip_clause(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<proc_macro2::TokenTree>().is_err() {
            return;
        }
    }
}

fn clause(input: ParseStream, clauses: &mut Clauses) -> syn::Result<()> {
    let Ok(keyword) = input.call(Ident::parse_any) else {
        return Err(error(
            next_token(input),
            "expected a clause",
            format_args!("the clauses are {}", list(&KEYWORDS)),
        ));
    };
    let name = keyword.to_string();
    match name.as_str() {
        "schedule" => {
            equals(input, &keyword, "schedule = steal")?;
            let value = values::schedule(input)?;
            once(&mut clauses.schedule, &keyword, value)
        }
        "locality" => {
            equals(input, &keyword, "locality = llc")?;
            let value = values::locality(input)?;
            once(&mut clauses.locality, &keyword, value)
        }
        "grain" => {
            equals(input, &keyword, "grain = 64")?;
            let value = count(
                input,
                "grain",
                "a grain is the smallest number of iterations worth handing over",
            )?;
            once(&mut clauses.grain, &keyword, value)
        }
        "threads" => {
            equals(input, &keyword, "threads = 4")?;
            let value = count(
                input,
                "number of threads",
                "to run on the caller alone write `schedule = serial`",
            )?;
            once(&mut clauses.threads, &keyword, value)
        }
        "pool" => {
            equals(input, &keyword, "pool = &pool")?;
            let value = input.parse()?;
            once(&mut clauses.pool, &keyword, value)
        }
        "name" => {
            equals(input, &keyword, "name = \"solver\"")?;
            let value = values::name(input)?;
            once(&mut clauses.name, &keyword, value)
        }
        "progress" => {
            equals(input, &keyword, "progress = |done: u64| ..")?;
            let value = input.parse()?;
            once(&mut clauses.progress, &keyword, value)
        }
        "report" => {
            equals(input, &keyword, "report = &mut stats")?;
            let value = input.parse()?;
            once(&mut clauses.report, &keyword, value)
        }
        "collapse" => {
            equals(input, &keyword, "collapse = 2")?;
            let value = values::depth(input)?;
            once(&mut clauses.collapse, &keyword, value)
        }
        "crate" => {
            equals(input, &keyword, "crate = my_library::locsteal")?;
            let value = input.call(syn::Path::parse_mod_style)?;
            once(&mut clauses.krate, &keyword, value)
        }
        "own" => {
            for entry in entries(input, &keyword, "own(y)", own)? {
                if clauses.own.iter().any(|other| other.place == entry.place) {
                    return Err(error(
                        &entry.expr,
                        format_args!("`{}` is owned twice", entry.place),
                        "say once which part of it an iteration owns",
                    ));
                }
                let around = |other: &&Own| {
                    other.place.contains(&entry.place) || entry.place.contains(&other.place)
                };
                if let Some(other) = clauses.own.iter().find(around) {
                    let (whole, part) = if entry.place.contains(&other.place) {
                        (&entry.place, &other.place)
                    } else {
                        (&other.place, &entry.place)
                    };
                    return Err(error(
                        &entry.expr,
                        format_args!(
                            "`{part}` is a part of `{whole}`, so that iterations would own it twice"
                        ),
                        "own the arrays whose elements the body writes, and nothing around them",
                    ));
                }
                clauses.own.push(entry);
            }
            Ok(())
        }
        "reduce" => reductions(input, &keyword, clauses),
        "local" => {
            for entry in entries(input, &keyword, "local(buf = Vec::new())", local)? {
                if clauses.local.iter().any(|other| other.name == entry.name) {
                    return Err(error(
                        &entry.name,
                        format_args!("`{}` is declared twice", entry.name),
                        "give each local a name of its own",
                    ));
                }
                clauses.local.push(entry);
            }
            Ok(())
        }
        _ => {
            let help = match (name.as_str(), nearest(&name, KEYWORDS)) {
                ("private" | "firstprivate" | "lastprivate", _) => {
                    "declare the variable inside of the body, or make it with `local(name = ..)`"
                        .to_owned()
                }
                ("shared" | "default", _) => {
                    "leave it out: what the body only reads is shared".to_owned()
                }
                ("reduction", _) => "did you mean `reduce`? as in `reduce(+: sum)`".to_owned(),
                ("num_threads", _) => "did you mean `threads`?".to_owned(),
                ("reproducible", _) => {
                    "it says how to reduce: write `reduce(reproducible, +: sum)`".to_owned()
                }
                ("chunk" | "chunk_size", _) => {
                    "write `schedule = dynamic(chunk)` or `static(chunk)`".to_owned()
                }
                ("nowait" | "ordered", _) => {
                    "a marked loop has ended when the next statement runs".to_owned()
                }
                (_, Some(meant)) => format!("did you mean `{meant}`?"),
                (_, None) => format!("the clauses are {}", list(&KEYWORDS)),
            };
            Err(error(&keyword, format_args!("there is no clause `{keyword}`"), help))
        }
    }
}

/// `a`, `b` and `c`
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

fn equals(input: ParseStream, keyword: &Ident, example: &str) -> syn::Result<()> {
    let missing = || {
        error(keyword, format_args!("`{keyword}` needs a value"), format_args!("write `{example}`"))
    };
    input.parse::<Token![=]>().map_err(|_| missing())?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(missing());
    }
    Ok(())
}

fn once<T>(slot: &mut Option<Clause<T>>, keyword: &Ident, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(error(
            keyword,
            format_args!("`{keyword}` is given twice"),
            "leave one of the two out",
        ));
    }
    *slot = Some(Clause { value });
    Ok(())
}

/// An expression that counts something.
fn count(input: ParseStream, what: &str, help: &str) -> syn::Result<Expr> {
    let value: Expr = input.parse()?;
    values::positive(&value, what, help)?;
    Ok(value)
}

/// The entries of a clause that has some.
fn entries<T>(
    input: ParseStream,
    keyword: &Ident,
    example: &str,
    entry: fn(ParseStream) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let write = || format!("write `{example}`");
    if !input.peek(token::Paren) {
        return Err(error(
            keyword,
            format_args!("`{keyword}` needs a list in parentheses"),
            write(),
        ));
    }
    let content;
    parenthesized!(content in input);
    if content.is_empty() {
        return Err(error(keyword, format_args!("`{keyword}` names nothing"), write()));
    }
    let entries = Punctuated::<T, Token![,]>::parse_terminated_with(&content, entry);
    if entries.is_err() {
        // What follows a mistake is no mistake by itself.
        content.parse::<TokenStream>()?;
    }
    Ok(entries?.into_iter().collect())
}

fn own(input: ParseStream) -> syn::Result<Own> {
    let expr: Expr = input.parse()?;
    let mut rows = false;
    let (array, chunks) = match &expr {
        Expr::MethodCall(call) if call.method == "rows" && call.args.is_empty() => {
            rows = true;
            (&*call.receiver, None)
        }
        Expr::MethodCall(call) if call.method == "chunks" && call.args.len() == 1 => {
            values::positive(&call.args[0], "chunk", "an iteration owns at least one element")?;
            (&*call.receiver, Some(call.args[0].clone()))
        }
        Expr::MethodCall(call) => {
            let help =
                match nearest(&call.method.to_string(), ["chunks", "chunks_mut", "chunks_exact"]) {
                    Some(_) => format!(
                        "write `{}.chunks(m)`: iteration `i` owns the `i`-th `m` elements",
                        tokens(&call.receiver)
                    ),
                    None => {
                        format!("write `own({})` or `own({0}.chunks(m))`", tokens(&call.receiver))
                    }
                };
            return Err(error(
                &call.method,
                format_args!("an iteration cannot own `.{}(..)`", call.method),
                help,
            ));
        }
        Expr::Reference(reference) => {
            let inner = tokens(&reference.expr);
            return Err(error(
                &expr,
                "`own` takes the array itself",
                format_args!("write `own({inner})`"),
            ));
        }
        Expr::Index(index) => {
            let inner = tokens(&index.expr);
            return Err(error(
                &expr,
                "`own` takes a whole array, not a part of it",
                format_args!(
                    "bind the part to a name before the loop, `let part = &mut {};`, or own `{inner}`",
                    tokens(&expr)
                ),
            ));
        }
        _ => (&expr, None),
    };
    match Place::of(array) {
        Some(place) => Ok(Own { expr, place, chunks, rows }),
        None => Err(error(
            array,
            "`own` takes something made of names and fields",
            "bind the array to a name before the loop: `let y = &mut ..;`",
        )),
    }
}

/// The tokens as the user would write them.
pub(crate) fn tokens(of: &impl ToTokens) -> String {
    let text = of.to_token_stream().to_string();
    let mut tidy =
        text.replace(" . ", ".").replace(" (", "(").replace("( ", "(").replace(" )", ")");
    for (spaced, tight) in [
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        ("& ", "&"),
        (" ,", ","),
        (" ;", ";"),
        (" ::", "::"),
        (":: ", "::"),
        (" ?", "?"),
        (" ..", ".."),
        (".. ", ".."),
        ("* ", "*"),
        (" !", "!"),
    ] {
        // `*` and `&` are also operators between two operands, which keep their spaces.
        if matches!(spaced, "& " | "* ") {
            if tidy.starts_with(spaced) {
                tidy = format!("{tight}{}", &tidy[spaced.len()..]);
            }
            tidy = tidy.replace(&format!("({spaced}"), &format!("({tight}"));
            continue;
        }
        tidy = tidy.replace(spaced, tight);
    }
    tidy
}

fn reductions(input: ParseStream, keyword: &Ident, clauses: &mut Clauses) -> syn::Result<()> {
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
    let entries = entries(input, keyword, "reduce(+: sum)", reduction)?;
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
fn reduction(input: ParseStream) -> syn::Result<Vec<Reduce>> {
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

fn local(input: ParseStream) -> syn::Result<Local> {
    let _ = input.parse::<Option<Token![mut]>>()?;
    let name: Ident = input.parse().map_err(|_| {
        error(next_token(input), "expected a name", "write `local(buf = Vec::new())`")
    })?;
    let ty = match input.parse::<Option<Token![:]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    if input.parse::<Token![=]>().is_err() {
        return Err(error(
            &name,
            format_args!("`{name}` needs a value to begin with"),
            format_args!("write `local({name} = ..)`: each participant makes itself one"),
        ));
    }
    Ok(Local { name, ty, init: input.parse()? })
}

/// Whether the expression is this number.
pub(super) fn is_number(expr: &Expr, number: u64) -> bool {
    match expr {
        Expr::Lit(lit) => {
            matches!(&lit.lit, Lit::Int(int) if int.base10_parse::<u64>().is_ok_and(|n| n == number))
        }
        Expr::Paren(paren) => is_number(&paren.expr, number),
        Expr::Group(group) => is_number(&group.expr, number),
        _ => false,
    }
}
