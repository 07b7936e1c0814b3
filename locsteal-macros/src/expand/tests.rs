//! The expansions that the documentation shows, and input that no one would write.

use std::path::Path;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use super::par_for;

/// What the attribute makes of a marked item, as a reader would write it.
fn expansion(source: &str) -> String {
    let item: syn::Item = syn::parse_str(source).expect("an item");
    let mut tokens = quote::quote!(#item);
    let mark = match &item {
        syn::Item::Fn(item) => item.attrs.first().cloned(),
        syn::Item::Impl(item) => item.attrs.first().cloned(),
        _ => None,
    };
    let mark = mark.expect("a mark");
    let clauses = match &mark.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    // The attribute itself is not part of what it stands on.
    let mut inner = item;
    match &mut inner {
        syn::Item::Fn(item) => drop(item.attrs.remove(0)),
        syn::Item::Impl(item) => drop(item.attrs.remove(0)),
        _ => {}
    }
    tokens =
        par_for(clauses, quote::quote!(#inner)).into_iter().chain(std::iter::empty()).collect();
    let file: syn::File = syn::parse2(tokens).expect("the expansion is an item");
    prettyplease::unparse(&file)
}

/// `docs/expansions.md` shows loops and what they become; with `LOCSTEAL_BLESS=1` it is written anew.
#[test]
fn the_documentation_shows_what_loops_become() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/expansions.md");
    let Ok(page) = std::fs::read_to_string(&path) else {
        // A copy of this package alone has no pages.
        return;
    };
    let mut renewed = String::new();
    let mut rest = page.as_str();
    let mut shown = 0;
    while let Some((before, after)) = rest.split_once("```rust\n") {
        let (source, after) = after.split_once("```\n").expect("the block ends");
        let (between, after) = after.split_once("```rust,ignore\n").expect("an expansion follows");
        let (_, after) = after.split_once("```\n").expect("the block ends");
        let expansion = expansion(source);
        renewed +=
            &format!("{before}```rust\n{source}```\n{between}```rust,ignore\n{expansion}```\n");
        rest = after;
        shown += 1;
    }
    renewed += rest;
    assert!(shown >= 3, "{shown} loops are shown");
    if std::env::var_os("LOCSTEAL_BLESS").is_some() {
        std::fs::write(&path, &renewed).expect("the page can be written");
    }
    assert!(
        page == renewed,
        "an expansion has changed: run this test with LOCSTEAL_BLESS=1 and read the difference"
    );
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

const WORDS: [&str; 54] = [
    "fn",
    "for",
    "in",
    "let",
    "mut",
    "if",
    "else",
    "match",
    "while",
    "loop",
    "break",
    "continue",
    "return",
    "async",
    "await",
    "move",
    "unsafe",
    "const",
    "impl",
    "mod",
    "trait",
    "struct",
    "self",
    "Self",
    "pub",
    "static",
    "x",
    "y",
    "i",
    "j",
    "par_for",
    "own",
    "reduce",
    "local",
    "collapse",
    "schedule",
    "steal",
    "chunks",
    "len",
    "vec",
    "println",
    "yield",
    "ref",
    "dyn",
    "use",
    "macro_rules",
    "cfg",
    "matches",
    "format",
    "insert",
    "min",
    "include",
    "reproducible",
    "get",
];

fn random_token(dice: &mut Dice, depth: usize) -> TokenTree {
    match dice.below(if depth > 3 { 4 } else { 5 }) {
        0 => Ident::new(WORDS[dice.below(WORDS.len())], Span::call_site()).into(),
        1 => {
            let marks = [
                '+', '-', '*', '&', '|', '^', '=', '<', '>', '.', ',', ';', ':', '#', '!', '?',
                '\'', '@', '$',
            ];
            Punct::new(
                marks[dice.below(marks.len())],
                [Spacing::Alone, Spacing::Joint][dice.below(2)],
            )
            .into()
        }
        2 => Ident::new(["x", "y", "i", "n"][dice.below(4)], Span::call_site()).into(),
        3 => match dice.below(4) {
            0 => Literal::u64_unsuffixed(dice.below(5) as u64).into(),
            1 => Literal::string(["{x} {}", "{s:>x$} {{y}}", "{x:.*} {:1$}", "{"][dice.below(4)])
                .into(),
            2 => Literal::f64_suffixed(1.5).into(),
            _ => Literal::character('c').into(),
        },
        _ => {
            let delimiters =
                [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None];
            let count = dice.below(6);
            let inner = (0..count).map(|_| random_token(dice, depth + 1)).collect();
            Group::new(delimiters[dice.below(4)], inner).into()
        }
    }
}

/// Changes a token here and there, also within groups.
fn mutate(tokens: TokenStream, dice: &mut Dice, rate: usize) -> TokenStream {
    let mut mutated: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let token = match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), mutate(group.stream(), dice, rate));
                inner.set_span(group.span());
                inner.into()
            }
            token => token,
        };
        match dice.below(rate) {
            0 => {}
            1 => mutated.extend([token.clone(), token]),
            2 => mutated.push(random_token(dice, 2)),
            3 => mutated.extend([random_token(dice, 2), token]),
            4 => {
                let last = mutated.pop();
                mutated.push(token);
                mutated.extend(last);
            }
            _ => mutated.push(token),
        }
    }
    mutated.into_iter().collect()
}

/// Real functions to start from.
const SEEDS: [(&str, &str); 12] = [
    (
        "schedule = steal, locality = llc",
        "fn axpy(a: f64, x: &[f64], y: &mut [f64]) { for i in 0..x.len() { y[i] += a * x[i]; } }",
    ),
    (
        "reduce(+: s, max: m), local(buf: Vec<u8> = Vec::new(), n = 0)",
        "fn f(x: &[f64]) -> f64 { let (mut s, mut m) = (0.0, 0.0); for (i, v) in x.iter().enumerate().rev() { s += *v; \
         if x[i] > m { m = x[i]; } buf.push(1); n += 1; } s + m }",
    ),
    (
        "own(c.chunks(m)), grain = 4, threads = t, pool = &pool, name = \"rows\"",
        "fn f(&mut self, c: &mut [f64]) -> Result<(), E> { 'a: for i in 0..n { for j in 0..m { if j == 3 { continue 'a; } \
         c[i * m + j] = self.x[j]?; c[i * m..(i + 1) * m].fill(0.0); } } Ok(()) }",
    ),
    (
        "",
        "impl S { fn f(&self) { #[par_for(collapse = 2)] for i in 0..n { for j in 0..m { self.c[i * m + j] = 1; } } } \
         async fn g() { let v: Vec<T> = #[par_for] for x in xs { h(x)? }; v.len().await } }",
    ),
    (
        "",
        "mod m { fn f() { #[par_for] for i in 0..3 { #[par_for(reduce(hist))] for j in 0..i { hist.add(j); return; } } } }",
    ),
    (
        "progress = |d: u64| bar(d), report = &mut stats",
        "fn f() { match a { 1 => for i in r { println!(\"{}\", y[i]); vec![y[i]; 3]; }, _ => {} } }",
    ),
    (
        "",
        "fn f(y: &mut [u8]) { let g = |k| { for i in 0..k { let j = i + 1; y[j] = 2; y[i][j].z.push(&mut w); } }; g(3) }",
    ),
    (
        "reduce(reproducible, +: *s)",
        "fn f(s: &mut f32) { for i in (0..n).step_by(2).zip(&z) { *s += 1.0; s = 2.0; } }",
    ),
    (
        "reduce(+: s, min: self.lo), reduce(set)",
        "fn f(&mut self) { macro_rules! m { () => { s } } 'a: for i in 0..n { s -= 1; s = s - x[i]; if x[i] < self.lo \
         { self.lo = x[i]; } #[par_for(reduce(+: s))] for j in 0..2 { s += m!(); if j == i { break 'a; } } \
         let k = set.len(); if k > 3 { y[i] = k; } set.insert(i); println!(\"{s:>k$}\", k = self.get()); } }",
    ),
    (
        "own(c.chunks(m))",
        "fn f(c: &mut [u8]) { for i in 0..n { use a::{b, c as d, *}; #[cfg(x)] let t = x[i]; const z: [u8; 1] = [0]; \
         let m!(i) = z[i]; let Some(v) = c.get(i) else { fail(i) }; c.fill(0); c[..] = matches!(v, Some(A) if x[i] > A); \
         #[par_for(own(c.chunks(2)))] for k in 0..i { c[2 * k] = vec![1; c.len()][0]; } } }",
    ),
    (
        "own(self.a.rows())",
        "fn f(&mut self, b: &mut Array2<f64>) { for i in (0..n).rev() { for j in 0..self.a.ncols() { self.a[[i, j]] = c[(i + 1, j)]; \
         b[[i, j, 0]] += self.a.row_mut(i)[j]; mem::swap(&mut b[(i, 0, 1)], &mut d); y[i] = b.dim().0; } } }",
    ),
    (
        "",
        "fn f(y: &mut [u8]) -> Result<(), Box<dyn Error>> { #[par_for] for i in 0..n { 'b: { if c && x[i] > 0 || g(i) { break 'b; } \
         y[i] = x[i + k] - x[i - k]; } include!(\"x\"); debug_assert!(x[i] == 1, \"{y:?}\"); return Err(e.into()); } Ok(()) }",
    ),
];

#[test]
fn nothing_makes_the_macro_panic() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for round in 0..6000 {
        let (clauses, item) = SEEDS[dice.below(SEEDS.len())];
        let (clauses, item): (TokenStream, TokenStream) =
            (clauses.parse().unwrap(), item.parse().unwrap());
        let rate = [6, 20, 60, 200][dice.below(4)];
        let (clauses, item) = match round % 4 {
            0 => (clauses, mutate(item, &mut dice, rate)),
            1 => (mutate(clauses, &mut dice, rate), item),
            2 => (mutate(clauses, &mut dice, rate), mutate(item, &mut dice, rate)),
            _ => {
                let mut stream = |n: usize| -> TokenStream {
                    (0..n).map(|_| random_token(&mut dice, 0)).collect()
                };
                (stream(6), stream(30))
            }
        };
        let (said_clauses, said_item) = (clauses.to_string(), item.to_string());
        let output = std::panic::catch_unwind(|| par_for(clauses, item));
        assert!(output.is_ok(), "#[par_for({said_clauses})]\n{said_item}");
    }
}

#[test]
fn what_is_correct_expands_to_an_item() {
    for (clauses, item) in SEEDS {
        let expanded = par_for(clauses.parse().unwrap(), item.parse().unwrap());
        syn::parse2::<syn::File>(expanded.clone())
            .unwrap_or_else(|error| panic!("{error}\n{expanded}"));
    }
}
