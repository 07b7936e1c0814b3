//! Slices and deques by reference, as a whole and in pieces.

use std::collections::VecDeque;

use super::*;

#[test]
fn slices_by_reference() {
    for &len in lengths() {
        let vec: Vec<u16> = (100..100 + len as u16).collect();
        let boxed = vec.clone().into_boxed_slice();
        check_adapted(&|| vec.as_slice().into_parallel_source(), &|item| *item, &vec);
        check(&|| (&vec).into_parallel_source(), &|item| *item, &vec);
        check(&|| (&boxed).into_parallel_source(), &|item| *item, &vec);
        check(&|| vec.iter().into_parallel_source(), &|item| *item, &vec);
        check(&|| vec.as_slice().into_parallel_source().copied(), &|item| item, &vec);
        check(&|| vec.as_slice().into_parallel_source().cloned().rev().rev(), &|item| item, &vec);
    }
    check(&|| (&[1, 2, 3]).into_parallel_source(), &|item| *item, &[1, 2, 3]);
}

#[test]
fn pieces_of_slices() {
    for &len in lengths() {
        let vec: Vec<u16> = (0..len as u16).collect();
        for size in counts(len).into_iter().filter(|size| *size > 0) {
            let chunks: Vec<&[u16]> = vec.chunks(size).collect();
            once(&|| vec.par_chunks(size), &|item| item, &chunks);
            let chunks: Vec<&[u16]> = vec.chunks_exact(size).collect();
            once(&|| vec.par_chunks_exact(size), &|item| item, &chunks);
            let windows: Vec<&[u16]> = vec.windows(size).collect();
            once(&|| vec.par_windows(size), &|item| item, &windows);
        }
    }
}

#[test]
fn slices_to_be_changed() {
    for &len in lengths() {
        let expected: Vec<u16> = (100..100 + len as u16).collect();
        // Each source gets memory of its own, since several are alive at once.
        let fresh = || expected.clone().leak();
        if !cfg!(miri) {
            once(&|| fresh().into_parallel_source(), &|item: &mut u16| *item, &expected);
        }
        for size in counts(len).into_iter().filter(|size| *size > 0) {
            let mut vec = expected.clone();
            let mut serial = expected.clone();
            for source_part in items(&vec.par_chunks_mut(size), |position| position % 2 == 0) {
                source_part.reverse();
            }
            serial.chunks_mut(size).for_each(<[u16]>::reverse);
            assert_eq!(vec, serial);
            for source_part in
                items(&vec.par_chunks_exact_mut(size).rev(), |position| position % 3 == 0)
            {
                source_part.rotate_left(1);
            }
            serial.chunks_exact_mut(size).for_each(|part| part.rotate_left(1));
            assert_eq!(vec, serial);
        }
        let mut vec = expected.clone();
        for item in
            items(&vec.iter_mut().into_parallel_source().step_by(2), |position| position == 1)
        {
            *item += 1000;
        }
        let steps: Vec<u16> =
            (0..).zip(&expected).map(|(k, v)| if k % 2 == 0 { v + 1000 } else { *v }).collect();
        assert_eq!(vec, steps);
    }
}

#[test]
fn deques() {
    let mut deque: VecDeque<u8> = (0..6).collect();
    deque.rotate_left(4);
    deque.push_front(9);
    let expected: Vec<u8> = deque.iter().copied().collect();
    once(&|| (&deque).into_parallel_source(), &|item| *item, &expected);
    check(&|| deque.iter().into_parallel_source(), &|item| *item, &expected);
    check(&|| deque.clone().into_parallel_source(), &|item| item, &expected);
    for item in items(&(&mut deque).into_parallel_source(), |position| position == 2) {
        *item += 1;
    }
    assert!(deque.iter().copied().eq(expected.iter().map(|v| v + 1)));
}
