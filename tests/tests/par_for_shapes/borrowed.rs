//! References to elements: those that outlive the loop, and those that patterns take.

use locsteal::par_for;
use std::collections::VecDeque;
use std::sync::Mutex;

#[par_for]
fn first_long(words: &[String], length: usize) -> Option<&str> {
    for i in 0..words.len() {
        if words[i].len() >= length {
            return Some(&words[i]);
        }
    }
    None
}

#[par_for]
fn each(words: &[String]) -> Vec<&String> {
    #[par_for]
    let each: Vec<&String> = for i in 0..words.len() {
        &words[i]
    };
    each
}

#[par_for]
#[allow(clippy::needless_range_loop, reason = "the form is what is tested")]
fn ends<'a>(words: &'a Vec<String>, rows: &'a [[u8; 2]; 3]) -> (&'a String, &'a u8, Vec<&'a u8>) {
    let (mut last, mut of_row) = (&words[0], &rows[0][0]);
    #[par_for(reduce(max: last, min: of_row))]
    for i in 0..rows.len() {
        if &words[i] > last {
            last = &words[i];
        }
        for j in 0..2 {
            if &rows[i][j] < of_row {
                of_row = &rows[i][j];
            }
        }
    }
    let found = Mutex::new(Vec::new());
    #[par_for]
    for i in 0..rows.len() {
        if rows[i][0] > 1 {
            found.lock().unwrap().push(&rows[i][0]);
        }
        let row = &rows[i];
        for j in 0..2 {
            if row[j] == 9 {
                found.lock().unwrap().push(&row[j]);
            }
        }
    }
    (last, of_row, found.into_inner().unwrap())
}

#[par_for]
fn of_no_slice<'a>(queue: &VecDeque<u8>, grid: &'a [u8], n: usize) -> Vec<(u8, &'a u8)> {
    #[par_for]
    let pairs: Vec<(u8, &'a u8)> = for i in 0..queue.len() {
        let (here, mut last) = (&queue[i], &grid[i * n]);
        for j in 0..n {
            last = &grid[i * n + j];
        }
        (*here, last)
    };
    pairs
}

struct Named {
    name: String,
    parts: [Vec<u8>; 2],
}

#[par_for]
#[allow(clippy::needless_range_loop, reason = "the form is what is tested")]
fn trimmed<'a>(words: &'a [String], long: &[f64], queue: &'a VecDeque<String>) -> Option<&'a str> {
    #[par_for]
    for i in 0..words.len() {
        if long[i].abs() > 2.0 {
            return Some(words[i].trim());
        }
    }
    #[par_for]
    for i in 0..queue.len() {
        if queue[i].starts_with(' ') {
            return Some(queue[i].trim_start());
        }
    }
    None
}

#[par_for]
#[allow(clippy::needless_range_loop, reason = "the form is what is tested")]
fn parts<'a>(all: &'a [Named], wanted: &str) -> Result<(), &'a [u8]> {
    for i in 0..all.len() {
        if all[i].name.as_str() == wanted {
            return Err(all[i].parts[1].as_slice());
        }
        for j in 0..2 {
            let Some(first) = all[i].parts[j].first() else { return Err(all[i].name.as_bytes()) };
            let _: &'a u8 = first;
        }
    }
    Ok(())
}

#[test]
fn what_methods_borrow_of_elements_outlives_the_loop() {
    let words = [" one", "two ", " three"].map(str::to_owned);
    let queue = VecDeque::from(["four", " five"].map(str::to_owned));
    assert_eq!(trimmed(&words, &[1.0, -3.0, 4.0], &queue), Some("two"));
    assert_eq!(trimmed(&words, &[0.0; 3], &queue), Some("five"));
    let named = |name: &str, parts| Named { name: name.to_owned(), parts };
    let all = [named("a", [vec![1], vec![2, 3]]), named("b", [vec![4], vec![]])];
    assert_eq!(parts(&all, "a"), Err(&[2, 3][..]));
    assert_eq!(parts(&all, "c"), Err(&b"b"[..]));
    assert_eq!(parts(&all[..1], "c"), Ok(()));
}

#[test]
fn references_to_elements_outlive_the_loop() {
    let words = ["one", "three", "two"].map(str::to_owned).to_vec();
    assert_eq!(first_long(&words, 4), Some("three"));
    assert_eq!(first_long(&words, 9), None);
    assert!(each(&words).iter().zip(&words).all(|(a, b)| std::ptr::eq(*a, b)));
    let rows = [[3, 1], [1, 2], [1, 9]];
    let (last, least, mut found) = ends(&words, &rows);
    found.sort();
    assert_eq!((last.as_str(), *least, found), ("two", 1, vec![&3, &9]));
    let queue = VecDeque::from([7, 8]);
    assert_eq!(of_no_slice(&queue, &[1, 2, 3, 4], 2), [(7, &2), (8, &4)]);
}

#[par_for]
fn taken_by_pattern(y: &mut [Option<usize>], z: &mut [(usize, usize)]) {
    for i in 0..y.len() {
        if let Some(ref mut value) = y[i] {
            *value += 1;
        }
        match y[i] {
            Some(ref mut value) if *value > 2 => *value *= 2,
            _ => {}
        }
        let (ref mut a, ref b) = z[i];
        *a += b;
        let Some(ref mut value) = y[i] else { continue };
        *value += 100;
    }
}

#[par_for]
fn first_of(y: &[Option<String>]) -> Option<&String> {
    for i in 0..y.len() {
        if let Some(ref value) = y[i] {
            return Some(value);
        }
    }
    None
}

#[test]
fn patterns_borrow_elements() {
    let (mut y, mut z) = ([Some(1), None, Some(2)], [(1, 2), (3, 4), (5, 6)]);
    taken_by_pattern(&mut y, &mut z);
    assert_eq!(y, [Some(102), None, Some(106)]);
    assert_eq!(z, [(3, 2), (7, 4), (11, 6)]);
    let words = [None, Some("two".to_owned()), Some("three".to_owned())];
    assert_eq!(first_of(&words).map(String::as_str), Some("two"));
}
