//! What was written in `spawn_near!(..)`: options, and what follows them.

use std::iter::Peekable;

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::report::Report;

/// The macro's input, taken apart.
pub(crate) struct Written {
    pub(crate) options: Vec<WrittenOption>,
    /// What should be a closure.
    pub(crate) rest: TokenStream,
}

/// One option: `key = value`.
pub(crate) struct WrittenOption {
    pub(crate) key: Ident,
    /// Empty if nothing was written.
    pub(crate) value: TokenStream,
}

impl Written {
    /// Takes the input apart; `None` if that is impossible.
    ///
    /// Options end at a `,` or `>` that is in no brackets. A `<` opens brackets, so that types may have arguments; the
    /// price is that comparisons must stand in parentheses.
    pub(crate) fn parse(input: TokenStream, report: &mut Report) -> Option<Self> {
        let mut tokens = input.into_iter().peekable();
        let mut options = Vec::new();
        let Some(open) = tokens.next_if(|token| is_punct(token, '<')) else {
            return Some(Self { options, rest: tokens.collect() });
        };
        loop {
            let (option, end) = next_option(&mut tokens);
            let is_last = match end {
                End::Comma => false,
                End::Close => true,
                End::Missing => {
                    report.error(
                        open,
                        "these options are not closed",
                        "write them as `spawn_near!(<weight = n, name = \"index\"> move || work())`; a comparison in \
                         an option must stand in parentheses",
                    );
                    return None;
                }
            };
            match take_apart(option) {
                Ok(Some(option)) => options.push(option),
                // A comma before the end.
                Ok(None) if is_last => {}
                Ok(None) => report.error_at(
                    open.span(),
                    "there is a comma without an option in front of it",
                    "write options as `<weight = n, name = \"index\">`",
                ),
                Err(span) => report.error_at(
                    span,
                    "an option is a name, `=` and a value",
                    "write options as `<weight = n, name = \"index\">`",
                ),
            }
            if is_last {
                return Some(Self { options, rest: tokens.collect() });
            }
        }
    }
}

/// What an option ends at.
enum End {
    Comma,
    Close,
    Missing,
}

/// The tokens of the next option.
fn next_option(tokens: &mut Peekable<impl Iterator<Item = TokenTree>>) -> (Vec<TokenTree>, End) {
    let mut option = Vec::new();
    let mut depth = 0;
    // Of `->`, `=>`, `>=` and `<=` no part is a bracket.
    let mut joined: Option<char> = None;
    while let Some(token) = tokens.next() {
        let punct = as_punct(&token).map(Punct::as_char);
        let before = joined.take();
        if let Some(punct) = as_punct(&token)
            && punct.spacing() == Spacing::Joint
        {
            joined = Some(punct.as_char());
        }
        let part_of_operator = matches!(before, Some('-' | '='))
            || joined.is_some() && tokens.peek().is_some_and(|next| is_punct(next, '='));
        match punct {
            Some('<') if !part_of_operator => depth += 1,
            Some('>') if !part_of_operator && depth == 0 => return (option, End::Close),
            Some('>') if !part_of_operator => depth -= 1,
            Some(',') if depth == 0 => return (option, End::Comma),
            _ => {}
        }
        option.push(token);
    }
    (option, End::Missing)
}

/// Key and value; the place where something else was found.
fn take_apart(option: Vec<TokenTree>) -> Result<Option<WrittenOption>, Span> {
    let mut tokens = option.into_iter();
    let key = match tokens.next() {
        None => return Ok(None),
        Some(TokenTree::Ident(key)) => key,
        Some(other) => return Err(other.span()),
    };
    match tokens.next() {
        Some(token) if is_punct(&token, '=') => {
            Ok(Some(WrittenOption { key, value: tokens.collect() }))
        }
        Some(other) => Err(other.span()),
        None => Err(key.span()),
    }
}

fn as_punct(token: &TokenTree) -> Option<&Punct> {
    match token {
        TokenTree::Punct(punct) => Some(punct),
        _ => None,
    }
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    as_punct(token).is_some_and(|punct| punct.as_char() == c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(input: &str) -> Option<(Vec<(String, String)>, String)> {
        let mut report = Report::default();
        let written = Written::parse(input.parse().unwrap(), &mut report)?;
        let options = written.options.iter();
        let options = options.map(|option| (option.key.to_string(), unspaced(&option.value)));
        report.is_empty().then(|| (options.collect(), unspaced(&written.rest)))
    }

    fn unspaced(tokens: &TokenStream) -> String {
        tokens.to_string().replace(' ', "")
    }

    #[test]
    fn options_are_told_from_the_closure() {
        for (input, keys, rest) in [
            ("move || f()", &[][..], "move || f ()"),
            ("|| a < b && c > d", &[], "|| a < b && c > d"),
            ("<> || 1", &[], "|| 1"),
            ("<weight = n> || 1", &[("weight", "n")], "|| 1"),
            ("<weight = n,> || 1", &[("weight", "n")], "|| 1"),
            (
                "<weight = f(a, b), name = \"x\"> || 1",
                &[("weight", "f (a , b)"), ("name", "\"x\"")],
                "|| 1",
            ),
            (
                "<weight = size_of::<Vec<u8>>(), near = n> || 1",
                &[("weight", "size_of :: < Vec < u8 >> ()"), ("near", "n")],
                "|| 1",
            ),
            (
                "<weight = { let f: fn(u8) -> u8 = g; 3 }> || 1",
                &[("weight", "{ let f : fn (u8) -> u8 = g ; 3 }")],
                "|| 1",
            ),
            ("<weight = n as fn() -> u8> || 1", &[("weight", "n as fn () -> u8")], "|| 1"),
            ("<weight = (a > b) as usize> || 1", &[("weight", "(a > b) as usize")], "|| 1"),
            ("<weight = > || 1", &[("weight", "")], "|| 1"),
        ] {
            let keys: Vec<_> =
                keys.iter().map(|&(k, v)| (k.to_owned(), v.replace(' ', ""))).collect();
            assert_eq!(parse(input), Some((keys, rest.replace(' ', ""))), "{input}");
        }
    }

    #[test]
    fn what_is_no_option_is_found() {
        for input in
            ["<weight> || 1", "<3 = 4> || 1", "<weight: 4> || 1", "<, > || 1", "<weight = n || 1"]
        {
            assert_eq!(parse(input), None, "{input}");
        }
    }
}
