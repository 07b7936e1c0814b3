//! Joined loops that go along arrays within each row: what is read and owned there is judged once for a row, and means what it
//! means in the serial loops.
#![forbid(unsafe_code)]
#![deny(warnings)]

use locsteal::{Pool, Schedule, par_for};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SCHEDULES: [Schedule; 5] = [
    Schedule::Static,
    Schedule::StaticChunk(3),
    Schedule::Steal,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

/// Runs `check` with pools and schedules of all kinds.
fn everywhere(mut check: impl FnMut(&Pool, Schedule)) {
    for threads in [1, 3] {
        let pool = Pool::builder().threads(threads).build().expect("a pool");
        for schedule in SCHEDULES {
            check(&pool, schedule);
        }
    }
}

/// What the panic of a loop says.
fn said(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("a panic");
    *payload.downcast::<String>().expect("text")
}

/// The neighbours above, below, to the left and to the right, and one element that does not lie along the row.
#[par_for]
fn neighbours(x: &[u64], y: &mut [u64], n: usize, m: usize, pool: &Pool, schedule: Schedule) {
    let last = x.len() - 1;
    #[par_for(collapse = 2, pool = pool, schedule = (schedule), grain = 1)]
    for i in 1..n - 1 {
        for j in 1..m - 1 {
            let across = x[j * n + i] + x[last - j];
            y[i * m + j] = x[(i - 1) * m + j]
                + x[(i + 1) * m + j] * 3
                + x[i * m + j - 1] * 5
                + x[i * m + j + 1] * 7;
            y[i * m + j] += across * 11;
        }
    }
}

#[test]
fn reads_along_rows_are_those_of_the_serial_loops() {
    everywhere(|pool, schedule| {
        for (n, m) in [(3, 3), (4, 9), (9, 4), (8, 8), (3, 40)] {
            let x: Vec<u64> = (0..(n * m) as u64).map(|k| k * k % 1009).collect();
            let mut y = vec![1; n * m];
            neighbours(&x, &mut y, n, m, pool, schedule);
            for i in 0..n {
                for j in 0..m {
                    let expected = if i == 0 || j == 0 || i == n - 1 || j == m - 1 {
                        1
                    } else {
                        x[(i - 1) * m + j]
                            + 3 * x[(i + 1) * m + j]
                            + 5 * x[i * m + j - 1]
                            + 7 * x[i * m + j + 1]
                            + 11 * (x[j * n + i] + x[n * m - 1 - j])
                    };
                    assert_eq!(y[i * m + j], expected, "{n} {m} {i} {j} {schedule:?}");
                }
            }
        }
    });
}

#[par_for]
fn copied(x: &[u64], y: &mut [u64], n: usize, m: usize) {
    #[par_for(collapse = 2, schedule = serial)]
    for i in 0..n {
        for j in 0..m {
            y[i * m + j] = x[i * m + j + 2];
        }
    }
}

#[test]
fn arrays_that_are_too_short_fail_where_the_serial_loops_do() {
    for len in 0..22 {
        let (x, mut y) = ((0..len).collect::<Vec<u64>>(), [99; 20]);
        let text = said(|| copied(&x, &mut y, 4, 5));
        assert_eq!(
            text.split(", at ").next(),
            Some(&*format!(
                "index out of bounds: the len of `x` is {len} but the index is {}",
                len.max(2)
            )),
            "{text}"
        );
        let done = len.saturating_sub(2) as usize;
        assert!(y[..done].iter().zip(2..).all(|(y, x)| *y == x), "{y:?}");
        assert!(y[done..].iter().all(|y| *y == 99), "{y:?}");
    }
    let (x, mut y) = ((0..22).collect::<Vec<u64>>(), [99; 20]);
    copied(&x, &mut y, 4, 5);
    assert!(y.iter().zip(2..).all(|(y, x)| *y == x));
    for len in 0..20 {
        let mut y = vec![99; len];
        let text = said(|| copied(&x, &mut y, 4, 5));
        assert!(
            text.contains(&format!("the len of `y` is {len} but the index is {len}")),
            "{text}"
        );
        assert!(y.iter().zip(2..).all(|(y, x)| *y == x), "{y:?}");
    }
}

#[par_for]
fn first_above(
    x: &[u64],
    y: &mut [u64],
    m: usize,
    limit: u64,
    pool: &Pool,
    schedule: Schedule,
) -> Option<(usize, usize)> {
    #[par_for(collapse = 2, pool = pool, schedule = (schedule))]
    for i in 0..x.len() / m {
        for j in 0..m {
            if x[i * m + j] > limit {
                return Some((i, j));
            }
            y[i * m + j] = x[i * m + j] + 1;
        }
    }
    None
}

#[test]
fn rows_can_be_left() {
    let x: Vec<u64> = (0..600).collect();
    everywhere(|pool, schedule| {
        for limit in [0, 5, 299, 598, 599] {
            let mut y = vec![0; 600];
            let found = first_above(&x, &mut y, 20, limit, pool, schedule);
            let at = limit as usize + 1;
            assert_eq!(found, (at < 600).then_some((at / 20, at % 20)), "{schedule:?}");
            assert!(y[..at].iter().zip(1..).all(|(y, x)| *y == x));
        }
    });
}

/// Loops over other things than ranges of `usize`, and arrays that are no slices.
#[par_for]
fn others(x: &[u64], queue: &VecDeque<u64>, places: &[usize], m: usize, pool: &Pool) -> [u64; 6] {
    let n = x.len() / m;
    let mut sums = [0; 6];
    #[par_for(collapse = 2, reduce(+: sums), pool = pool)]
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            sums[0] += x[i * m + j] * (1 + j as u64);
        }
    }
    #[par_for(collapse = 2, reduce(+: sums), pool = pool)]
    for i in 0..n {
        for j in (0..m).step_by(3) {
            sums[1] += x[i * m + j] * (1 + j as u64) + queue[i * m + j];
        }
    }
    #[par_for(collapse = 2, reduce(+: sums), pool = pool)]
    for i in 0..=n - 1 {
        for j in places {
            sums[2] += x[i * m + j] * (1 + *j as u64);
        }
    }
    #[par_for(collapse = 2, reduce(+: sums), pool = pool)]
    for row in x.chunks(m) {
        for j in 0..=m - 1 {
            sums[3] += row[j] * (1 + j as u64);
        }
    }
    #[par_for(collapse = 2, reduce(+: sums), pool = pool)]
    for i in 0..n {
        for j in 0..m {
            let k = j;
            let j = m - 1 - j;
            sums[4] += x[i * m + j] * (1 + k as u64);
        }
    }
    #[par_for(collapse = 2, reduce(+: sums), pool = pool)]
    for i in 0..n as u32 {
        for j in 0..m as i16 {
            sums[5] += x[i as usize * m + j as usize] * (1 + j as u64);
        }
    }
    sums
}

#[test]
fn loops_over_other_things_read_what_they_name() {
    let (n, m) = (9, 7);
    let x: Vec<u64> = (0..n * m).map(|k| k * k % 61).collect();
    let queue: VecDeque<u64> = x.iter().map(|x| x + 1).collect();
    let places = [3, 3, 0, 6];
    let sum = |term: &dyn Fn(u64, u64) -> u64| -> u64 {
        (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| term(i, j)).sum()
    };
    let at = |i: u64, j: u64| x[(i * m + j) as usize];
    let whole = sum(&|i, j| at(i, j) * (1 + j));
    let stepped = sum(&|i, j| if j % 3 == 0 { at(i, j) * (2 + j) + 1 } else { 0 });
    let picked = (0..n).flat_map(|i| places.map(|j| at(i, j as u64) * (1 + j as u64))).sum::<u64>();
    let mirrored = sum(&|i, j| at(i, m - 1 - j) * (1 + j));
    for threads in [1, 3] {
        let pool = Pool::builder().threads(threads).build().expect("a pool");
        let got = others(&x, &queue, &places, m as usize, &pool);
        assert_eq!(got, [whole, stepped, picked, whole, mirrored, whole]);
    }
}

/// Inner indices that begin below zero, and outer ones of another type.
#[par_for]
fn signed(a: &mut [u64], first: i64, pool: &Pool, schedule: Schedule) {
    #[par_for(collapse = 2, pool = pool, schedule = (schedule), grain = 1)]
    for i in first..4_i64 {
        for j in -3..2_i64 {
            a[(i * 5 + j) as usize] += 1 + j.unsigned_abs();
        }
    }
}

#[test]
fn elements_are_owned_at_signed_indices() {
    everywhere(|pool, schedule| {
        let mut a = [0; 20];
        signed(&mut a, 1, pool, schedule);
        assert_eq!(a, [0, 0, 4, 3, 2, 1, 2, 4, 3, 2, 1, 2, 4, 3, 2, 1, 2, 0, 0, 0]);
        let text = said(|| signed(&mut [0; 20], 0, pool, Schedule::Serial));
        assert!(text.contains("`a`") && text.contains("out of bounds"), "{text}");
    });
}

/// A falling row that one array has cut to nothing asks the next array nothing that cannot be answered.
#[test]
fn falling_rows_of_several_empty_arrays_name_the_first() {
    #[par_for]
    fn dot(x: &[u64], z: &[u64], n: usize, m: usize) -> u64 {
        let mut sum = 0;
        #[par_for(collapse = 2, schedule = serial, reduce(+: sum))]
        for i in 0..n {
            for j in (0..=m).rev() {
                sum += x[i * (m + 1) + j] * z[j];
            }
        }
        sum
    }
    assert_eq!(dot(&[1, 2, 3, 4, 5, 6], &[1, 10, 100], 2, 2), 321 + 654);
    let text = said(|| assert_eq!(dot(&[], &[], 2, 2), 0));
    assert!(text.contains("index out of bounds: the len of `x` is 0 but the index is 2"), "{text}");
}
