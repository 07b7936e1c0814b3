#![allow(unused_mut)]

use locsteal::par_for;

#[par_for]
fn left_behind(x: &[f64]) -> (f64, usize) {
    let (mut best, mut at) = (x[0], 0);
    #[par_for(reduce(max: (best, at)))]
    for i in 0..x.len() {
        if x[i] > best {
            best = x[i];
        }
    }
    (best, at)
}

#[par_for]
fn by_itself(x: &[f64]) -> (f64, usize) {
    let (mut best, mut at) = (x[0], 0);
    #[par_for(reduce(max: (best, at)))]
    for i in 0..x.len() {
        best = best.max(x[i]);
        at = i;
    }
    (best, at)
}

#[par_for]
fn in_an_inner_loop(x: &[f64], n: usize) -> (f64, usize) {
    let (mut best, mut at) = (x[0], 0);
    #[par_for(reduce(max: (best, at)))]
    for i in 0..n {
        #[par_for(reduce(max: best))]
        for j in 0..x.len() {
            best = best.max(x[i] * x[j]);
        }
    }
    (best, at)
}

#[par_for]
fn sums(x: &[f64]) -> (f64, usize) {
    let (mut sum, mut count) = (0.0, 0);
    #[par_for(reduce(+: (sum, count)))]
    for i in 0..x.len() {
        sum += x[i];
        count += 1;
    }
    (sum, count)
}

fn main() {}
