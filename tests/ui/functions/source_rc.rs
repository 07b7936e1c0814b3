//! The elements cannot be shared.

use std::rc::Rc;

fn main() {
    let shared = vec![Rc::new(1)];
    locsteal::source(&shared).for_each(|x| println!("{x}"));
}
