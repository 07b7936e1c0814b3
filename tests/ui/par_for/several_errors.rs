use locsteal::par_for;

#[par_for]
fn f(x: &[f64], y: &mut [f64], c: &mut [f64], m: usize) -> f64 {
    let mut sum = 0.0;
    let mut most = 0.0f64;
    let mut found = false;
    for i in 0..x.len() {
        sum += x[i];
        most = most.max(x[i]);
        found = true;
        y[i] = y[i + 1];
        c[i * m] = x[i];
    }
    if found { sum } else { most }
}

fn main() {}
