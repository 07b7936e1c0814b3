use locsteal::par_for;

#[par_for]
fn f(y: &mut [u32]) {
    for i in 0..3 {
        y[i] = 1;
    }
    for i in 0..3 {
        y[i] = 2;
    }
}

fn main() {}
