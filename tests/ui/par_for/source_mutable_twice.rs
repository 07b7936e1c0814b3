use locsteal::par_for;

#[par_for]
fn f(y: &mut [u32]) {
    for (i, v) in y.iter_mut().enumerate() {
        y[i] = *v;
    }
}

fn main() {}
