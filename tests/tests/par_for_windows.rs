//! Chunks that iterations own: what a body does to its window means what it means in the serial loop, or panics with words.
#![forbid(unsafe_code)]

use locsteal::par_for;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the panic of a loop says.
fn said(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("a panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast_ref::<&str>().expect("text")).to_owned(),
    }
}

#[par_for]
fn looked_up(c: &mut [usize], m: usize, n: usize, at: fn(usize) -> usize) -> Vec<Option<usize>> {
    #[par_for(own(c.chunks(m)), schedule = serial)]
    let found: Vec<Option<usize>> = for i in 0..n {
        if let Some(first) = c.get_mut(i * m) {
            *first += 100;
        }
        c.get(at(i)).copied()
    };
    found
}

#[test]
fn an_element_of_another_iteration_is_not_missing() {
    let array = || (0..10).collect::<Vec<usize>>();
    assert_eq!(
        looked_up(&mut array(), 4, 3, |i| 4 * i + 1),
        [Some(1), Some(5), Some(9)],
        "in the window"
    );
    assert_eq!(looked_up(&mut array(), 4, 3, |i| i + 10), [None; 3], "past the array");
    assert_eq!(looked_up(&mut array(), 4, 3, |_| usize::MAX), [None; 3]);
    assert_eq!(looked_up(&mut array(), 4, 5, |i| 4 * i)[2..], [Some(108), None, None]);
    assert_eq!(
        said(|| drop(looked_up(&mut array(), 4, 3, |i| 4 * i + 4))),
        "`c[4]` belongs to another iteration: this one owns `c[0..4]`, of the 10 elements of `c`"
    );
    assert_eq!(
        said(|| drop(looked_up(&mut array(), 4, 5, |i| if i < 3 { 4 * i } else { 0 }))),
        "`c[0]` belongs to another iteration: this one owns nothing of `c`, of the 10 elements of `c`"
    );
}

/// The length of what each iteration finds at a range, if the array has all of it.
#[par_for]
fn found(
    c: &mut [usize],
    m: usize,
    n: usize,
    at: fn(usize) -> (usize, usize),
) -> Vec<Option<usize>> {
    #[par_for(own(c.chunks(m)), schedule = serial)]
    let found: Vec<Option<usize>> = for i in 0..n {
        if let Some(row) = c.get_mut(i * m..(i + 1) * m) {
            row.fill(i);
        }
        let (from, to) = at(i);
        let half_open = c.get(from..to).map(<[usize]>::len);
        if from < to {
            assert_eq!(c.get(from..=to - 1).map(<[usize]>::len), half_open);
        }
        half_open
    };
    found
}

#[test]
fn ranges_that_the_array_does_not_have_are_none() {
    let mut c = [9; 10];
    assert_eq!(found(&mut c, 4, 3, |i| (4 * i, 4 * i + 2)), [Some(2); 3]);
    assert_eq!(c, [0, 0, 0, 0, 1, 1, 1, 1, 9, 9], "the last chunk is shorter");
    assert_eq!(found(&mut c, 4, 2, |i| (4 * i + 3, 4 * i + 3)), [Some(0); 2], "of no elements");
    assert_eq!(found(&mut c, 4, 3, |i| (4 * i, 11)), [None; 3], "past the array");
    assert_eq!(found(&mut c, 4, 3, |i| (4 * i + 1, 4 * i)), [None; 3], "backwards");
    assert_eq!(
        said(|| drop(found(&mut [0; 10], 4, 3, |i| (4 * i + 2, 4 * i + 6)))),
        "`c[2..6]` belongs to other iterations: this one owns `c[0..4]`, of the 10 elements of `c`"
    );
}

#[par_for]
fn sliced(c: &mut [usize], m: usize, n: usize, from: usize) -> usize {
    #[par_for(own(c.chunks(m)), schedule = serial)]
    for i in 0..n {
        if from == 0 {
            c[..(i + 1) * m].fill(i);
        } else {
            c[i * m..].fill(i);
        }
    }
    c.len()
}

#[test]
fn open_ranges_are_those_of_the_array() {
    let mut c = [9; 8];
    assert_eq!(sliced(&mut c, 8, 1, 0), 8);
    assert_eq!(c, [0; 8]);
    assert_eq!(sliced(&mut c, 8, 1, 1), 8);
    assert_eq!(
        said(|| assert_eq!(sliced(&mut [0; 8], 4, 2, 0), 0)),
        "`c[0..8]` belongs to other iterations: this one owns `c[4..8]`, of the 8 elements of `c`"
    );
    assert_eq!(
        said(|| assert_eq!(sliced(&mut [0; 8], 4, 2, 1), 0)),
        "`c[0..8]` belongs to other iterations: this one owns `c[0..4]`, of the 8 elements of `c`"
    );
}

/// Inner loops whose chunks begin before the window that they lie in, and end behind it.
#[par_for]
fn straddling(c: &mut [usize], outer: usize, inner: usize) {
    let len = c.len();
    #[par_for(own(c.chunks(outer)))]
    for i in 0..len.div_ceil(outer) {
        let (begin, end) = (i * outer, ((i + 1) * outer).min(len));
        #[par_for(own(c.chunks(inner)), schedule = dynamic(1))]
        for k in begin / inner..end.div_ceil(inner) {
            for j in (k * inner).max(begin)..((k + 1) * inner).min(end) {
                c[j] += 1000 * i + 10 * k + 1;
            }
        }
    }
}

#[test]
fn windows_are_owned_again_where_they_begin_within_a_chunk() {
    for len in [0, 1, 5, 12, 13, 60] {
        for outer in [1, 2, 3, 5, 7, 60] {
            for inner in [1, 2, 3, 4, 7, 100] {
                let mut c = vec![0; len];
                straddling(&mut c, outer, inner);
                for (j, c) in c.iter().enumerate() {
                    let expected = 1000 * (j / outer) + 10 * (j / inner) + 1;
                    assert_eq!(*c, expected, "c[{j}] of {len}, {outer}, {inner}");
                }
            }
        }
    }
}

#[par_for]
fn beyond(c: &mut [usize], at: usize) {
    #[par_for(own(c.chunks(3)), schedule = serial)]
    for i in 0..2_usize {
        #[par_for(own(c.chunks(2)), schedule = serial)]
        for k in 0..3_usize {
            if i == 1 && k == 1 {
                c[at] = 1;
            }
        }
    }
}

#[test]
fn what_a_window_has_of_a_chunk_is_all_that_is_owned() {
    let mut c = [0; 6];
    beyond(&mut c, 3);
    assert_eq!(c, [0, 0, 0, 1, 0, 0]);
    assert_eq!(
        said(|| beyond(&mut [0; 6], 2)),
        "`c[2]` belongs to another iteration: this one owns `c[3..4]`, of the 6 elements of `c`"
    );
}

/// Indices that are no `usize`, and that the body makes one of.
#[par_for]
fn wide(y: &mut [usize], from: u128, to: u128) {
    #[par_for(schedule = serial)]
    for i in from..to {
        y[i as usize] = 1;
    }
}

#[par_for]
fn wide_sometimes(y: &mut [usize], from: i128, to: i128) {
    #[par_for(schedule = serial)]
    for i in from..to {
        if i % 2 == 0 {
            y[i as usize] = 1;
        }
    }
}

#[test]
fn an_index_that_is_cut_off_is_not_taken_for_another() {
    let mut y = [0; 4];
    wide(&mut y, 1, 3);
    assert_eq!(y, [0, 1, 1, 0]);
    let (low, high) = (1 << 64, (1 << 64) + 4);
    assert!(said(|| wide(&mut [0; 4], low, high)).contains("18446744073709551616"));
    assert!(said(|| wide_sometimes(&mut [0; 4], 1 << 64, (1 << 64) + 4)).contains("`y[0]`"));
    assert!(said(|| wide_sometimes(&mut [0; 4], -4, 4)).contains("18446744073709551612"));
}
