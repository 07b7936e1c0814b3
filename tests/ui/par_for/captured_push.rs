use locsteal::par_for;

#[par_for]
fn f(x: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    for i in 0..x.len() {
        out.push(2.0 * x[i]);
    }
    out
}

fn main() {}
