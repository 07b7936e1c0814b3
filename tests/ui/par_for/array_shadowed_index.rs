use locsteal::par_for;

#[par_for]
fn f(y: &mut [f64]) {
    for i in 0..y.len() {
        y[i] = 1.0;
        let i = i / 2;
        y[i] = 2.0;
    }
}

#[par_for]
fn g(y: &mut [f64], next: Option<usize>) {
    for i in 0..y.len() {
        if let Some(i) = next {
            y[i] = 1.0;
        }
        for i in 0..2 {
            y[i] = 2.0;
        }
    }
}

fn main() {}
