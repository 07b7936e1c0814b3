use locsteal::par_for;

#[par_for]
fn f(order: Vec<usize>, y: &mut [u32]) {
    for i in order {
        y[i] = 1;
    }
}

fn main() {}
