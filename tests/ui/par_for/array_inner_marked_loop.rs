use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64]) {
    #[par_for]
    for i in 0..10 {
        y[i] = 0.0;
        #[par_for]
        for j in 0..10 {
            y[i] += j as f64;
        }
    }
}

fn main() {}
