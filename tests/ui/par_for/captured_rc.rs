use locsteal::par_for;

use std::rc::Rc;

#[par_for]
fn f(x: Rc<Vec<u32>>, y: &mut [u32]) {
    for i in 0..y.len() {
        y[i] = x.iter().sum();
    }
}

fn main() {}
