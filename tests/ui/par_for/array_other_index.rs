use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64], j: usize) {
    for i in 0..y.len() {
        y[i] = y[j] + y[0] + y[y.len() - 1 - i] + y[i / 2];
    }
}

fn main() {}
