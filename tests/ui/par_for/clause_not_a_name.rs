use locsteal::par_for;

#[par_for(= 4)]
fn f() {
    for _ in 0..2 {}
}

fn main() {}
