use locsteal::par_for;

use std::rc::Rc;

#[par_for]
fn f(y: &mut [Rc<u32>]) {
    for i in 0..y.len() {
        y[i] = Rc::new(1);
    }
}

fn main() {}
