//! Boots machines that are made up, and runs the checks of locality in each.
//!
//! ```sh
//! cargo run -p locsteal-tests --bin booted -- short
//! ```
//!
//! The guest runs this very program, as its process 1 and as that of the checks. `docs/machines.md` tells more.

#[cfg(target_os = "linux")]
mod emulator;
#[cfg(target_os = "linux")]
mod guest;
#[cfg(target_os = "linux")]
mod initramfs;
#[cfg(target_os = "linux")]
mod interrupt_table;
#[cfg(target_os = "linux")]
mod machines;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod table;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    run::run(&std::env::args().skip(1).collect::<Vec<_>>())
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("machines are booted on Linux alone");
    ExitCode::from(2)
}
