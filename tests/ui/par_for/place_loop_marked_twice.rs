use locsteal::par_for;

#[par_for]
fn f() {
    #[par_for(grain = 4)]
    #[par_for(threads = 2)]
    for _ in 0..2 {}
}

fn main() {}
