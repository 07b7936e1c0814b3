//! Nests that are run as one: `collapse`.

use std::hint::black_box;

use locsteal::par_for;

use super::Form;

/// How long rows are. An iteration counts for one of their elements.
const COLUMNS: usize = 4096;

/// The same computation as `matrices::table`.
pub(super) fn joined(form: Form, n: usize) {
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

    #[par_for(schedule = serial, collapse = 2)]
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

/// All products of an element of one vector and an element of another.
pub(super) fn products(form: Form, n: usize) {
    #[inline(never)]
    fn indices(a: &[f64], b: &[f64], c: &mut [f64], m: usize) {
        for i in 0..a.len() {
            for j in 0..m {
                c[i * m + j] = a[i] * b[j];
            }
        }
    }

    #[inline(never)]
    fn iterators(a: &[f64], b: &[f64], c: &mut [f64], m: usize) {
        for (c, a) in c.chunks_mut(m).zip(a) {
            for (c, b) in c.iter_mut().zip(b) {
                *c = a * b;
            }
        }
    }

    #[par_for(schedule = serial, collapse = 2)]
    #[inline(never)]
    fn marked(a: &[f64], b: &[f64], c: &mut [f64], m: usize) {
        for i in 0..a.len() {
            for j in 0..m {
                c[i * m + j] = a[i] * b[j];
            }
        }
    }

    let (m, rows) = (COLUMNS, n / COLUMNS);
    let (a, b, mut c) = (vec![1.5; rows], vec![2.5; m], vec![0.5; rows * m]);
    run!(form(&a, &b, &mut c, m));
    black_box(c);
}

/// A sum over a matrix, weighted by columns.
pub(super) fn joined_sum(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], w: &[u32], n: usize, m: usize) -> u32 {
        let mut sum = 0u32;
        for i in 0..n {
            for j in 0..m {
                sum = sum.wrapping_add(w[j] ^ x[i * m + j]);
            }
        }
        sum
    }

    #[inline(never)]
    fn iterators(x: &[u32], w: &[u32], _: usize, m: usize) -> u32 {
        let mut sum = 0u32;
        for x in x.chunks(m) {
            for (x, w) in x.iter().zip(w) {
                sum = sum.wrapping_add(w ^ x);
            }
        }
        sum
    }

    #[par_for]
    #[inline(never)]
    fn marked(x: &[u32], w: &[u32], n: usize, m: usize) -> u32 {
        let mut sum = std::num::Wrapping(0u32);
        #[par_for(schedule = serial, collapse = 2, reduce(+: sum))]
        for i in 0..n {
            for j in 0..m {
                sum += w[j] ^ x[i * m + j];
            }
        }
        sum.0
    }

    let (m, rows) = (COLUMNS, n / COLUMNS);
    let (x, w) = (vec![3; rows * m], vec![5; m]);
    black_box::<u32>(run!(form(&x, &w, rows, m)));
}

/// Planes of rows, in three loops.
pub(super) fn joined_volume(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f32], y: &mut [f32], n: usize, m: usize, l: usize) {
        for i in 0..n {
            for j in 0..m {
                for k in 0..l {
                    y[(i * m + j) * l + k] = 0.5 * x[(i * m + j) * l + k];
                }
            }
        }
    }

    #[inline(never)]
    fn iterators(x: &[f32], y: &mut [f32], _: usize, m: usize, l: usize) {
        for (y, x) in y.chunks_mut(m * l).zip(x.chunks(m * l)) {
            for (y, x) in y.chunks_mut(l).zip(x.chunks(l)) {
                for (y, x) in y.iter_mut().zip(x) {
                    *y = 0.5 * x;
                }
            }
        }
    }

    #[par_for(schedule = serial, collapse = 3)]
    #[inline(never)]
    fn marked(x: &[f32], y: &mut [f32], n: usize, m: usize, l: usize) {
        for i in 0..n {
            for j in 0..m {
                for k in 0..l {
                    y[(i * m + j) * l + k] = 0.5 * x[(i * m + j) * l + k];
                }
            }
        }
    }

    let (l, m) = (COLUMNS, 16);
    let planes = n / COLUMNS / m;
    let (x, mut y) = (vec![1.5; n], vec![0.5; n]);
    run!(form(&x, &mut y, planes, m, l));
    black_box(y);
}
