use locsteal::par_for;

#[par_for(reduce(+: s))]
fn f(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i];
        if s > 10.0 {
            println!("{}", s);
        }
    }
    s
}

fn main() {}
