//! Behaviour of locsteal seen from outside: the tests stand in `tests/`, what they share here.

pub mod machines;
#[cfg(target_os = "linux")]
pub mod process;
