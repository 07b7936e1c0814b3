use locsteal::par_for;

#[par_for(reduce(+: s, max: m))]
fn f(x: &[f64]) {
    let (mut s, mut m) = (0.0, 0.0);
    for i in 0..x.len() {
        s *= x[i];
        s = x[i];
        m += x[i];
        if x[i] < m {
            m = x[i];
        }
    }
}

fn main() {}
