//! Ranges, chunks and indices that are as large as they can be, beyond what an iteration owns, or written in other ways than
//! `y[i]`.

use locsteal::par_for;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::panics;

#[par_for]
fn huge_chunks(y: &mut [usize], n: usize, m: usize) {
    #[par_for(own(y.chunks(m)))]
    for i in 0..n {
        if i == 0 {
            y[0] += 1;
            assert_eq!(y.get(y.len()), None);
        } else {
            assert_eq!(y.get(usize::MAX), None);
        }
    }
}

#[par_for]
fn without_size(y: &mut [()], m: usize, n: usize) -> usize {
    let mut count = 0;
    #[par_for(own(y.chunks(m)), reduce(+: count))]
    for i in 0..n {
        y[i * m] = ();
        y[i * m + (m - 1)] = ();
        count += y[i * m..][..0].len() + 1;
    }
    count
}

#[test]
fn chunks_of_every_size() {
    for m in [5, usize::MAX, usize::MAX / 2, 1 << 62] {
        let mut y = vec![0; 5];
        huge_chunks(&mut y, 1000, m);
        assert_eq!(y, [1, 0, 0, 0, 0]);
    }
    assert!(panics(|| huge_chunks(&mut [0; 5], 3, 0)));
    assert!(panics(|| {
        without_size(&mut [(); usize::MAX], usize::MAX / 2, 2);
    }));
    assert!(panics(|| huge_chunks(&mut [], 3, 0)));
}

#[par_for]
fn everything(stop: usize, backwards: bool) -> (usize, usize) {
    let mut count = 0_usize;
    if backwards {
        #[par_for(reduce(+: count))]
        for i in (0..=usize::MAX).rev() {
            if i == usize::MAX - stop {
                return (i, 0);
            }
            count += 1;
        }
    } else {
        #[par_for(reduce(+: count))]
        for (k, i) in (i128::MIN..=i128::MAX).enumerate() {
            if k == stop {
                assert_eq!(i, i128::MIN + stop as i128);
                break;
            }
            count += 1;
        }
    }
    (stop, count)
}

#[test]
fn ranges_longer_than_any_count_can_be_left() {
    for stop in [0, 1, 77, 5000] {
        assert_eq!(everything(stop, false), (stop, stop));
        assert_eq!(everything(stop, true), (usize::MAX - stop, 0));
    }
}

#[par_for]
fn far_ahead(x: &[usize], y: &mut [usize], far: bool) {
    for i in 0..y.len() {
        for j in 0..if far { 2 } else { 0 } {
            y[i] += x[j + 3_000_000_000];
            y[i] += x[j + 100_000 * 100_000];
        }
    }
}

#[test]
fn literals_of_an_index_are_as_large_as_indices() {
    let mut y = [0; 10];
    far_ahead(&[], &mut y, false);
    assert_eq!(y, [0; 10]);
    assert!(panics(|| far_ahead(&[1], &mut y, true)));
}

macro_rules! put {
    ($place:expr, $value:expr) => {
        $place = $value
    };
}

#[par_for(own(y))]
fn written_by_macros_alone(y: &mut [usize], by: usize) {
    for i in 0..by {
        put!(y[i], i * by);
    }
}

#[test]
fn a_macro_uses_what_it_is_given() {
    let mut y = [1; 20];
    written_by_macros_alone(&mut y, 20);
    assert!(y.iter().enumerate().all(|(i, y)| *y == 20 * i));
    assert!(panics(|| written_by_macros_alone(&mut y, 21)));
}

#[par_for]
fn beyond_the_window(c: &mut [usize], n: usize, m: usize) {
    #[par_for(own(c.chunks(m)))]
    for i in 0..n {
        #[par_for]
        for j in i * m..(i + 1) * m + 1 {
            c[j] += 1;
        }
    }
}

#[test]
fn an_inner_loop_past_its_window_is_told_so() {
    let message = |len: usize| {
        let run = || beyond_the_window(&mut vec![0; len], 1, 5);
        *catch_unwind(AssertUnwindSafe(run)).unwrap_err().downcast::<String>().unwrap()
    };
    let other = message(20);
    assert!(other.contains("`c[5]` belongs to another iteration of the loop around"), "{other}");
    let past = message(5);
    assert!(past.contains("the len of `c` is 5 but the index is 5"), "{past}");
}

#[par_for]
fn by_ranges_with_a_name(c: &mut [usize], m: usize) {
    let n = c.len() / m;
    #[par_for(own(c.chunks(m)))]
    for i in 0..n {
        let (mine, first) = (i * m..(i + 1) * m, i * m);
        c[mine.clone()].fill(i);
        c[first] += 10;
        let next = first..c.len().min(first + m + usize::from(i == 100));
        let (one, rest) = c[next].split_at_mut(1);
        one[0] += rest.len();
    }
}

#[test]
fn a_chunk_is_indexed_by_a_range_that_has_a_name() {
    let mut c = [0; 12];
    by_ranges_with_a_name(&mut c, 3);
    assert_eq!(c, [12, 0, 0, 13, 1, 1, 14, 2, 2, 15, 3, 3]);
    assert!(panics(|| by_ranges_with_a_name(&mut [0; 400], 3)));
}
