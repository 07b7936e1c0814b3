use locsteal::par_for;

#[par_for(grain = 0, threads = 0, collapse = 0)]
fn f() {
    for _ in 0..2 {}
}

#[par_for(grain = -4, threads = 1.5)]
fn g() {
    for _ in 0..2 {}
}

fn main() {}
