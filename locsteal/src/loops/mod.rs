//! Loops.
#![allow(dead_code, reason = "skeleton")]

mod launch;
mod participant;
