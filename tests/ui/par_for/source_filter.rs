use locsteal::par_for;

#[par_for]
fn f(x: &[u32]) {
    for v in x.iter().filter(|v| **v > 2) {
        let _ = v;
    }
}

fn main() {}
