use locsteal::par_for;

#[par_for(own(y), reduce(+: y))]
fn f(y: &mut [u32]) {
    for i in 0..2 {
        y[i] += 1;
    }
}

fn main() {}
