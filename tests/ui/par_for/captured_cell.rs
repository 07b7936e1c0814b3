use locsteal::par_for;

use std::cell::Cell;

#[par_for]
fn f() -> u32 {
    let count = Cell::new(0);
    for i in 0..10 {
        count.set(count.get() + i);
    }
    count.get()
}

fn main() {}
