//! A part that an iteration owns cannot be kept.

use std::sync::Mutex;

fn main() {
    let kept = Mutex::new(Vec::new());
    let mut y = vec![0; 4];
    locsteal::range(0..4).for_each_mut(&mut y, |_, part| kept.lock().unwrap().push(part));
    y[0] = 1;
}
