//! Loops over the rows and elements of matrices.

use std::hint::black_box;

use locsteal::par_for;

use super::Form;

/// How long rows are. An iteration counts for one of their elements.
const COLUMNS: usize = 512;

/// Rows of `c = a * b`, for matrices whose side is 128; an iteration counts for one multiplication.
pub(super) fn matrix_row(form: Form, n: usize) {
    #[inline(never)]
    fn indices(a: &[f64], b: &[f64], c: &mut [f64], n: usize, m: usize) {
        for i in 0..n {
            for k in 0..m {
                let a = a[i * m + k];
                for j in 0..m {
                    c[i * m + j] += a * b[k * m + j];
                }
            }
        }
    }

    #[inline(never)]
    fn iterators(a: &[f64], b: &[f64], c: &mut [f64], _: usize, m: usize) {
        for (c, a) in c.chunks_mut(m).zip(a.chunks(m)) {
            for (a, b) in a.iter().zip(b.chunks(m)) {
                for (c, b) in c.iter_mut().zip(b) {
                    *c += a * b;
                }
            }
        }
    }

    #[par_for(schedule = serial, own(c.chunks(m)))]
    #[inline(never)]
    fn marked(a: &[f64], b: &[f64], c: &mut [f64], n: usize, m: usize) {
        for i in 0..n {
            for k in 0..m {
                let a = a[i * m + k];
                for j in 0..m {
                    c[i * m + j] += a * b[k * m + j];
                }
            }
        }
    }

    let (m, rows) = (128, n / 128 / 128);
    let (a, b, mut c) = (vec![1.5; rows * m], vec![2.5; m * m], vec![0.0; rows * m]);
    run!(form(&a, &b, &mut c, rows, m));
    black_box(c);
}

pub(super) fn table(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f64], y: &mut [f64], n: usize, m: usize) {
        for i in 0..n {
            for j in 0..m {
                y[i * m + j] += 2.0 * x[i * m + j];
            }
        }
    }

    #[inline(never)]
    fn iterators(x: &[f64], y: &mut [f64], _: usize, m: usize) {
        for (y, x) in y.chunks_mut(m).zip(x.chunks(m)) {
            for (y, x) in y.iter_mut().zip(x) {
                *y += 2.0 * x;
            }
        }
    }

    #[par_for(schedule = serial, own(y.chunks(m)))]
    #[inline(never)]
    fn marked(x: &[f64], y: &mut [f64], n: usize, m: usize) {
        for i in 0..n {
            for j in 0..m {
                y[i * m + j] += 2.0 * x[i * m + j];
            }
        }
    }

    let (m, rows) = (COLUMNS, n / COLUMNS);
    let (x, mut y) = (vec![1.5; rows * m], vec![0.5; rows * m]);
    run!(form(&x, &mut y, rows, m));
    black_box(y);
}

/// The sum of the four neighbours of each element.
pub(super) fn plate(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f64], y: &mut [f64], n: usize, m: usize) {
        for i in 1..n - 1 {
            for j in 1..m - 1 {
                y[i * m + j] =
                    x[(i - 1) * m + j] + x[(i + 1) * m + j] + x[i * m + j - 1] + x[i * m + j + 1];
            }
        }
    }

    #[inline(never)]
    fn iterators(x: &[f64], y: &mut [f64], _: usize, m: usize) {
        for ((y, x), (above, below)) in
            y.chunks_mut(m).zip(x.chunks(m)).skip(1).zip(x.chunks(m).zip(x.chunks(m).skip(2)))
        {
            let neighbours = x.windows(3).zip(&above[1..]).zip(&below[1..]);
            for (y, ((x, above), below)) in y[1..].iter_mut().zip(neighbours) {
                *y = above + below + x[0] + x[2];
            }
        }
    }

    #[par_for(schedule = serial, own(y.chunks(m)))]
    #[inline(never)]
    fn marked(x: &[f64], y: &mut [f64], n: usize, m: usize) {
        for i in 1..n - 1 {
            for j in 1..m - 1 {
                y[i * m + j] =
                    x[(i - 1) * m + j] + x[(i + 1) * m + j] + x[i * m + j - 1] + x[i * m + j + 1];
            }
        }
    }

    let (m, rows) = (COLUMNS, n / COLUMNS + 2);
    let (x, mut y) = (vec![1.5; rows * m], vec![0.5; rows * m]);
    run!(form(&x, &mut y, rows, m));
    black_box(y);
}

/// The same over indices of the whole array, whose rows begin anywhere.
pub(super) fn cells(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f64], y: &mut [f64], n: usize, m: usize) {
        for i in 1..n - 1 {
            for c in i * m + 1..i * m + m - 1 {
                y[c] = x[c - m] + x[c + m] + x[c - 1] + x[c + 1];
            }
        }
    }

    #[inline(never)]
    fn iterators(x: &[f64], y: &mut [f64], _: usize, m: usize) {
        for ((y, x), (above, below)) in
            y.chunks_mut(m).zip(x.chunks(m)).skip(1).zip(x.chunks(m).zip(x.chunks(m).skip(2)))
        {
            let neighbours = x.windows(3).zip(&above[1..]).zip(&below[1..]);
            for (y, ((x, above), below)) in y[1..].iter_mut().zip(neighbours) {
                *y = above + below + x[0] + x[2];
            }
        }
    }

    #[par_for(schedule = serial, own(y.chunks(m)))]
    #[inline(never)]
    fn marked(x: &[f64], y: &mut [f64], n: usize, m: usize) {
        for i in 1..n - 1 {
            for c in i * m + 1..i * m + m - 1 {
                y[c] = x[c - m] + x[c + m] + x[c - 1] + x[c + 1];
            }
        }
    }

    let (m, rows) = (COLUMNS, n / COLUMNS + 2);
    let (x, mut y) = (vec![1.5; rows * m], vec![0.5; rows * m]);
    run!(form(&x, &mut y, rows, m));
    black_box(y);
}
