use locsteal::par_for;

use std::sync::Mutex;

#[par_for]
fn f(m: &Mutex<Vec<u32>>) {
    let mut guard = m.lock().unwrap();
    let first = std::rc::Rc::new(1);
    for i in 0..10 {
        let _ = (i, &first);
    }
    guard.push(1);
}

fn main() {}
