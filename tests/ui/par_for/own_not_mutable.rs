use locsteal::par_for;

#[par_for]
fn f(n: usize) -> Vec<u32> {
    let y = vec![0; n];
    for i in 0..n {
        y[i] = 1;
    }
    y
}

#[par_for]
fn g(y: &[u32]) {
    for i in 0..y.len() {
        y[i] = 1;
    }
}

fn main() {}
