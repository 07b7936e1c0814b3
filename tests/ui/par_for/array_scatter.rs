use locsteal::par_for;

#[par_for]
fn f(to: &[usize], y: &mut [f64]) {
    for i in 0..to.len() {
        y[to[i]] += 1.0;
    }
}

fn main() {}
