use locsteal::par_for;

use std::rc::Rc;

#[par_for]
fn f() -> Option<Rc<u32>> {
    for i in 0..10 {
        if i == 5 {
            return Some(Rc::new(i));
        }
    }
    None
}

fn main() {}
