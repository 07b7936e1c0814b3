//! Iterations that own the elements of an array with their index.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{SCHEDULES, message, pool};

#[test]
fn iterations_own_the_elements_with_their_index() {
    let pool = pool();
    for schedule in SCHEDULES {
        let mut y = vec![0; 100];
        let mut serial = y.clone();
        locsteal::range(10..90)
            .pool(&pool)
            .schedule(schedule)
            .for_each_mut(&mut y, |i, y_i| *y_i += i);
        (10..90).for_each(|i| serial[i] += i);
        locsteal::range(0..=99_u8)
            .rev()
            .step_by(7)
            .schedule(schedule)
            .for_each_mut(&mut y, |i, y_i| *y_i += usize::from(i));
        (0..=99).rev().step_by(7).for_each(|i| serial[i] += i);
        locsteal::range(-20..50_i64)
            .skip(20)
            .take(9)
            .schedule(schedule)
            .for_each_mut(&mut y, |i, y_i| *y_i += i as usize);
        (0..9).for_each(|i| serial[i] += i);
        locsteal::range(1..9).rev().schedule(schedule).for_each_chunk_mut(&mut y, 11, |i, part| {
            assert_eq!(part.len(), 11);
            part[0] += i;
            part[10] += 2 * i;
        });
        (1..9).for_each(|i| {
            serial[11 * i] += i;
            serial[11 * i + 10] += 2 * i;
        });
        assert_eq!(y, serial, "{schedule:?}");
    }
}

#[test]
fn an_index_that_the_array_does_not_have_is_reported_before_the_loop() {
    let mut y = [0; 10];
    let mut refused = |range: std::ops::Range<i32>, parts: usize| {
        message(catch_unwind(AssertUnwindSafe(|| {
            let begun = locsteal::range(range).name("assemble");
            match parts {
                0 => begun.for_each_mut(&mut y, |_, y_i| *y_i = 1),
                _ => begun.for_each_chunk_mut(&mut y, parts, |_, part| part.fill(1)),
            }
        })))
    };
    let text = refused(0..11, 0);
    assert!(text.contains("`assemble` at tests/tests/function_form/owned.rs:"), "{text}");
    assert!(text.contains("index 10 is out of bounds, the array has 10 parts"), "{text}");
    assert!(refused(-1..3, 0).contains("index -1 is out of bounds"));
    assert!(refused(0..4, 3).contains("index 3 is out of bounds, the array has 3 parts"));
    assert_eq!(y, [0; 10]);
    assert!(
        message(catch_unwind(|| locsteal::range(0..3).step_by(0)))
            .contains("the step must not be 0")
    );
}
