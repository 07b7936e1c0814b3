//! locsteal beside its peers. `locsteal-benches compare --quick` gives a table within two minutes; see
//! `docs/measurements.md` for what is measured and how.

#![cfg_attr(
    not(all(feature = "bevy", feature = "chili")),
    allow(
        dead_code,
        reason = "some of what kernels offer is only used by peers that are left out"
    )
)]

#[cfg(not(unix))]
compile_error!(
    "the benchmarks stop and continue processes by signal, which only unix systems have"
);

mod arm;
mod cli;
mod conductor;
mod kernels;
mod lines;
mod memory;
mod peers;
mod report;
mod stats;
mod transfer;

use std::process::ExitCode;

/// Allocators differ in how they hand memory from thread to thread; every peer written in Rust gets the same one.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("locsteal-benches: {error:#}");
            ExitCode::FAILURE
        }
    }
}
