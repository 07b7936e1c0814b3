//! A loop that is not run.
#![deny(unused_must_use)]

fn main() {
    locsteal::range(0..10).grain(4);
}
