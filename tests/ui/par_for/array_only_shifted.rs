use locsteal::par_for;

#[par_for]
fn f(x: &[f64], y: &mut [f64]) {
    for i in 0..x.len() {
        y[i + 1] = x[i];
    }
}

fn main() {}
