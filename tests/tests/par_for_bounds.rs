//! Arrays that end before the loop does, and accesses that are judged while the loop runs.
#![forbid(unsafe_code)]

use locsteal::{Schedule, par_for};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The message of a panic in `run`.
fn message(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("no panic");
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string())
}

#[par_for]
fn axpy(x: &[f64], y: &mut [f64], n: usize, schedule: Schedule) {
    #[par_for(schedule = (schedule))]
    for i in 0..n {
        y[i] += x[i];
    }
}

#[test]
fn the_lowest_index_that_is_not_there_is_named() {
    // Of several iterations that fail at once, the first one stops the others: so there is but one, unless they come in
    // order.
    for (schedule, more) in [
        (Schedule::Static, 1),
        (Schedule::Steal, 1),
        (Schedule::DynamicChunk(7), 1),
        (Schedule::Serial, 1),
        (Schedule::Serial, 40),
    ] {
        let said = message(|| axpy(&[1.0; 100], &mut [0.0; 60], 60 + more, schedule));
        assert!(
            said.starts_with("index out of bounds: the len of `y` is 60 but the index is 60"),
            "{said}"
        );
        assert!(said.contains("par_for_bounds.rs:"), "{said}");
        let said = message(|| axpy(&[1.0; 50], &mut [0.0; 60], 50 + more, schedule));
        assert!(
            said.starts_with("index out of bounds: the len of `x` is 50 but the index is 50"),
            "{said}"
        );
        let said = message(|| axpy(&[], &mut [], 1, schedule));
        assert!(said.starts_with("index out of bounds: the len of"), "{said}");
    }
}

#[test]
fn what_comes_before_has_run_when_run_serially() {
    let mut y = [0.0; 60];
    message(|| axpy(&[1.0; 100], &mut y, 100, Schedule::Serial));
    assert_eq!(y, [1.0; 60]);
}

#[par_for]
fn guarded(x: &[i32], d: &mut [i32]) {
    for i in 0..x.len() {
        if i + 1 < x.len() {
            d[i] = x[i + 1] - x[i];
        }
    }
}

#[test]
fn an_array_that_is_used_sometimes_may_be_shorter() {
    let x: Vec<i32> = (0..100).map(|i| i * i).collect();
    let mut d = vec![0; 99];
    guarded(&x, &mut d);
    assert!(d.iter().enumerate().all(|(i, d)| *d == 2 * i as i32 + 1));
    let mut d = vec![0; 98];
    let said = message(|| guarded(&x, &mut d));
    assert!(said.contains("the len of `d` is 98 but the index is 98"), "{said}");
}

#[par_for]
fn backwards(y: &mut [i32], n: i32) {
    for i in (-2..n).rev() {
        if i >= 0 {
            y[i as usize] = i;
        }
    }
}

#[par_for]
fn negative(y: &mut [i32]) {
    for i in -1..3i64 {
        y[i as usize] = 1;
    }
}

#[par_for]
fn behind(x: &[i32], y: &mut [i32]) {
    for i in 0..y.len() {
        y[i] = x[i - 1];
    }
}

#[test]
fn negative_indices_are_not_there() {
    let mut y = [7; 5];
    backwards(&mut y, 5);
    assert_eq!(y, [0, 1, 2, 3, 4]);
    assert!(
        message(|| backwards(&mut [0; 5], 6)).contains("the len of `y` is 5 but the index is 5")
    );
    assert!(
        message(|| negative(&mut [0; 5])).contains("the len of `y` is 5 but the index would be -1")
    );
    assert!(
        message(|| behind(&[0; 5], &mut [0; 5]))
            .contains("the len of `x` is 5 but the index would be -1")
    );
}

#[par_for]
fn strided(y: &mut [usize], step: usize) {
    for i in (0..y.len() + 3).step_by(step) {
        if i < y.len() {
            y[i] = i + 1;
        }
    }
}

#[test]
fn strides() {
    for step in [1, 2, 3, 7, 50, usize::MAX / 2] {
        let mut y = [0; 40];
        strided(&mut y, step);
        for (i, y) in y.iter().enumerate() {
            assert_eq!(*y, if i % step == 0 { i + 1 } else { 0 });
        }
    }
}

#[par_for]
fn permuted(to: &[usize], y: &mut [usize]) {
    #[par_for(own(y), schedule = serial)]
    for i in 0..to.len() {
        y[to[i]] = i;
    }
}

#[test]
fn what_cannot_be_judged_is_checked() {
    let mut y = [9; 4];
    permuted(&[0, 1, 2, 3], &mut y);
    assert_eq!(y, [0, 1, 2, 3]);
    let said = message(|| permuted(&[0, 2, 1, 3], &mut y));
    assert_eq!(
        said,
        "`y[2]` belongs to another iteration: this one owns `y[1]`, of the 4 elements of `y`"
    );
    let said = message(|| permuted(&[0, 7], &mut y));
    assert_eq!(said, "index out of bounds: the len of `y` is 4 but the index is 7");
}

#[par_for]
fn rows(c: &mut [usize], m: usize, from: &[usize]) {
    #[par_for(own(c.chunks(m)), schedule = serial)]
    for i in 0..from.len() {
        for j in 0..m {
            c[from[i] * m + j] += 1;
        }
        c[from[i] * m..(from[i] + 1) * m].reverse();
    }
}

#[test]
fn chunks_are_checked() {
    let mut c = [0; 12];
    rows(&mut c, 4, &[0, 1, 2]);
    assert_eq!(c, [1; 12]);
    let said = message(|| rows(&mut c, 4, &[0, 2]));
    assert_eq!(
        said,
        "`c[8]` belongs to another iteration: this one owns `c[4..8]`, of the 12 elements of `c`"
    );
    let said = message(|| rows(&mut c, 5, &[0, 1, 2]));
    assert_eq!(said, "index out of bounds: the len of `c` is 12 but the index is 12");
    let said = message(|| rows(&mut c, 0, &[0]));
    assert!(said.contains("`own(c.chunks(0))`"), "{said}");
}

#[par_for(own(c.chunks(m)), schedule = serial)]
fn counted_rows(c: &mut [usize], m: usize, from: &[usize], count: &AtomicUsize) {
    for i in 0..c.len() / m {
        for j in 0..m {
            count.fetch_add(1, Relaxed);
            c[i * m + j] += from[i + j];
        }
    }
}

#[par_for(own(c.chunks(m)), schedule = serial)]
fn left_rows(c: &mut [usize], m: usize, from: &[usize], count: &AtomicUsize) {
    for i in 0..c.len() / m {
        for j in 0..m {
            if j == 3 {
                break;
            }
            count.fetch_add(1, Relaxed);
            c[i * m + j] += from[i + j];
        }
    }
}

#[test]
fn a_serial_loop_that_would_fail_does_so_before_it_begins() {
    let count = AtomicUsize::new(0);
    // Row 2 reads from 2 to 6.
    let said = message(|| counted_rows(&mut [1; 20], 5, &[1; 6], &count));
    assert!(
        said.starts_with("index out of bounds: the len of `from` is 6 but the index is 6"),
        "{said}"
    );
    assert_eq!(count.into_inner(), 10);

    // An iteration of these loops is not certain to come.
    let count = AtomicUsize::new(0);
    left_rows(&mut [1; 20], 5, &[1; 6], &count);
    assert_eq!(count.into_inner(), 12);

    // A loop of no iterations needs nothing.
    let count = AtomicUsize::new(0);
    counted_rows(&mut [], 5, &[], &count);
    assert_eq!(count.into_inner(), 0);
}

#[par_for]
fn ranges(c: &mut [u8], lo: usize, hi: usize) -> usize {
    let len = AtomicUsize::new(0);
    #[par_for(own(c.chunks(4)), schedule = serial)]
    for i in 1..2 {
        let _ = i;
        len.store(c[lo..hi].len(), Relaxed);
    }
    len.into_inner()
}

#[test]
fn ranges_of_a_chunk() {
    let mut c = [0; 12];
    assert_eq!(ranges(&mut c, 4, 8), 4);
    assert_eq!(ranges(&mut c, 5, 5), 0);
    for (lo, hi, said) in [
        (
            3,
            8,
            "`c[3..8]` belongs to other iterations: this one owns `c[4..8]`, of the 12 elements of `c`",
        ),
        (
            4,
            9,
            "`c[4..9]` belongs to other iterations: this one owns `c[4..8]`, of the 12 elements of `c`",
        ),
        (6, 5, "`c[6..5]`: slice index starts at 6 but ends at 5"),
        (4, 13, "range end index 13 out of range for `c`, a slice of length 12"),
    ] {
        assert_eq!(
            message(|| {
                ranges(&mut c, lo, hi);
            }),
            said
        );
    }
}

#[par_for]
fn wide(y: &mut [u8]) -> usize {
    let count = AtomicUsize::new(0);
    #[par_for]
    for i in (u64::MAX - 3)..=u64::MAX {
        if i < 2 {
            y[i as usize] = 1;
        }
        count.fetch_add(1, Relaxed);
    }
    #[par_for]
    for i in i8::MIN..=i8::MAX {
        if i >= 0 {
            y[i as usize] += 1;
        }
        count.fetch_add(1, Relaxed);
    }
    #[par_for]
    for i in (u128::MAX - 9)..u128::MAX {
        if i == 5 {
            y[i as usize] = 1;
        }
        count.fetch_add(1, Relaxed);
    }
    #[par_for]
    for i in i64::MIN..i64::MIN + 3 {
        std::hint::black_box(i);
        count.fetch_add(1, Relaxed);
    }
    count.into_inner()
}

#[test]
fn ranges_of_every_type() {
    let mut y = [0; 128];
    assert_eq!(wide(&mut y), 4 + 256 + 9 + 3);
    assert_eq!(y, [1; 128]);
}

#[par_for]
fn endless(limit: u128) -> u128 {
    for i in 0..=u128::MAX {
        if i >= limit {
            return i;
        }
    }
    0
}

#[test]
fn the_longest_loops_can_be_left() {
    assert_eq!(endless(0), 0);
    assert_eq!(endless(1000), 1000);
}

#[par_for]
fn zero_sized(y: &mut [()], count: &AtomicUsize) {
    for i in 0..y.len() {
        y[i] = ();
        count.fetch_add(1, Relaxed);
    }
}

#[test]
fn elements_without_size() {
    let count = AtomicUsize::new(0);
    zero_sized(&mut [(); 1000], &count);
    assert_eq!(count.into_inner(), 1000);
}
