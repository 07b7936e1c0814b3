//! Loops over arrays of the `ndarray` crate do what the serial loops over them do, whatever shape and layout they have.

mod elements;
mod rows;
mod shapes;
mod sources;

use std::panic::{AssertUnwindSafe, catch_unwind};

use locsteal::Pool;

fn pool() -> Pool {
    Pool::builder().threads(4).build().unwrap()
}

/// What the loop panics with.
fn panic_of<R>(run: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(run)) else { panic!("it came back") };
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap()
}
