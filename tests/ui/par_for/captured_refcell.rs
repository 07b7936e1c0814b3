use locsteal::par_for;

use std::cell::RefCell;

#[par_for]
fn f() -> Vec<u32> {
    let seen = RefCell::new(Vec::new());
    for i in 0..10 {
        seen.borrow_mut().push(i);
    }
    seen.into_inner()
}

fn main() {}
