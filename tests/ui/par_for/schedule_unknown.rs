use locsteal::par_for;

#[par_for(schedule = stael)]
fn f() {
    for _ in 0..2 {}
}

#[par_for(schedule = guided(4))]
fn g() {
    for _ in 0..2 {}
}

#[par_for(schedule = runtime)]
fn h() {
    for _ in 0..2 {}
}

#[par_for(schedule = 5)]
fn k() {
    for _ in 0..2 {}
}

fn main() {}
