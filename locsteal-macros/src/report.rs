//! Errors: each says what is wrong, and what to write instead.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::fmt::Display;

/// The errors that were found in one item.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<syn::Error>,
}

impl Report {
    /// An error at these tokens.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, what: impl Display, help: impl Display) {
        self.errors.push(syn::Error::new_spanned(tokens, message(what, help)));
    }

    /// An error at a place that is no token of its own.
    pub(crate) fn error_at(&mut self, span: Span, what: impl Display, help: impl Display) {
        self.errors.push(error_at(span, what, help));
    }

    /// What the parser found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The errors, each once, in the order of the source as far as that is known.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let mut seen = std::collections::HashSet::new();
        self.errors
            .into_iter()
            .filter(|error| seen.insert((format!("{:?}", error.span()), error.to_string())))
            .map(|error| error.to_compile_error())
            .collect()
    }
}

/// An error in words of the same form, where a parser needs one.
pub(crate) fn error(tokens: impl ToTokens, what: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new_spanned(tokens, message(what, help))
}

/// An error in words of the same form, where there is nothing but a place.
pub(crate) fn error_at(span: Span, what: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new(span, message(what, help))
}

fn message(what: impl Display, help: impl Display) -> String {
    format!("{what}\nhelp: {help}")
}

/// The candidate that was probably meant by `word`.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let close = |candidate: &str| {
        let limit = candidate.len().max(word.len()) / 3 + 1;
        let distance = edit_distance(word, candidate);
        (distance <= limit.min(3) && distance < candidate.len()).then_some(distance)
    };
    candidates.into_iter().filter_map(|c| Some((close(c)?, c))).min().map(|(_, c)| c)
}

/// How many letters must be changed, added, left out or swapped with their neighbour.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_recognised_and_far_ones_are_not() {
        let clauses = ["schedule", "locality", "grain", "own", "reduce"];
        for (word, meant) in [
            ("shedule", Some("schedule")),
            ("scheduel", Some("schedule")),
            ("owns", Some("own")),
            ("redcue", Some("reduce")),
            ("grains", Some("grain")),
            ("if", None),
            ("x", None),
            ("collapse", None),
        ] {
            assert_eq!(nearest(word, clauses), meant, "{word}");
        }
    }
}
