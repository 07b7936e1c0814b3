use locsteal::par_for;

#[par_for(threads = 4, locality = 7, collapse = n, pool =)]
fn f(y: &mut [u32], n: usize) {
    for i in 0..y.len() {
        y[i] = n as u32;
    }
}

fn main() {}
