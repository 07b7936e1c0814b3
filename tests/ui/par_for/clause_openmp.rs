use locsteal::par_for;

#[par_for(private(x), num_threads = 3, reduction(+: s), shared(y), nowait)]
fn f() {
    for _ in 0..2 {}
}

fn main() {}
