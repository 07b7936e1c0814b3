use std::rc::Rc;

use locsteal::spawn_near;

fn main() {
    let shared = Rc::new(1);
    spawn_near!(move || *shared + 1).join();
}
