use locsteal::par_for;

#[par_for(reproducible, reduce(+: s))]
fn f(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i];
    }
    s
}

#[par_for(reduce(+: s, reproducible))]
fn g(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i];
    }
    s
}

fn main() {}
