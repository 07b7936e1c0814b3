//! Elements by value: each is dropped once.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;

/// Counts its values that are alive.
#[derive(Debug)]
struct Counted<'a> {
    value: usize,
    alive: &'a AtomicUsize,
}

impl<'a> Counted<'a> {
    fn new(value: usize, alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, Relaxed);
        Self { value, alive }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Relaxed);
    }
}

#[test]
fn elements_by_value() {
    let alive = AtomicUsize::new(0);
    for &len in lengths() {
        let expected: Vec<usize> = (0..len).collect();
        let vec = || (0..len).map(|value| Counted::new(value, &alive)).collect::<Vec<_>>();
        once(&|| vec().into_parallel_source(), &|item| item.value, &expected);
        check(&|| vec().into_boxed_slice().into_parallel_source(), &|item| item.value, &expected);
        check(&|| VecDeque::from(vec()).into_parallel_source(), &|item| item.value, &expected);
        check(&|| vec().into_iter().into_parallel_source(), &|item| item.value, &expected);
        assert_eq!(alive.load(Relaxed), 0, "{len} elements");
    }
    let array = || [0, 1, 2, 3].map(|value| Counted::new(value, &alive));
    once(&|| array().into_parallel_source(), &|item| item.value, &[0, 1, 2, 3]);
    check(&|| array().into_iter().into_parallel_source(), &|item| item.value, &[0, 1, 2, 3]);
    assert_eq!(alive.load(Relaxed), 0);
    check(&|| vec![(); 5].into_parallel_source(), &|()| (), &[(); 5]);
    check(&|| [[0_u8; 0]; 3].into_parallel_source(), &|item| item, &[[]; 3]);
}

#[test]
fn what_a_chunk_or_a_source_has_left_is_dropped_once() {
    let alive = AtomicUsize::new(0);
    for (len, first, last, taken, back) in [
        (1, 0, 0, 0, 0),
        (5, 1, 3, 1, 1),
        (300, 10, 290, 100, 3),
        (300, 0, 299, 300, 0),
        (64, 63, 63, 0, 1),
    ] {
        let elements: Vec<_> = (0..len).map(|value| Counted::new(value, &alive)).collect();
        let source = elements.into_parallel_source();
        // SAFETY: the only chunk, dropped before the source.
        let mut chunk = unsafe { source.chunk(first, last) };
        for value in first as usize..first as usize + taken {
            assert_eq!(chunk.next().unwrap().value, value);
        }
        for value in (last as usize + 1 - back..=last as usize).rev() {
            assert_eq!(chunk.next_back().unwrap().value, value);
        }
        drop(chunk);
        assert_eq!(alive.load(Relaxed), len - (last - first + 1) as usize);
        drop(source);
        assert_eq!(alive.load(Relaxed), 0);
    }
}

#[test]
fn a_drop_that_panics_does_not_keep_others_from_being_dropped() {
    struct Fragile<'a>(Counted<'a>);
    impl Drop for Fragile<'_> {
        fn drop(&mut self) {
            assert!(self.0.value != 3, "element 3");
        }
    }
    let alive = AtomicUsize::new(0);
    let source = || {
        (0..6).map(|v| Fragile(Counted::new(v, &alive))).collect::<Vec<_>>().into_parallel_source()
    };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(source())));
    assert_eq!((caught.is_err(), alive.load(Relaxed)), (true, 0));
    let source = source();
    // SAFETY: the only chunk, dropped before the source.
    let chunk = unsafe { source.chunk(2, 4) };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(chunk)));
    assert_eq!((caught.is_err(), alive.load(Relaxed)), (true, 3));
}
