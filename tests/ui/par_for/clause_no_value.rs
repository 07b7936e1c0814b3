use locsteal::par_for;

#[par_for(schedule, grain =, threads, own, reduce, local)]
fn f() {
    for _ in 0..2 {}
}

fn main() {}
