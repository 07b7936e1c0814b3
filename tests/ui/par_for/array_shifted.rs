use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64]) {
    for i in 1..y.len() {
        y[i] = y[i - 1] + 1.0;
    }
}

fn main() {}
