use locsteal::par_for;

#[par_for]
const fn f(y: &mut [u32]) {
    for i in 0..3 {
        y[i] = 1;
    }
}

fn main() {}
