//! Types and callbacks, all in safe code, that break what everyone expects of them. No loop hangs, runs an iteration twice, or
//! touches what it must not; what is right, and what panics, is said here.
#![forbid(unsafe_code)]

mod arrays;
mod drops;
mod indices;
mod launches;
mod reductions;

use std::panic::{AssertUnwindSafe, catch_unwind};

fn panics(run: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}
