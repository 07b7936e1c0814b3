use locsteal::par_for;

#[par_for(local(i = 5))]
fn f() {
    for i in 0..2 {}
}

#[par_for(reduce(+: i))]
fn g() {
    for i in 0..2 {}
}

#[par_for(local(s = 5), reduce(+: s))]
fn h() {
    let mut s = 0;
    for i in 0..2 {
        s += i;
    }
}

#[par_for(local(y = 5), own(y))]
fn k(y: &mut [u32]) {
    for i in 0..2 {
        y[i] = 1;
    }
}

fn main() {}
