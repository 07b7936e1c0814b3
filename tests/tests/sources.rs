//! What can be looped over: each source and adaptor in whole loops, against the serial iterator.
//!
//! That chunks have the right items for every adaptor and every count is shown by the library's own tests, without threads.
//! Here participants take them.

use std::collections::VecDeque;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use locsteal::source::{ParallelSlice, ParallelSliceMut};
use locsteal::{IntoParallelSource, Length, Loop, Parallel, ParallelSource, Pool, Schedule};

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

/// Runs the loop under every schedule; each position has the item that the serial iterator has there.
fn same<'p, S>(pool: &'p Pool, expected: &[S::Item], make: impl Fn() -> Loop<'p, S>)
where
    S: ParallelSource<Item: PartialEq + std::fmt::Debug + Send> + Sync + 'p,
{
    for schedule in SCHEDULES {
        for grain in [0, 1, 4] {
            let begin = || make().pool(pool).schedule(schedule).grain(grain);
            assert_eq!(begin().collect_vec(|item| item), expected, "{schedule:?}, grain {grain}");
            let seen = Mutex::new(Vec::new());
            begin().for_each(|item| seen.lock().unwrap().push(item));
            let seen = seen.into_inner().unwrap();
            assert_eq!(seen.len(), expected.len());
            assert!(expected.iter().all(|item| seen.contains(item)));
        }
    }
}

macro_rules! same_items {
    ($pool:expr; $($serial:expr => $parallel:expr,)*) => {$(
        same(&$pool, &$serial.collect::<Vec<_>>(), || $parallel);
    )*};
}

#[test]
fn ranges() {
    let pool = pool();
    same_items! { pool;
        (0..100_usize) => locsteal::range(0..100),
        (-50..50_i64) => locsteal::range(-50..50),
        (i8::MIN..=i8::MAX) => locsteal::range(i8::MIN..=i8::MAX),
        (u64::MAX - 3..=u64::MAX) => locsteal::range(u64::MAX - 3..=u64::MAX),
        (usize::MAX - 3..usize::MAX) => locsteal::range(usize::MAX - 3..usize::MAX),
        (i64::MIN..i64::MIN + 3) => locsteal::range(i64::MIN..i64::MIN + 3),
        (u128::MAX - 40..=u128::MAX) => locsteal::range(u128::MAX - 40..=u128::MAX),
        (i128::MIN..i128::MIN + 40) => locsteal::range(i128::MIN..i128::MIN + 40),
        ('a'..='z') => locsteal::range('a'..='z'),
        (7..black_box(3)) => locsteal::range(7..black_box(3)),
        (0..0) => locsteal::range(0..0),
        (0..100).rev() => locsteal::range(0..100).rev(),
        (0..100).step_by(7) => locsteal::range(0..100).step_by(7),
        (0..=100).rev().step_by(100) => locsteal::range(0..=100).rev().step_by(100),
        (0..100_u8).skip(98) => locsteal::range(0..100).skip(98),
        (0..100_u8).skip(usize::MAX) => locsteal::range(0..100).skip(usize::MAX),
        (0..100_u8).take(1) => locsteal::range(0..100).take(1),
        (0..30).rev().skip(3).step_by(4).take(5).rev() =>
            locsteal::range(0..30).rev().skip(3).step_by(4).take(5).rev(),
    }
}

#[test]
fn slices_and_vectors() {
    let pool = pool();
    let words: Vec<String> = (0..50).map(|i| format!("word {i}")).collect();
    let deque: VecDeque<i32> = (0..20).collect();
    let array = [1.5, 2.5, 3.5];
    same_items! { pool;
        words.iter() => words.as_slice().par(),
        words.iter() => (&words).par(),
        words.iter() => words.iter().par(),
        words.iter().cloned() => (&words).par().cloned(),
        words.clone().into_iter() => words.clone().par(),
        words.clone().into_iter().rev().step_by(3) => words.clone().par().rev().step_by(3),
        words.clone().into_iter().skip(7) => words.clone().into_boxed_slice().par().skip(7),
        array.iter().copied().enumerate() => (&array).par().copied().enumerate(),
        array.into_iter() => array.par(),
        deque.iter() => (&deque).par(),
        deque.clone().into_iter() => deque.clone().par(),
        words.chunks(7) => words.par_chunks(7).par(),
        words.chunks_exact(7).rev() => words.par_chunks_exact(7).par().rev(),
        words.windows(7).step_by(2) => words.par_windows(7).par().step_by(2),
        words.iter().zip(0..1000) => (&words).par().zip(0..1000),
        words.iter().zip(&array).enumerate().rev() => (&words).par().zip(&array).enumerate().rev(),
        words.iter().enumerate().skip(3) => words.iter().enumerate().skip(3).par(),
        words.iter().rev() => locsteal::source(words.iter().rev()),
    }
}

#[test]
fn elements_are_changed_in_place() {
    let pool = pool();
    for schedule in SCHEDULES {
        let mut parallel: Vec<u64> = (0..1000).collect();
        let mut serial = parallel.clone();
        (&mut parallel).par().pool(&pool).schedule(schedule).for_each(|x| *x += 1);
        for x in &mut serial {
            *x += 1;
        }
        parallel
            .iter_mut()
            .par()
            .rev()
            .step_by(3)
            .enumerate()
            .schedule(schedule)
            .for_each(|(k, x)| *x *= k as u64);
        serial.iter_mut().rev().step_by(3).enumerate().for_each(|(k, x)| *x *= k as u64);
        parallel.par_chunks_mut(7).par().schedule(schedule).for_each(<[u64]>::reverse);
        serial.chunks_mut(7).for_each(<[u64]>::reverse);
        parallel
            .par_chunks_exact_mut(9)
            .par()
            .skip(2)
            .schedule(schedule)
            .for_each(|part| part.rotate_left(4));
        serial.chunks_exact_mut(9).skip(2).for_each(|part| part.rotate_left(4));
        let (left, right) = parallel.split_at_mut(500);
        left.par().zip(right).schedule(schedule).for_each(|(a, b)| std::mem::swap(a, b));
        serial.rotate_left(500);
        assert_eq!(parallel, serial, "{schedule:?}");
        let mut deque: VecDeque<u64> = serial.iter().copied().collect();
        deque.rotate_left(333);
        (&mut deque).par().for_each(|x| *x += 1);
        assert!(deque.iter().eq(
            serial[333..].iter().chain(&serial[..333]).map(|x| x + 1).collect::<Vec<_>>().iter()
        ));
    }
}

#[test]
fn nests_are_one_loop() {
    let pool = pool();
    let letters = ["a", "b", "c"];
    let expected: Vec<_> =
        (0..7).flat_map(|i| letters.iter().map(move |letter| (i, letter))).collect();
    same(&pool, &expected, || locsteal::range(0..7).nest(&letters));
    let expected: Vec<_> =
        expected.into_iter().flat_map(|at| (0..=2_u8).rev().map(move |k| (at, k))).collect();
    same(&pool, &expected, || locsteal::range(0..7).nest(&letters).nest((0..=2).rev()));
    same(&pool, &[], || locsteal::range(0..0).nest(0..5));
    same(&pool, &[], || locsteal::range(0..5).nest(0..0));
}

/// A value that counts how often it was dropped.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// However a loop over owned elements ends, each of them is dropped once.
#[test]
fn owned_elements_are_dropped_once() {
    let pool = pool();
    for len in [1, 10, 300] {
        for leave_at in [0, 1, 7, 150, 299, usize::MAX] {
            for schedule in SCHEDULES {
                for panics in [false, true] {
                    let drops: Vec<AtomicUsize> = (0..len).map(|_| AtomicUsize::new(0)).collect();
                    let owned: Vec<_> = drops.iter().map(Counted).collect();
                    let run = AtomicUsize::new(0);
                    let ended = catch_unwind(AssertUnwindSafe(|| {
                        owned.par().enumerate().pool(&pool).schedule(schedule).try_for_each(
                            |(i, element)| {
                                run.fetch_add(1, Relaxed);
                                if i == leave_at {
                                    if panics {
                                        resume_unwind(Box::new("left"));
                                    }
                                    return Err(i);
                                }
                                drop(element);
                                Ok(())
                            },
                        )
                    }));
                    match ended {
                        Ok(result) if leave_at < len => assert_eq!(result, Err(leave_at)),
                        Ok(result) => assert_eq!(result, Ok(())),
                        Err(_) => assert!(panics && leave_at < len),
                    }
                    for (i, drops) in drops.iter().enumerate() {
                        let drops = drops.load(Relaxed);
                        assert_eq!(
                            drops, 1,
                            "element {i} of {len}, {schedule:?}, left at {leave_at}"
                        );
                    }
                    assert!(run.into_inner() <= len);
                }
            }
        }
    }
}

#[test]
fn what_adaptors_leave_out_is_dropped_once() {
    let drops: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
    let owned = || drops.iter().map(Counted).collect::<Vec<_>>();
    let check = |what: &str| {
        for (i, drops) in drops.iter().enumerate() {
            assert_eq!(drops.swap(0, Relaxed), 1, "element {i}, {what}");
        }
    };
    owned().par().skip(10).take(20).for_each(drop);
    check("skip and take");
    owned().par().step_by(7).for_each(drop);
    check("step_by");
    owned().par().zip(0..3).rev().for_each(drop);
    check("zip");
    drop(owned().par());
    check("a loop that is not run");
}

#[test]
fn a_drop_that_panics_is_a_panic_of_the_loop() {
    struct Fragile<'a>(usize, &'a AtomicUsize);
    impl Drop for Fragile<'_> {
        fn drop(&mut self) {
            self.1.fetch_add(1, Relaxed);
            if self.0 == 30 && !std::thread::panicking() {
                resume_unwind(Box::new("dropped"));
            }
        }
    }
    let drops = AtomicUsize::new(0);
    let owned = || (0..100).map(|i| Fragile(i, &drops)).collect::<Vec<_>>();
    let caught = catch_unwind(AssertUnwindSafe(|| owned().par().for_each(drop)));
    assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "dropped");
    assert_eq!(drops.swap(0, Relaxed), 100);
    // Of two panics the body's is the one that counts: the other comes from dropping what it left.
    let caught = catch_unwind(AssertUnwindSafe(|| {
        owned().par().schedule(Schedule::Serial).for_each(|element| {
            std::mem::forget(element);
            resume_unwind(Box::new("body"));
        });
    }));
    assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "body");
    assert_eq!(drops.swap(0, Relaxed), 99);
}

#[test]
fn ranges_longer_than_any_memory() {
    let pool = pool();
    // Chunks are only counted, so these loops end.
    let positions = AtomicU64::new(0);
    let add = |chunk_len: u64| {
        positions.fetch_add(chunk_len, Relaxed);
    };
    locsteal::range(0..1_u64 << 33)
        .pool(&pool)
        .for_each_chunk(|chunk| add(chunk.end - chunk.start));
    assert_eq!(positions.swap(0, Relaxed), 1 << 33);
    locsteal::range(0..u64::MAX).pool(&pool).for_each_chunk(|chunk| add(chunk.end - chunk.start));
    assert_eq!(positions.swap(0, Relaxed), u64::MAX);
    // All values of `i64`: 2^64, which is 0 modulo 2^64.
    locsteal::range(i64::MIN..i64::MAX).pool(&pool).schedule(Schedule::Static).for_each_chunk(
        |chunk| {
            add(chunk.end.wrapping_sub(chunk.start) as u64);
        },
    );
    assert_eq!(positions.swap(0, Relaxed), u64::MAX);
}

#[test]
fn full_ranges_that_are_left_at_once() {
    assert_eq!(locsteal::range(0..=u64::MAX).find_first(|_| true), Some(0));
    assert_eq!(
        locsteal::range(i64::MIN..=i64::MAX).find_first(|i| *i > i64::MIN + 99),
        Some(i64::MIN + 100)
    );
    assert_eq!(
        locsteal::range(0..=usize::MAX).rev().find_first(|i| *i <= usize::MAX - 5),
        Some(usize::MAX - 5)
    );
    assert_eq!(locsteal::range(0..=u128::MAX).rev().find_first(|_| true), Some(u128::MAX));
    assert_eq!(
        locsteal::range(i128::MIN..=i128::MAX).step_by(usize::MAX).find_first(|i| *i > i128::MIN),
        Some(i128::MIN + usize::MAX as i128)
    );
    assert_eq!(
        locsteal::range(0..=u64::MAX).nest(0..=u64::MAX).find_first(|at| *at == (0, 3)),
        Some((0, 3))
    );
}

/// A source made outside of the library, as its documentation teaches.
#[test]
fn a_source_of_ones_own() {
    /// The cells of the diagonal of a square.
    struct Diagonal<'a> {
        cells: &'a [f64],
        side: usize,
    }

    // SAFETY:
    // 1. `side` does not change.
    // 2. Every `side + 1`-th cell from that of `first` on, as many as asked for.
    // 3. and 4. Items are shared references to `f64`.
    unsafe impl<'a> ParallelSource for Diagonal<'a> {
        type Item = &'a f64;
        type Chunk = std::iter::StepBy<std::slice::Iter<'a, f64>>;

        fn length(&self) -> Length {
            Length::from(self.side)
        }

        unsafe fn chunk(&self, first: u128, last: u128) -> Self::Chunk {
            let at = |position| position as usize * (self.side + 1);
            self.cells[at(first)..=at(last)].iter().step_by(self.side + 1)
        }
    }

    let side = 40;
    let cells: Vec<f64> = (0..side * side).map(|i| i as f64).collect();
    let trace = locsteal::source(Diagonal { cells: &cells, side }).sum(|cell| *cell as u64);
    assert_eq!(trace, (0..side).map(|i| cells[i * (side + 1)] as u64).sum::<u64>());
    let picked = Diagonal { cells: &cells, side }.into_parallel_source().skip(3).zip(0..2);
    assert_eq!(picked.par().collect_vec(|(cell, k)| (*cell, k)), [(123.0, 0), (164.0, 1)]);
}
