use locsteal::par_for;

#[par_for]
fn f(y: &mut [u32]) {
    let z = &mut *y;
    for i in 0..3 {
        y[i] = 1;
        z[i] = 2;
    }
}

#[par_for]
fn g(y: &mut [u32]) {
    let z = &*y;
    for i in 0..3 {
        y[i] = z[i + 1];
    }
}

fn main() {}
