//! Loops.
#![allow(dead_code, reason = "skeleton")]

mod auto;
mod launch;
#[cfg(all(test, not(loom)))]
mod launch_tests;
mod participant;

#[cfg(feature = "simulator")]
pub(crate) use launch::{Plan, Shape};
