use locsteal::par_for;

#[par_for(schedule = static(0))]
fn f() {
    for _ in 0..2 {}
}

#[par_for(schedule = steal(64))]
fn g() {
    for _ in 0..2 {}
}

#[par_for(schedule = dynamic())]
fn h() {
    for _ in 0..2 {}
}

#[par_for(schedule = dynamic(4, 5))]
fn k() {
    for _ in 0..2 {}
}

fn main() {}
