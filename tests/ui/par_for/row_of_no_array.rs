use std::ops::{Index, IndexMut};

use locsteal::par_for;

struct Matrix(Vec<f64>);

impl Index<[usize; 2]> for Matrix {
    type Output = f64;

    fn index(&self, [i, j]: [usize; 2]) -> &f64 {
        &self.0[2 * i + j]
    }
}

impl IndexMut<[usize; 2]> for Matrix {
    fn index_mut(&mut self, [i, j]: [usize; 2]) -> &mut f64 {
        &mut self.0[2 * i + j]
    }
}

#[par_for]
fn f(a: &mut Matrix, n: usize) {
    for i in 0..n {
        a[[i, 1]] = 1.0;
    }
}

fn main() {}
