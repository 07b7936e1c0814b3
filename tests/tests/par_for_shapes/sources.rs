//! What a marked loop can go over: ranges, slices and vectors, and what adaptors make of them.

use locsteal::par_for;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[par_for]
fn ranges(y: &mut [i64]) {
    let n = y.len() as i32;
    #[par_for]
    for i in (0..n).rev() {
        y[i as usize] += 1;
    }
    #[par_for]
    for i in (0..y.len()).step_by(3) {
        y[i] += 10;
    }
    #[par_for]
    for i in (1..=y.len() as u8 - 1).rev().step_by(2) {
        y[i as usize] += 100;
    }
    let add: Vec<i64> = vec![1000; y.len()];
    #[par_for]
    for (i, a) in add.iter().enumerate() {
        y[i] += *a;
    }
    #[par_for]
    for (i, a) in (0..y.len()).rev().zip(&add).skip(1).take(3) {
        y[i] += 10 * a;
    }
}

#[test]
fn ranges_and_adaptors() {
    let mut y = vec![0; 10];
    ranges(&mut y);
    let expected: Vec<i64> = (0..10)
        .map(|i| {
            let mut v = 1001;
            if i % 3 == 0 {
                v += 10;
            }
            if i % 2 == 1 {
                v += 100;
            }
            if (6..=8).contains(&i) {
                v += 10_000;
            }
            v
        })
        .collect();
    assert_eq!(y, expected);
}

#[par_for]
fn many(items: Vec<String>, words: &mut [String]) -> usize {
    let total = AtomicUsize::new(0);
    #[par_for]
    for word in words.iter_mut() {
        word.push('!');
    }
    #[par_for]
    for item in items {
        total.fetch_add(item.len(), Relaxed);
    }
    #[par_for]
    for pair in words.chunks_mut(2) {
        pair[0].push('?');
    }
    #[par_for]
    for (k, w) in words.windows(2).enumerate() {
        total.fetch_add(k * w[0].len(), Relaxed);
    }
    total.into_inner()
}

#[test]
fn slices_and_vectors() {
    let mut words = vec!["a".to_owned(), "bb".to_owned(), "c".to_owned()];
    assert_eq!(many(vec!["12".into(), "345".into()], &mut words), 5 + 3);
    assert_eq!(words, ["a!?", "bb!", "c!?"]);
}
