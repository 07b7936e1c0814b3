use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64]) {
    for i in 0..y.len() {
        for j in 0..i {
            y[i] += y[j];
        }
    }
}

fn main() {}
