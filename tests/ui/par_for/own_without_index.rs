use locsteal::par_for;

#[par_for(own(y))]
fn f(x: &[u32], y: &mut [u32]) {
    for (a, b) in x.iter().zip(x) {
        y[0] = a + b;
    }
}

fn main() {}
