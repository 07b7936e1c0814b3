//! Jobs: closures that run on a worker near to the thread that submitted them, or in that thread itself.
//!
//! `README.md` beside this file tells the protocols. The affinity guard, which keeps a job in its domain on a worker of
//! another one, is `affinity/guard.rs`.
//!
//! | file | holds |
//! | --- | --- |
//! | `builder.rs` | submitting: [`job`], [`spawn_near`], [`JobBuilder`] |
//! | `handle.rs` | [`JobHandle`]: joining and awaiting |
//! | `scope.rs` | [`scope`](scope()): jobs that borrow |
//! | `cell.rs`, `cell/claim.rs`, `word.rs` | a job's memory, what its handle holds of it, and its state as one word |
//! | `desk.rs` | a pool's desk: what submitters and idle workers do |
//! | `queues.rs`, `mailbox.rs`, `ring.rs`, `routes.rs` | where jobs wait, how they come to an idle worker, who is near to whom |
//! | `policy.rs`, `site.rs` | inline or offloaded: what call sites learn |
//! | `stack.rs` | room on the stack for jobs that are run in place |

#[cfg(all(test, not(loom)))]
mod await_tests;
mod builder;
mod cell;
mod desk;
#[cfg(all(test, not(loom)))]
mod desk_tests;
mod handle;
#[cfg(all(test, not(loom)))]
mod job_tests;
#[cfg(all(test, loom))]
mod loom_tests;
mod mailbox;
mod policy;
#[cfg(all(test, not(loom)))]
mod policy_tests;
mod queues;
mod ring;
#[cfg(all(test, not(loom)))]
mod ring_tests;
mod routes;
mod scope;
mod site;
mod stack;
mod word;

pub use builder::{JobBuilder, Policy, job, spawn_near};
pub use handle::JobHandle;
pub use scope::{Scope, scope};
pub use site::JobSite;

/// What `spawn_near!` without a scope ends in. Its name is what a reader gets to see beside rustc's E0373, which says that a
/// borrowed capture may outlive the function and suggests `move`, but can be given no help of ours: a lifetime that is too
/// short is no missing trait, of which `diagnostic::on_unimplemented` could tell more.
#[doc(hidden)]
#[macro_export]
macro_rules! __to_borrow_spawn_the_job_in_a_scope {
    // `spawn` is handed in, so that what else is wrong with the closure is shown at the closure.
    ($job:expr, $spawn:ident, $work:expr) => {
        $job.$spawn($work)
    };
}
