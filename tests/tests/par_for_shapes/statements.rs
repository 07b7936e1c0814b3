//! Where in a function a marked loop can stand.

use locsteal::par_for;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[par_for]
fn statement_and_tail(y: &mut [usize], z: &mut Vec<usize>) {
    #[par_for]
    for i in 0..y.len() {
        y[i] = i;
    }
    #[par_for(schedule = dynamic(3))]
    for i in 0..z.len() {
        z[i] = 2 * i;
    }
}

#[test]
fn statement_and_tail_positions() {
    let (mut y, mut z) = ([0; 50], vec![0; 77]);
    statement_and_tail(&mut y, &mut z);
    assert!(y.iter().enumerate().all(|(i, y)| *y == i));
    assert!(z.iter().enumerate().all(|(i, z)| *z == 2 * i));
}

#[par_for]
fn everywhere(kind: u32, y: &mut [usize]) -> usize {
    let count = AtomicUsize::new(0);
    if kind == 0 {
        #[par_for]
        for i in 0..y.len() {
            y[i] += 1;
        }
    } else {
        match kind {
            1 =>
            {
                #[par_for]
                for i in 0..y.len() {
                    y[i] += 2;
                }
            }
            2 => {
                let mut f = || {
                    #[par_for]
                    for i in 0..y.len() {
                        y[i] += 3;
                    }
                };
                f();
                f();
            }
            _ =>
            {
                #[par_for]
                for i in 0..10 {
                    #[par_for]
                    for j in 0..20 {
                        count.fetch_add(i * j, Relaxed);
                    }
                }
            }
        }
    }
    count.into_inner()
}

#[test]
fn every_position() {
    let mut y = vec![0; 10];
    everywhere(0, &mut y);
    everywhere(1, &mut y);
    everywhere(2, &mut y);
    assert_eq!(y, [9; 10]);
    assert_eq!(everywhere(3, &mut y), 45 * 190);
}
