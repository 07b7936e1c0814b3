use locsteal::par_for;

use std::sync::Mutex;

#[par_for]
fn f(m: &Mutex<Vec<u32>>) {
    let mut guard = m.lock().unwrap();
    for i in 0..10 {
        guard.push(i);
    }
}

fn main() {}
