use locsteal::par_for;
use ndarray::Array2;

#[par_for]
fn column(a: &mut Array2<f64>, n: usize) {
    for i in 0..n {
        a[[0, i]] = 1.0;
    }
}

#[par_for]
fn shifted(a: &mut Array2<f64>, n: usize) {
    for i in 0..n {
        a[[i + 1, 0]] = 1.0;
    }
}

#[par_for]
fn turned(a: &mut Array2<f64>, n: usize) {
    for i in 0..n {
        for j in 0..n {
            a[[j, i]] = 1.0;
        }
    }
}

#[par_for(collapse = 2)]
fn joined(a: &mut Array2<f64>, n: usize) {
    for i in 0..n {
        for j in 0..n {
            a[[i, j]] = 1.0;
        }
    }
}

fn main() {}
