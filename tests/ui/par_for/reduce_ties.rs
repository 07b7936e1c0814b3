use locsteal::par_for;

#[par_for(reduce(max: hi), reduce(min: lo), reduce(min: least))]
fn f(x: &[f64]) -> f64 {
    let (mut hi, mut lo, mut least) = (0.0, 0.0, 0.0);
    for i in 0..x.len() {
        if x[i] >= hi {
            hi = x[i];
        }
        if lo >= x[i] {
            lo = x[i];
        }
        least = least.minimum(x[i]);
    }
    hi + lo + least
}

fn main() {}
