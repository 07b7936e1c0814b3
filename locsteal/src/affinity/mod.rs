//! Where threads may run: affinity masks, the layout of seats over a machine, and how many seats a
//! pool has by default.
//!
//! | file | holds |
//! | --- | --- |
//! | `mask.rs` | reading and setting the calling thread's mask, of any size |
//! | `kernel.rs` | the system calls for it |
//! | `pages.rs` | giving pages back, so that they come from the node of who touches them next |
//! | `placement.rs` | [`Placement`], [`Layout`], and what a [`Home`] is |
//! | `seating.rs` | a home for each seat: [`Seating`] |
//! | `width.rs`, `quota.rs` | the default number of seats; the CPU quota of the container |
//! | `environment.rs` | the `LOCSTEAL_..` variables |
//! | `guard.rs` | the affinity guard: [`Near`], [`NearGuard`], [`unpinned`] |
//! | `guard_pin.rs`, `guard_slots.rs` | its protocol, in prose and in code; the cap on pins |
//! | `step_aside.rs` | moving a thread to another CPU without tying it down |
//! | `detect.rs` | [`Topology::detect`](crate::Topology::detect) |

mod detect;
pub(crate) mod environment;
mod guard;
pub(crate) mod guard_pin;
mod guard_slots;
#[cfg(all(test, not(loom)))]
mod guard_tests;
pub(crate) mod kernel;
pub(crate) mod mask;
mod pages;
mod placement;
mod quota;
mod seating;
pub(crate) mod step_aside;
pub(crate) mod width;

pub(crate) use pages::give_back;

pub use guard::{Near, NearGuard, Unpinned, unpinned};
pub use placement::{Home, Layout, Placement};
pub use seating::Seating;
