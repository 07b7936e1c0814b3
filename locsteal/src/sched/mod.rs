//! The scheduling core: given a loop's shared state and the time, what does a participant do next?
//!
//! It holds no thread, no clock and no system call. The pool drives it with real threads, the model checker with every
//! interleaving, the simulator with virtual time. `README.md` beside this file tells the protocol: states,
//! transitions, and the races that matter.

mod block;
mod board;
mod ending;
mod look;
mod partition;
mod presence;
mod rules;
#[cfg(all(test, not(loom)))]
mod rules_tests;
mod schedule;
mod step;
mod victims;

pub(crate) use board::{Board, Entry};
pub(crate) use ending::Ending;
pub(crate) use partition::Deal;
pub(crate) use presence::Generation;
#[cfg(feature = "simulator")]
pub(crate) use rules::{Rules, Sight, Standard};
pub(crate) use schedule::Kind;
pub use schedule::{Locality, Schedule};
pub(crate) use step::{Step, View, Walk};
pub(crate) use victims::{Orders, SeatHome, Thief};
