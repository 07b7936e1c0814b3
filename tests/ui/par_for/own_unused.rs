use locsteal::par_for;

#[par_for(own(y))]
fn f(y: &mut [u32]) {
    for _ in 0..2 {}
    y[0] = 1;
}

fn main() {}
