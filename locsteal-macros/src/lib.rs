//! The procedural macros of [`locsteal`](https://docs.rs/locsteal): use them through that crate.
