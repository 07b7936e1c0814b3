//! Marked loops do what the serial loops do.
#![forbid(unsafe_code)]
#![deny(warnings)]

use locsteal::par_for;

#[par_for(schedule = steal, locality = llc)]
fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for i in 0..x.len() {
        y[i] += a * x[i];
    }
}

#[test]
fn axpy_adds() {
    let x: Vec<f64> = (0..1000).map(f64::from).collect();
    let mut y = vec![1.0; 1000];
    axpy(2.0, &x, &mut y);
    assert!(y.iter().enumerate().all(|(i, y)| *y == 1.0 + 2.0 * i as f64));
}

#[par_for]
fn find(x: &[i32], k: i32) -> Option<usize> {
    for i in 0..x.len() {
        if x[i] == k {
            return Some(i);
        }
    }
    None
}

#[test]
fn finds() {
    let x: Vec<i32> = (0..1000).map(|i| i / 3).collect();
    assert_eq!(find(&x, 100), Some(300));
    assert_eq!(find(&x, 1000), None);
}
#[par_for]
fn sum(x: &[f64]) -> f64 {
    let mut s = 0.0;
    #[par_for(reduce(+: s))]
    for i in 0..x.len() {
        s += x[i];
    }
    s
}

#[test]
fn sums() {
    assert_eq!(sum(&vec![1.0; 777]), 777.0);
}
