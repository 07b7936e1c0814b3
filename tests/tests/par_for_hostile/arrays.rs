//! Arrays that are another one, or of another length, each time that they are asked.

use locsteal::{ParallelArray, par_for};
use std::cell::Cell;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::panics;

/// An array that says something else each time, in every way that it can.
struct Liar {
    elements: Vec<usize>,
    asked: usize,
    extent: Option<(usize, usize)>,
}

impl ParallelArray for Liar {
    type Element = usize;

    fn elements(&mut self) -> &mut [usize] {
        self.asked += 1;
        if self.asked.is_multiple_of(2) { &mut [] } else { &mut self.elements }
    }

    fn extent(&self) -> Option<(usize, usize)> {
        self.extent
    }
}

impl Index<usize> for Liar {
    type Output = usize;

    fn index(&self, i: usize) -> &usize {
        &self.elements[i]
    }
}

impl IndexMut<usize> for Liar {
    fn index_mut(&mut self, i: usize) -> &mut usize {
        &mut self.elements[i]
    }
}

#[par_for]
fn liar(y: &mut Liar, from: usize, to: usize) {
    for i in from..to {
        if i % 2 == 0 {
            y[i] = 1;
        }
    }
}

#[par_for]
fn lying_chunks(y: &mut Liar, n: usize, m: usize) {
    #[par_for(own(y.chunks(m)))]
    for i in 0..n {
        if let Some(first) = y.get_mut(i.wrapping_mul(m)) {
            *first = 1;
        }
    }
}

#[test]
fn an_array_that_lies_about_its_length_is_read_within_it() {
    for extent in [
        None,
        Some((usize::MAX - 1, 3)),
        Some((usize::MAX, usize::MAX)),
        Some((0, usize::MAX)),
        Some((3, 0)),
        Some((5, 20)),
    ] {
        for (from, to) in [(0, 10), (0, 1000), (usize::MAX - 7, usize::MAX), (9, 12)] {
            let mut y = Liar { elements: vec![0; 10], asked: 0, extent };
            for _ in 0..3 {
                let _ = panics(|| liar(&mut y, from, to));
            }
            assert_eq!(y.elements.len(), 10);
        }
        for m in [1, 3, 100, usize::MAX / 2, usize::MAX] {
            let mut y = Liar { elements: vec![0; 10], asked: 0, extent };
            let _ = panics(|| lying_chunks(&mut y, 20, m));
            assert!(y.elements.iter().all(|y| *y <= 1));
        }
    }
}

/// A pointer that points to one array, and then to the other.
struct Flip {
    turn: Cell<usize>,
    arrays: [Vec<usize>; 2],
}

impl Deref for Flip {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        self.turn.set(self.turn.get() + 1);
        &self.arrays[self.turn.get() % 2]
    }
}

impl DerefMut for Flip {
    fn deref_mut(&mut self) -> &mut [usize] {
        self.turn.set(self.turn.get() + 1);
        &mut self.arrays[self.turn.get() % 2]
    }
}

#[par_for]
fn flip(y: &mut Flip, n: usize) {
    for i in 0..n {
        y[i] = i + 1;
    }
}

#[test]
fn a_pointer_is_followed_once_for_a_loop() {
    let mut y = Flip { turn: Cell::new(0), arrays: [vec![0; 500], vec![0; 500]] };
    flip(&mut y, 500);
    flip(&mut y, 500);
    for array in &y.arrays {
        assert!(array.iter().enumerate().all(|(i, y)| *y == i + 1));
    }
    let mut y = Flip { turn: Cell::new(0), arrays: [vec![0; 500], Vec::new()] };
    assert!(panics(|| flip(&mut y, 500)));
}
