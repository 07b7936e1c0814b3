//! Behaviour of locsteal seen from outside: the tests stand in `tests/`, what they share here.

#[cfg(target_os = "linux")]
pub mod locality;
pub mod machines;
#[cfg(target_os = "linux")]
pub mod process;
