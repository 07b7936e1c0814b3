use locsteal::par_for;

#[par_for]
fn f(y: &mut [Vec<f64>], n: usize) {
    for i in 0..n {
        for j in 0..y.len() {
            y[j][i] += 1.0;
        }
    }
}

fn main() {}
