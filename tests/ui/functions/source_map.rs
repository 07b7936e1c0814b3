//! A map cannot be split by position.

use std::collections::HashMap;

fn main() {
    let counts: HashMap<&str, u32> = HashMap::new();
    locsteal::source(&counts).for_each(|(word, count)| println!("{word}: {count}"));
}
