use locsteal::par_for;

#[par_for(reduce(sum: s))]
fn f() {
    let mut s = 0;
    for _ in 0..2 {
        s += 1;
    }
}

#[par_for(reduce(mni: s))]
fn g() {
    let mut s = 0;
    for _ in 0..2 {
        s += 1;
    }
}

#[par_for(reduce(-: s))]
fn h() {
    let mut s = 0;
    for _ in 0..2 {
        s += 1;
    }
}

#[par_for(reduce(+ s))]
fn k() {
    let mut s = 0;
    for _ in 0..2 {
        s += 1;
    }
}

#[par_for(reduce(reproducible))]
fn l() {
    let mut s = 0;
    for _ in 0..2 {
        s += 1;
    }
}

#[par_for(reduce(+: 5))]
fn m() {
    for _ in 0..2 {}
}

#[par_for(reduce(+: s, max: s))]
fn n() {
    let mut s = 0;
    for _ in 0..2 {
        s += 1;
    }
}

fn main() {}
