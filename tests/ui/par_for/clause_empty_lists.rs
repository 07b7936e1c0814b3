use locsteal::par_for;

#[par_for(own(), reduce(), local())]
fn f() {
    for _ in 0..2 {}
}

fn main() {}
