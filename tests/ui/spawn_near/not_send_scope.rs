use std::cell::Cell;

use locsteal::spawn_near;

fn main() {
    let count = Cell::new(1);
    locsteal::scope(|s| {
        spawn_near!(<scope = s> || count.set(2));
    });
}
