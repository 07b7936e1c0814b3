use std::rc::Rc;

use locsteal::spawn_near;

fn main() {
    spawn_near!(|| Rc::new(1));
}
