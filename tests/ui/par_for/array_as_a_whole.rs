use locsteal::par_for;

fn total(y: &[f64]) -> f64 {
    y.iter().sum()
}

#[par_for]
fn f(y: &mut [f64]) {
    for i in 0..y.len() {
        y[i] = total(y);
        y[i] += y.iter().sum::<f64>();
        y.swap(i, 0);
    }
}

fn main() {}
