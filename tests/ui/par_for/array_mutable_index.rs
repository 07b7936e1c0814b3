use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64]) {
    for mut i in 0..10 {
        i += 1;
        y[i] = 1.0;
    }
}

fn main() {}
