use locsteal::par_for;

#[par_for]
fn f() {
    for x in 0.0..1.0 {
        let _ = x;
    }
}

fn main() {}
