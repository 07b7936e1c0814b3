use locsteal::par_for;

use std::collections::HashSet;

#[par_for]
fn f() -> HashSet<u32> {
    let v: HashSet<u32> = for i in 0..10u32 { i };
    v
}

fn main() {}
