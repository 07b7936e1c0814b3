use locsteal::par_for;

#[par_for]
fn f() {
    for i in 0.. {
        let _ = i;
    }
}

fn main() {}
