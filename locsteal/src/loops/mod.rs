//! Loops.
#![allow(dead_code, reason = "skeleton")]

pub mod builder;
mod collect;
mod drive;
mod launch;
#[cfg(all(test, not(loom)))]
mod launch_tests;
mod participant;
pub(crate) mod progress;
pub mod reduce;
pub mod source;
