//! Chunks that iterations own: what a body does to its window means what it means in the serial loop, or panics with words.
#![forbid(unsafe_code)]

use locsteal::{Schedule, par_for};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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

/// Elements of odd sizes that can be told that an iteration has had them.
trait Had: Clone + Default + Send {
    fn had(&mut self, by: usize);
    /// Whether nobody has had it, or the iteration that owns it, once.
    fn is(&self, by: Option<usize>) -> bool;
}

/// Of no size.
#[derive(Clone, Default)]
struct Nothing;

impl Had for Nothing {
    fn had(&mut self, _: usize) {}

    fn is(&self, _: Option<usize>) -> bool {
        true
    }
}

/// Of any other.
#[derive(Clone)]
struct Bytes<const N: usize>([u8; N]);

impl<const N: usize> Default for Bytes<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Had for Bytes<N> {
    fn had(&mut self, by: usize) {
        self.0.iter_mut().for_each(|byte| *byte += by as u8 + 1);
    }

    fn is(&self, by: Option<usize>) -> bool {
        self.0 == [by.map_or(0, |by| by as u8 + 1); N]
    }
}

#[derive(Clone, Default)]
#[repr(align(64))]
struct Line(Bytes<5>);

impl Had for Line {
    fn had(&mut self, by: usize) {
        self.0.had(by);
    }

    fn is(&self, by: Option<usize>) -> bool {
        self.0.is(by)
    }
}

/// Runs one of the loops; gives back the indices of its iterations.
#[par_for]
fn runs<T: Had>(y: &mut [T], form: usize, schedule: Schedule, ran: &AtomicUsize) -> Vec<usize> {
    let (n, few) = (y.len(), y.len() as i16);
    match form {
        0 => {
            #[par_for(schedule = (schedule))]
            for i in 0..n {
                y[i].had(i);
                ran.fetch_add(1, Relaxed);
            }
            (0..n).collect()
        }
        1 => {
            #[par_for(schedule = (schedule))]
            for i in (0..n).rev() {
                y[i].had(i);
                ran.fetch_add(1, Relaxed);
            }
            (0..n).collect()
        }
        2 => {
            #[par_for(schedule = (schedule))]
            for i in (n / 3..n).step_by(3) {
                y[i].had(i);
                ran.fetch_add(1, Relaxed);
            }
            (n / 3..n).step_by(3).collect()
        }
        3 => {
            #[par_for(schedule = (schedule))]
            for i in (0..few).rev().step_by(2) {
                y[i as usize].had(i as usize);
                ran.fetch_add(1, Relaxed);
            }
            (0..n).rev().step_by(2).collect()
        }
        4 => {
            #[par_for(schedule = (schedule))]
            for (_, i) in (0..2 * n).zip((0..n).rev()).skip(1).take(60) {
                y[i].had(i);
                ran.fetch_add(1, Relaxed);
            }
            (0..n).rev().skip(1).take(60).collect()
        }
        5 => {
            #[par_for(schedule = (schedule))]
            for i in -3..few {
                if i >= 0 {
                    y[i as usize].had(i as usize);
                    ran.fetch_add(1, Relaxed);
                }
            }
            (0..n).collect()
        }
        6 => {
            let rows = n / 4;
            #[par_for(schedule = (schedule), collapse = 2)]
            for row in 0..rows {
                for i in 1..=3 {
                    y[4 * row + i].had(4 * row + i);
                    ran.fetch_add(1, Relaxed);
                }
            }
            (0..4 * rows).filter(|i| i % 4 != 0).collect()
        }
        _ => unreachable!(),
    }
}

fn each_has_its_own<T: Had>() {
    let schedules = [
        Schedule::Serial,
        Schedule::Static,
        Schedule::StaticChunk(5),
        Schedule::Dynamic,
        Schedule::Steal,
        Schedule::Auto,
    ];
    for n in [0, 1, 2, 63, 64, 65] {
        for (form, schedule) in (0..7).flat_map(|form| schedules.map(|schedule| (form, schedule))) {
            let (mut y, ran) = (vec![T::default(); n], AtomicUsize::new(0));
            let indices = runs(&mut y, form, schedule, &ran);
            assert_eq!(ran.into_inner(), indices.len(), "{form} {schedule:?} {n}");
            for (i, y) in y.iter().enumerate() {
                let by = indices.contains(&i).then_some(i);
                assert!(y.is(by), "{form} {schedule:?} {n} {i}");
            }
        }
    }
}

#[test]
fn elements_of_every_size_are_owned_one_by_one() {
    each_has_its_own::<Nothing>();
    each_has_its_own::<Bytes<1>>();
    each_has_its_own::<Bytes<3>>();
    each_has_its_own::<Bytes<1000>>();
    each_has_its_own::<Line>();
}
