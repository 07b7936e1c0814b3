//! Where a marked loop can stand, what it can go over, write and borrow, and where its exits lead.
#![forbid(unsafe_code)]
#![deny(warnings)]

mod borrowed;
mod exits;
mod functions;
mod in_jobs;
mod owned;
mod sources;
mod statements;
