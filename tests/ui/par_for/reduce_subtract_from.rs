use locsteal::par_for;

#[par_for(reduce(+: left))]
fn f(x: &[usize]) -> usize {
    let mut left = 100;
    for i in 0..x.len() {
        left -= x[i];
        left = 1 + left;
        left = x[i] - left;
    }
    left
}

fn main() {}
