use locsteal::par_for;

#[par_for(own(&mut y))]
fn f(y: &mut [u32]) {
    for i in 0..2 {
        y[i] = 1;
    }
}

#[par_for(own(y[1..]))]
fn g(y: &mut [u32]) {
    for i in 0..2 {
        y[i] = 1;
    }
}

#[par_for(own(y.chunk(4)))]
fn h(y: &mut [u32]) {
    for i in 0..2 {
        y[i] = 1;
    }
}

#[par_for(own(get()))]
fn k() {
    for _ in 0..2 {}
}

#[par_for(own(y.chunks(0)))]
fn l(y: &mut [u32]) {
    for i in 0..2 {
        y[i] = 1;
    }
}

#[par_for(own(y, y))]
fn m(y: &mut [u32]) {
    for i in 0..2 {
        y[i] = 1;
    }
}

fn main() {}
