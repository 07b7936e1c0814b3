//! The standard library's macros that the attribute looks into.
//!
//! Generated code imports them all by a glob, and then each that a body uses by its name. Where such a name means another
//! macro there, the compiler says that it is ambiguous: what the attribute has made of its arguments would not be right.

pub use std::{
    assert, dbg, debug_assert, debug_assert_eq, debug_assert_ne, eprint, eprintln, format,
    format_args, matches, print, println, todo, unimplemented, unreachable, vec, write, writeln,
};
