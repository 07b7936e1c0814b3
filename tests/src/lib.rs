//! Behaviour of locsteal seen from outside: the tests stand in `tests/`, what they share here.
#![allow(clippy::missing_panics_doc, reason = "what fails here fails a test")]

#[cfg(target_os = "linux")]
pub mod locality;
pub mod machines;
#[cfg(target_os = "linux")]
pub mod process;

/// The examples of the page about loops without macros.
#[cfg(doctest)]
#[doc = include_str!("../../docs/functions.md")]
pub mod functions {}

/// The examples of the page about marked loops.
#[cfg(doctest)]
#[doc = include_str!("../../docs/language.md")]
pub mod language {}
