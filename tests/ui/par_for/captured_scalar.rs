use locsteal::par_for;

#[par_for]
fn f(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i];
    }
    total
}

fn main() {}
