//! Values that do not take well to being combined.

use locsteal::{Pool, Reduce, Schedule, par_for};
use std::num::Wrapping;
use std::panic::catch_unwind;

/// Panics as soon as it holds more than it may.
struct Small(usize);

impl Reduce for Small {
    fn identity() -> Self {
        Self(0)
    }

    fn combine(&mut self, other: Self) {
        assert!(self.0 + other.0 <= 30, "too much");
        self.0 += other.0;
    }
}

#[par_for]
fn small(n: usize, exit: usize, pool: &Pool, schedule: Schedule) -> usize {
    let mut total = Small(0);
    #[par_for(reduce(total), pool = pool, schedule = (schedule))]
    for i in 0..n {
        if i == exit {
            break;
        }
        total.0 += 1;
    }
    total.0
}

#[test]
fn a_combination_that_panics_comes_out() {
    let pool = Pool::builder().threads(4).build().unwrap();
    for schedule in [Schedule::Static, Schedule::DynamicChunk(1), Schedule::Steal] {
        for exit in [10, 60, 2000] {
            let total = catch_unwind(|| small(1000, exit, &pool, schedule));
            match total {
                Ok(total) => assert_eq!(total, exit.min(1000)),
                // Who has not heard of the exit yet combines what is above it, too.
                Err(payload) => assert_eq!(*payload.downcast::<&str>().unwrap(), "too much"),
            }
        }
        assert_eq!(small(30, 10, &pool, schedule), 10, "never too much");
        assert_eq!(small(20, 100, &pool, schedule), 20, "the pool is as good as new");
    }
}

#[par_for]
fn greatest(x: &[f64]) -> Option<f64> {
    let mut greatest = None;
    #[par_for(reduce(max: greatest), schedule = dynamic(1))]
    for i in 0..x.len() {
        if Some(x[i]) > greatest {
            greatest = Some(x[i]);
        }
    }
    greatest
}

#[par_for]
#[allow(clippy::assigning_clones, reason = "the form is what is tested")]
fn longest(words: &[String], n: usize) -> (String, f64) {
    let (mut last, mut low) = (String::new(), 1000.0);
    #[par_for(reduce(max: last), schedule = dynamic(1))]
    for word in words {
        if *word > last {
            last = word.clone();
        }
    }
    #[par_for(reduce(min: low), schedule = dynamic(1))]
    for i in 1..n {
        if (i as f64) < low {
            low = i as f64;
        }
    }
    (last, low)
}

#[test]
fn extrema_are_written_as_in_a_serial_loop() {
    assert_eq!(greatest(&[1.0, f64::NAN, 3.0, 2.0]), Some(3.0));
    assert_eq!(greatest(&[]), None);
    let words: Vec<String> = (0..100).map(|k| format!("{k}")).collect();
    assert_eq!(longest(&words, 100), ("99".to_owned(), 1.0));
}

#[par_for]
fn takes_another_type(n: usize) -> Wrapping<u8> {
    let mut left = Wrapping(0_u8);
    #[par_for(reduce(+: left), schedule = dynamic(1))]
    for i in 0..n {
        left -= i as u8;
        left += &3;
        left += Wrapping(1);
    }
    left
}

#[test]
fn whatever_the_type_adds_is_subtracted() {
    let expected = (0..500).fold(Wrapping(0_u8), |left, i| left - Wrapping(i as u8) + Wrapping(4));
    assert_eq!(takes_another_type(500), expected);
}
