//! What listeners are told, and what they may do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;

use locsteal::{Parallel, Progress, Schedule};

use crate::{SCHEDULES, message, pool};

#[test]
fn progress_grows_and_ends_with_the_total() {
    let pool = pool();
    for schedule in SCHEDULES {
        for len in [0, 1, 2, 1000, 100_000_u64] {
            for reproducible in [false, true] {
                let told = Mutex::new(Vec::new());
                let ran = AtomicU64::new(0);
                let begun =
                    locsteal::range(0..len).pool(&pool).schedule(schedule).progress(|done| {
                        // What is told has really run.
                        assert!(done <= ran.load(SeqCst));
                        told.lock().unwrap().push(done);
                    });
                let begun = if reproducible { begun.reproducible() } else { begun };
                begun.sum(|_| {
                    let ran = ran.fetch_add(1, SeqCst);
                    // Who is about to tell may be interrupted: so that there is still something to tell then, the others
                    // wait in the middle of the loop.
                    while len >= 1000 && ran == len / 2 && told.lock().unwrap().is_empty() {
                        thread::yield_now();
                    }
                    ran
                });
                let told = told.into_inner().unwrap();
                assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
                assert_eq!(told.last(), Some(&len));
                assert!(len < 1000 || told.len() >= 2, "{len}: {told:?}");
            }
        }
    }
}

#[test]
fn a_loop_that_is_left_is_not_told_to_be_complete() {
    let pool = pool();
    let last = AtomicU64::new(0);
    let begin = || locsteal::range(0..1000).pool(&pool).progress(|done| last.store(done, SeqCst));
    assert_eq!(begin().find_first(|i| *i == 700), Some(700));
    assert!(last.load(SeqCst) < 1000);
    let caught = catch_unwind(AssertUnwindSafe(|| begin().for_each(|i| assert!(i != 700, "no"))));
    assert_eq!(message(caught), "no");
    assert!(last.load(SeqCst) < 1000);
    begin().for_each(drop);
    assert_eq!(last.into_inner(), 1000);
}

#[test]
fn only_iterations_that_have_run_are_told() {
    let pool = pool();
    for schedule in SCHEDULES {
        // Each is in the middle of what is told at once.
        for exit in [50, 70_050] {
            let ran = AtomicU64::new(0);
            let begun = locsteal::range(0..100_000_u64).pool(&pool).schedule(schedule);
            let begun = begun.progress(|done| assert!(done <= ran.load(SeqCst), "{schedule:?}"));
            let left = begun.find_first(|i| {
                ran.fetch_add(1, SeqCst);
                *i == exit
            });
            assert_eq!(left, Some(exit));
        }
    }
}

/// One participant is held inside the listener until the others have run everything that it does not hold itself.
#[test]
fn a_slow_listener_keeps_nobody_else_from_working() {
    struct Slow {
        ran: Mutex<u64>,
        all: Condvar,
        held: AtomicBool,
    }
    impl Progress for &Slow {
        fn progress(&self, _done: u64) {
            if !self.held.swap(true, SeqCst) {
                let ran = self.ran.lock().unwrap();
                drop(self.all.wait_while(ran, |ran| *ran < 2000).unwrap());
            }
        }
    }
    let pool = pool();
    let slow = Slow { ran: Mutex::new(0), all: Condvar::new(), held: AtomicBool::new(false) };
    locsteal::range(0..2000)
        .pool(&pool)
        .schedule(Schedule::DynamicChunk(1))
        .progress(&slow)
        .for_each(|_| {
            *slow.ran.lock().unwrap() += 1;
            slow.all.notify_all();
        });
    assert!(slow.held.into_inner());
}

#[test]
fn a_listener_that_panics_is_a_panic_of_the_loop() {
    let pool = pool();
    for panic_at in [1, 500, 1000] {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let begun = locsteal::range(0..1000)
                .pool(&pool)
                .progress(|done| assert!(done < panic_at, "listener"));
            begun.for_each(drop);
        }));
        assert_eq!(message(caught), "listener");
    }
}

#[test]
fn loops_in_loops_and_loops_in_listeners() {
    let pool = pool();
    let inner = |len: u64| {
        locsteal::range(0..len).pool(&pool).schedule(Schedule::DynamicChunk(1)).sum(|i| i)
    };
    let total = AtomicU64::new(0);
    locsteal::range(0..30)
        .pool(&pool)
        .schedule(Schedule::DynamicChunk(1))
        .progress(|_| {
            inner(5);
        })
        .for_each(|i| {
            let flat = [i; 4].par().pool(&pool).collect_vec(inner);
            total.fetch_add(flat.iter().sum(), SeqCst);
        });
    assert_eq!(total.into_inner(), (0..30).map(|i| 4 * (0..i).sum::<u64>()).sum());
}
