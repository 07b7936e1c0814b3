//! Loops.

mod auto;
pub(crate) mod builder;
mod collect;
mod drive;
pub(crate) mod first_touch;
mod launch;
#[cfg(all(test, not(loom)))]
mod launch_tests;
pub(crate) mod own;
mod participant;
pub(crate) mod progress;
pub mod reduce;
pub(crate) mod site;
pub mod source;
pub(crate) mod support;

#[cfg(feature = "simulator")]
pub(crate) use launch::{Entry, Plan, Shape, launch};
#[cfg(feature = "simulator")]
pub(crate) use participant::Participant;
