use locsteal::par_for;

use std::collections::HashMap;

#[par_for]
fn f(m: &HashMap<u32, u32>) {
    for (k, v) in m {
        let _ = (k, v);
    }
}

fn main() {}
