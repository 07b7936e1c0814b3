use locsteal::par_for;

#[par_for(grain = "many")]
fn f(y: &mut [u32]) {
    for i in 0..y.len() {
        y[i] = 1;
    }
}

#[par_for(grain = n)]
fn g(y: &mut [u32], n: u8) {
    for i in 0..y.len() {
        y[i] = 1;
    }
}

fn main() {}
