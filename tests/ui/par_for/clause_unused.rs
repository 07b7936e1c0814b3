use locsteal::par_for;

#[par_for(reduce(+: totl))]
fn misspelt(x: &[f64]) -> f64 {
    let mut total = 0.0;
    let totl = 0.0;
    for i in 0..x.len() {
        total += x[i];
    }
    total + totl
}

#[par_for(reduce(+: a, max: (best, at)), local(buffer = Vec::<u8>::new()))]
fn left_over(y: &mut [f64]) {
    for i in 0..y.len() {
        y[i] = 0.0;
    }
}

fn main() {}
