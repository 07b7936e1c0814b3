use locsteal::par_for;
use ndarray::Array2;

#[par_for]
fn f(a: &mut Array2<f64>) {
    for i in 0..a.nrows() - 1 {
        for j in 0..a.ncols() {
            a[[i, j]] = a[[i + 1, j]] + a[[0, j]] + a[[j, i]];
        }
        a.fill(0.0);
    }
}

fn main() {}
