use locsteal::par_for;

use std::collections::HashMap;

#[par_for]
fn f(y: &mut HashMap<usize, u32>) {
    for i in 0..2 {
        *(&mut y[i]) = 1;
    }
}

fn main() {}
