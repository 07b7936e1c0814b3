//! Values of which each is dropped once, however the loop ends.

use locsteal::par_for;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};

use crate::panics;

/// Counts who is alive.
struct Alive<'a>(&'a AtomicIsize, usize);

impl<'a> Alive<'a> {
    fn new(alive: &'a AtomicIsize, number: usize) -> Self {
        alive.fetch_add(1, SeqCst);
        Self(alive, number)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        assert!(self.0.fetch_sub(1, SeqCst) > 0, "dropped twice");
    }
}

#[par_for]
fn yields<'a>(alive: &'a AtomicIsize, n: usize, at: usize, panic: bool) -> Option<Vec<Alive<'a>>> {
    #[par_for(schedule = dynamic(2))]
    let values: Vec<Alive<'a>> = for i in 0..n {
        let value = Alive::new(alive, i);
        if i == at {
            assert!(!panic);
            None?;
        }
        value
    };
    Some(values)
}

#[par_for]
fn consumes<'a>(a: Vec<Alive<'a>>, b: Vec<Alive<'a>>, at: usize, panic: bool) -> Option<Alive<'a>> {
    #[par_for(schedule = dynamic(2))]
    for (x, y) in a.into_iter().zip(b).skip(2).step_by(3).rev() {
        if x.1 == at {
            assert!(!panic);
            return Some(y);
        }
    }
    None
}

#[par_for]
fn keeps(alive: &AtomicIsize, n: usize, at: usize) {
    #[par_for(local(own = Alive::new(alive, 0)), schedule = dynamic(1))]
    for i in 0..n {
        own.1 += 1;
        assert!(i != at);
    }
}

#[par_for]
fn makes_no_local(n: usize, made: &AtomicUsize) {
    #[par_for(local(own = assert!(made.fetch_add(1, SeqCst) > 100)))]
    for _ in 0..n {
        let () = own;
    }
}

#[test]
fn every_value_is_dropped_once() {
    let alive = AtomicIsize::new(0);
    let make = |n: usize| (0..n).map(|i| Alive::new(&alive, i)).collect::<Vec<_>>();
    for at in [0, 1, 2, 500, 999, 5000] {
        for panic in [false, true] {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(yields(&alive, 1000, at, panic))));
            assert_eq!(alive.load(SeqCst), 0, "{at}, {panic}");
            let _ = catch_unwind(AssertUnwindSafe(|| {
                drop(consumes(make(1000), make(900), at, panic));
            }));
            assert_eq!(alive.load(SeqCst), 0, "{at}, {panic}");
        }
        assert_eq!(panics(|| keeps(&alive, 1000, at)), at < 1000);
        assert_eq!(alive.load(SeqCst), 0, "{at}");
    }
    let made = AtomicUsize::new(0);
    assert!(panics(|| makes_no_local(100, &made)));
}
