//! What the attribute stands on.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Block, Item, Lifetime, Stmt, Token};

/// What the attribute stands on.
pub(crate) enum Target {
    /// A function, or something that holds functions, or what should not have the attribute.
    Item(Box<Item>),
    /// A loop, or a `let` of one, where the compiler allows attributes there.
    Statement(Box<Stmt>),
}

impl Parse for Target {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let ahead = input.fork();
        let _ = ahead.call(Attribute::parse_outer)?;
        let statement = ahead.peek(Token![let])
            || ahead.peek(Token![while])
            || ahead.peek(Token![loop])
            || ahead.peek(Lifetime)
            || (ahead.peek(Token![for]) && !ahead.peek2(Token![<]));
        if !statement {
            return input.parse().map(|item| Self::Item(Box::new(item)));
        }
        let mut statements = Block::parse_within(input)?;
        match statements.pop() {
            Some(statement) if statements.is_empty() => Ok(Self::Statement(Box::new(statement))),
            _ => Err(input.error("expected one statement")),
        }
    }
}

impl ToTokens for Target {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Item(item) => item.to_tokens(tokens),
            Self::Statement(statement) => statement.to_tokens(tokens),
        }
    }
}
