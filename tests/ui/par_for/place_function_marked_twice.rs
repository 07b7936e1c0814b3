use locsteal::par_for;

#[par_for(grain = 4)]
#[par_for(threads = 2)]
fn f(y: &mut [f64]) {
    for i in 0..y.len() {
        y[i] = 1.0;
    }
}

fn main() {}
