use locsteal::par_for;

#[par_for(locality = numa)]
fn f() {
    for _ in 0..2 {}
}

#[par_for(locality = nod)]
fn g() {
    for _ in 0..2 {}
}

fn main() {}
