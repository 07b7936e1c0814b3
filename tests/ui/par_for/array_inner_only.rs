use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64]) {
    for i in 0..10 {
        for j in 0..10 {
            y[j] += i as f64;
        }
    }
}

fn main() {}
