use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64]) {
    for i in 0..10u32 {
        y[i] = 1.0;
    }
}

fn main() {}
