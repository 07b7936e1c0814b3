use locsteal::par_for;

#[par_for(shedule = steal)]
fn f() {
    for _ in 0..2 {}
}

fn main() {}
