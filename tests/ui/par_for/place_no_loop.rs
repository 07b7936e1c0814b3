use locsteal::par_for;

#[par_for]
fn f() {
    let _ = 1;
}

fn main() {}
