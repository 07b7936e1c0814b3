use locsteal::par_for;

#[par_for(name = 5)]
fn f() {
    for _ in 0..2 {}
}

#[par_for(name = solver)]
fn g() {
    for _ in 0..2 {}
}

#[par_for(name = format!("{}", 1).as_str())]
fn h() {
    for _ in 0..2 {}
}

fn main() {}
