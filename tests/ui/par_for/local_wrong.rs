use locsteal::par_for;

#[par_for(local(5))]
fn f() {
    for _ in 0..2 {}
}

#[par_for(local(buf))]
fn g() {
    for _ in 0..2 {}
}

#[par_for(local(a = 1, a = 2))]
fn h() {
    for _ in 0..2 {}
}

fn main() {}
