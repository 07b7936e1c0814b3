//! Loops.
#![allow(dead_code, reason = "skeleton")]

mod launch;
pub(crate) mod progress;
pub mod reduce;
pub mod source;
