use locsteal::par_for;

#[par_for(grain = 4, grain = 8)]
fn f() {
    for _ in 0..2 {}
}

fn main() {}
