//! Loops over ranges that fall, step, end inclusively, or are of narrow integers.

use std::hint::black_box;

use locsteal::par_for;

use super::Form;

pub(super) fn reversed(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len()).rev() {
            y[i] ^= x[i];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x).rev() {
            *y ^= x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len()).rev() {
            y[i] ^= x[i];
        }
    }

    let (x, mut y) = (vec![1; n], vec![3; n]);
    run!(form(&x, &mut y));
    black_box(y);
}

pub(super) fn narrow_index(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in 0..x.len() as u32 {
            y[i as usize] ^= x[i as usize];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y ^= x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in 0..x.len() as u32 {
            y[i as usize] ^= x[i as usize];
        }
    }

    let (x, mut y) = (vec![1; n], vec![3; n]);
    run!(form(&x, &mut y));
    black_box(y);
}

pub(super) fn reversed_narrow(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len() as u32).rev() {
            y[i as usize] ^= x[i as usize];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x).rev() {
            *y ^= x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len() as u32).rev() {
            y[i as usize] ^= x[i as usize];
        }
    }

    let (x, mut y) = (vec![1; n], vec![3; n]);
    run!(form(&x, &mut y));
    black_box(y);
}

pub(super) fn reversed_stencil(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in (1..x.len() - 1).rev() {
            y[i] = (x[i - 1] ^ x[i]) + x[i + 1];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y[1..].iter_mut().zip(x.windows(3)).rev() {
            *y = (x[0] ^ x[1]) + x[2];
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in (1..x.len() - 1).rev() {
            y[i] = (x[i - 1] ^ x[i]) + x[i + 1];
        }
    }

    let (x, mut y) = (vec![1; n + 2], vec![3; n + 2]);
    run!(form(&x, &mut y));
    black_box(y);
}

#[allow(clippy::range_minus_one, reason = "it is what is counted")]
pub(super) fn inclusive(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in 0..=x.len() - 1 {
            y[i] ^= x[i];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y ^= x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in 0..=x.len() - 1 {
            y[i] ^= x[i];
        }
    }

    let (x, mut y) = (vec![1; n], vec![3; n]);
    run!(form(&x, &mut y));
    black_box(y);
}

pub(super) fn stepped(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len()).step_by(2) {
            y[i] ^= x[i];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x).step_by(2) {
            *y ^= x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len()).step_by(2) {
            y[i] ^= x[i];
        }
    }

    let (x, mut y) = (vec![1; 2 * n], vec![3; 2 * n]);
    run!(form(&x, &mut y));
    black_box(y);
}
