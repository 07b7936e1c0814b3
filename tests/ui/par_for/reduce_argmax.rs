use locsteal::par_for;

#[par_for]
fn apart(x: &[f64]) -> (f64, usize) {
    let (mut best, mut at) = (x[0], 0);
    #[par_for(reduce(max: best, max: at))]
    for i in 0..x.len() {
        if x[i] > best {
            best = x[i];
            at = i;
        }
    }
    (best, at)
}

#[par_for]
fn not_reduced(x: &[f64]) -> (f64, usize) {
    let (mut best, mut at) = (x[0], 0);
    #[par_for(reduce(min: best))]
    for (i, &v) in x.iter().enumerate() {
        if best > v {
            (best, at) = (v, i);
        }
    }
    (best, at)
}

#[par_for]
fn not_even_the_value(x: &[f64]) -> (f64, usize) {
    let (mut best, mut at) = (x[0], 0);
    #[par_for]
    for i in 0..x.len() {
        if x[i] > best {
            best = x[i];
            at = i;
        }
    }
    (best, at)
}

#[par_for]
fn as_a_pair(x: &[f64]) -> (f64, usize) {
    let mut best = (x[0], 0);
    #[par_for(reduce(max: best))]
    for i in 0..x.len() {
        if x[i] > best.0 {
            best = (x[i], i);
        }
    }
    best
}

fn main() {}
