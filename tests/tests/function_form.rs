//! Loops without macros: options, early ends, collected values, owned parts, progress.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, Condvar, Mutex};
use std::thread;

use locsteal::source::ParallelSlice;
use locsteal::{Locality, Parallel, Pool, Progress, Schedule};

const SCHEDULES: [Schedule; 6] = [
    Schedule::Static,
    Schedule::StaticChunk(3),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

fn pool() -> Pool {
    Pool::builder().threads(3).build().unwrap()
}

/// A value that counts how many of its kind are alive.
#[derive(Debug)]
struct Value<'a>(usize, &'a AtomicUsize);

impl<'a> Value<'a> {
    fn new(value: usize, alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, SeqCst);
        Value(value, alive)
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        self.1.fetch_sub(1, SeqCst);
    }
}

fn message(caught: thread::Result<impl Sized>) -> String {
    let payload = caught.err().expect("a panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
    }
}

#[test]
fn options_can_be_given_in_any_order_and_do_not_change_the_result() {
    let pool = pool();
    let done = AtomicU64::new(0);
    let sum = locsteal::range(0..1000)
        .name("sum")
        .threads(2)
        .progress(|n| done.store(n, SeqCst))
        .grain(10)
        .rev()
        .pool(&pool)
        .locality(Locality::Flat)
        .enumerate()
        .schedule(Schedule::Steal)
        .reproducible()
        .sum(|(position, i)| position * i);
    assert_eq!(sum, (0..1000).rev().enumerate().map(|(position, i)| position * i).sum());
    assert_eq!(done.into_inner(), 1000);
}

#[test]
fn no_more_threads_than_allowed_work_on_a_loop() {
    let pool = pool();
    for schedule in SCHEDULES {
        for threads in [1, 2] {
            let seen = Mutex::new(HashSet::new());
            let begun = locsteal::range(0..500).pool(&pool).schedule(schedule).threads(threads);
            begun.for_each(|_| {
                seen.lock().unwrap().insert(thread::current().id());
            });
            assert!(seen.into_inner().unwrap().len() <= threads);
        }
    }
}

#[test]
fn states_are_made_at_most_once_for_each_participant_and_dropped() {
    let pool = pool();
    for schedule in SCHEDULES {
        for len in [0, 1, 4, 1000] {
            let (made, alive, runs) =
                (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            locsteal::range(0..len).pool(&pool).schedule(schedule).for_each_local(
                || Value::new(made.fetch_add(1, SeqCst), &alive),
                |state, _| {
                    state.0 += 1;
                    runs.fetch_add(1, SeqCst);
                },
            );
            assert_eq!(runs.into_inner(), len);
            assert!(made.into_inner() <= len.min(3));
            assert_eq!(alive.into_inner(), 0);
        }
        let alive = AtomicUsize::new(0);
        for bad_init in [false, true] {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                locsteal::range(0..100).pool(&pool).schedule(schedule).for_each_local(
                    || {
                        assert!(!bad_init, "init");
                        Value::new(0, &alive)
                    },
                    |_, i| assert!(i != 50, "body"),
                );
            }));
            assert_eq!(message(caught), if bad_init { "init" } else { "body" });
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

#[test]
fn chunks_cover_the_loop() {
    let pool = pool();
    let x: Vec<usize> = (0..1000).collect();
    for schedule in SCHEDULES {
        let parts = Mutex::new(Vec::new());
        locsteal::range(10..=1000_u32).pool(&pool).schedule(schedule).for_each_chunk(|chunk| {
            parts.lock().unwrap().extend(chunk);
        });
        let mut parts = parts.into_inner().unwrap();
        parts.sort_unstable();
        assert!(parts.into_iter().eq(10..=1000));
        let mut y = vec![0; 1000];
        locsteal::source(&mut y).zip(&x).pool(&pool).schedule(schedule).for_each_chunk(|chunk| {
            for (y, x) in chunk {
                *y = *x;
            }
        });
        assert_eq!(y, x);
    }
}

#[test]
fn the_lowest_exit_wins_and_everything_below_has_run() {
    let pool = pool();
    for schedule in SCHEDULES {
        for len in [1_usize, 7, 1000] {
            for exits in [vec![0], vec![6, 3], vec![999, 500, 501], vec![len], (0..len).collect()] {
                let ran: Vec<AtomicUsize> = (0..len).map(|_| AtomicUsize::new(0)).collect();
                let begin = || locsteal::range(0..len).pool(&pool).schedule(schedule);
                let result = begin().try_for_each(|i| {
                    ran[i].fetch_add(1, SeqCst);
                    if exits.contains(&i) { Err(format!("left at {i}")) } else { Ok(()) }
                });
                let lowest = exits.iter().copied().filter(|exit| *exit < len).min();
                assert_eq!(result, lowest.map_or(Ok(()), |exit| Err(format!("left at {exit}"))));
                for (i, ran) in ran.iter().enumerate() {
                    let ran = ran.load(SeqCst);
                    assert!(
                        ran == 1 || (ran == 0 && lowest.is_some_and(|exit| i > exit)),
                        "{i}: {ran}"
                    );
                }
                let flow = begin().try_for_each(|i| {
                    if exits.contains(&i) {
                        ControlFlow::Break(i)
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                assert_eq!(flow, lowest.map_or(ControlFlow::Continue(()), ControlFlow::Break));
                let option = begin().try_for_each(|i| (!exits.contains(&i)).then_some(()));
                assert_eq!(option.is_none(), lowest.is_some());
                assert_eq!(begin().find_first(|i| exits.contains(i)), lowest);
                let mapped = begin().find_map_first(|i| exits.contains(&i).then(|| Box::new(i)));
                assert_eq!(mapped.map(|i| *i), lowest);
                assert_eq!(begin().any(|i| exits.contains(&i)), lowest.is_some());
                assert_eq!(begin().all(|i| !exits.contains(&i)), lowest.is_none());
            }
        }
    }
    assert!(!locsteal::range(0..0).any(|_| true));
    assert!(locsteal::range(0..0).all(|_| false));
}

#[test]
fn a_participant_notices_in_the_middle_of_its_chunk_that_the_loop_was_left() {
    let pool = pool();
    // No block can be run to its end in the time that a thread may have to wait for a CPU.
    let len = 3_000_000_000;
    let (met, started) = (Barrier::new(2), AtomicUsize::new(0));
    let begun = locsteal::range(0..len).pool(&pool).schedule(Schedule::Static);
    let left = begun.try_for_each(|i| {
        started.fetch_add(1, SeqCst);
        if i == 0 || i == len / 3 {
            // Two blocks have begun, each of which is one chunk.
            met.wait();
        }
        thread::yield_now();
        if i == 0 { Err("left") } else { Ok(()) }
    });
    assert_eq!(left, Err("left"));
    assert!(started.into_inner() < len / 3, "a whole block was run");
}

#[test]
fn a_panic_above_an_exit_does_not_count() {
    let pool = pool();
    for schedule in SCHEDULES {
        let result = catch_unwind(AssertUnwindSafe(|| {
            locsteal::range(0..300).pool(&pool).schedule(schedule).try_for_each(|i| match i {
                100 => Err("left"),
                // Only once the loop has been left for certain, so that this is not luck: iteration 100 has run by then.
                200.. => resume_unwind(Box::new(())),
                _ => Ok(()),
            })
        }));
        // Where 200 runs before 100, the panic stops the loop, and 100 may never run.
        if let Ok(result) = result {
            assert_eq!(result, Err("left"));
        }
    }
    let result = locsteal::range(0..300).schedule(Schedule::Serial).try_for_each(|i| match i {
        100 => Err("left"),
        101.. => resume_unwind(Box::new(())),
        _ => Ok(()),
    });
    assert_eq!(result, Err("left"));
}

#[test]
fn what_leaves_the_loop_is_dropped_or_returned_once() {
    let pool = pool();
    let alive = AtomicUsize::new(0);
    for schedule in SCHEDULES {
        let result = locsteal::range(0..200)
            .pool(&pool)
            .schedule(schedule)
            .try_for_each(|i| if i % 10 == 9 { Err(Value::new(i, &alive)) } else { Ok(()) });
        assert_eq!(alive.load(SeqCst), 1);
        assert_eq!(result.unwrap_err().0, 9);
        assert_eq!(alive.load(SeqCst), 0);
    }
}

#[test]
fn collected_values_stand_in_order() {
    let pool = pool();
    for schedule in SCHEDULES {
        for len in [0, 1, 2, 63, 64, 65, 1000] {
            let begin = || locsteal::range(0..len).pool(&pool).schedule(schedule);
            assert!(
                begin()
                    .collect_vec(|i| i.to_string())
                    .into_iter()
                    .eq((0..len).map(|i| i.to_string()))
            );
            let mut again = vec![7; 300];
            let memory = (again.as_ptr(), again.capacity());
            begin().collect_into(&mut again, |i| i * i);
            assert!(again.iter().copied().eq((0..len).map(|i| i * i)));
            if len <= memory.1 {
                assert_eq!((again.as_ptr(), again.capacity()), memory);
            }
            let all: Result<Vec<_>, ()> = begin().try_collect_vec(Ok);
            assert!(all.unwrap().into_iter().eq(0..len));
        }
    }
    assert_eq!(locsteal::range(0..100).collect_vec(drop).len(), 100);
}

#[test]
fn values_that_were_collected_in_vain_are_dropped_once() {
    let pool = pool();
    let alive = AtomicUsize::new(0);
    for schedule in SCHEDULES {
        for bad in [0, 1, 150, 299] {
            let begin = || locsteal::range(0..300).pool(&pool).schedule(schedule);
            let result = begin()
                .try_collect_vec(|i| if i < bad { Ok(Value::new(i, &alive)) } else { Err(i) });
            assert_eq!(result.unwrap_err(), bad);
            assert_eq!(alive.load(SeqCst), 0);
            let option = begin().try_collect_vec(|i| (i != bad).then(|| Value::new(i, &alive)));
            assert!(option.is_none());
            assert_eq!(alive.load(SeqCst), 0);
            let mut values = vec![Value::new(9, &alive)];
            let caught = catch_unwind(AssertUnwindSafe(|| {
                begin().collect_into(&mut values, |i| {
                    if i == bad {
                        resume_unwind(Box::new("made no value"));
                    }
                    Value::new(i, &alive)
                });
            }));
            assert_eq!(message(caught), "made no value");
            assert!(values.is_empty());
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

#[test]
fn more_values_than_fit_into_a_vector_are_refused_before_the_loop() {
    let caught = catch_unwind(|| locsteal::range(0..=u64::MAX).name("huge").collect_vec(|i| i));
    let text = message(caught);
    assert!(
        text.contains("`huge`") && text.contains("18446744073709551616 values do not fit"),
        "{text}"
    );
}

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
    assert!(text.contains("`assemble` at tests/tests/function_form.rs:"), "{text}");
    assert!(text.contains("index 10 is out of bounds, the array has 10 parts"), "{text}");
    assert!(refused(-1..3, 0).contains("index -1 is out of bounds"));
    assert!(refused(0..4, 3).contains("index 3 is out of bounds, the array has 3 parts"));
    assert_eq!(y, [0; 10]);
    assert!(
        message(catch_unwind(|| locsteal::range(0..3).step_by(0)))
            .contains("the step must not be 0")
    );
}

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

#[test]
fn words_are_counted_without_a_macro() {
    let text = "the near and the far and the nearer";
    let words: Vec<&str> = text.split(' ').collect();
    let lengths = words
        .par_chunks(2)
        .par()
        .collect_vec(|pair| pair.iter().map(|word| word.len()).sum::<usize>());
    assert_eq!(lengths, [7, 6, 6, 9]);
    let longest = words.par().max(str::len);
    assert_eq!(longest, Some(6));
}
