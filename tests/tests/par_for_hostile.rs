//! Types and callbacks, all in safe code, that break what everyone expects of them. No loop hangs, runs an iteration twice, or
//! touches what it must not; what is right, and what panics, is said here.
#![forbid(unsafe_code)]

use locsteal::{ParallelArray, Pool, Reduce, Schedule, par_for};
use std::cell::{Cell, RefCell};
use std::num::Wrapping;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

fn panics(run: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

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

#[par_for]
fn huge_chunks(y: &mut [usize], n: usize, m: usize) {
    #[par_for(own(y.chunks(m)))]
    for i in 0..n {
        if i == 0 {
            y[0] += 1;
            assert_eq!(y.get(y.len()), None);
        } else {
            assert_eq!(y.get(usize::MAX), None);
        }
    }
}

#[par_for]
fn without_size(y: &mut [()], m: usize, n: usize) -> usize {
    let mut count = 0;
    #[par_for(own(y.chunks(m)), reduce(+: count))]
    for i in 0..n {
        y[i * m] = ();
        y[i * m + (m - 1)] = ();
        count += y[i * m..][..0].len() + 1;
    }
    count
}

#[test]
fn chunks_of_every_size() {
    for m in [5, usize::MAX, usize::MAX / 2, 1 << 62] {
        let mut y = vec![0; 5];
        huge_chunks(&mut y, 1000, m);
        assert_eq!(y, [1, 0, 0, 0, 0]);
    }
    assert!(panics(|| huge_chunks(&mut [0; 5], 3, 0)));
    assert!(panics(|| {
        without_size(&mut [(); usize::MAX], usize::MAX / 2, 2);
    }));
    assert!(panics(|| huge_chunks(&mut [], 3, 0)));
}

#[par_for]
fn everything(stop: usize, backwards: bool) -> (usize, usize) {
    let mut count = 0_usize;
    if backwards {
        #[par_for(reduce(+: count))]
        for i in (0..=usize::MAX).rev() {
            if i == usize::MAX - stop {
                return (i, 0);
            }
            count += 1;
        }
    } else {
        #[par_for(reduce(+: count))]
        for (k, i) in (i128::MIN..=i128::MAX).enumerate() {
            if k == stop {
                assert_eq!(i, i128::MIN + stop as i128);
                break;
            }
            count += 1;
        }
    }
    (stop, count)
}

#[test]
fn ranges_longer_than_any_count_can_be_left() {
    for stop in [0, 1, 77, 5000] {
        assert_eq!(everything(stop, false), (stop, stop));
        assert_eq!(everything(stop, true), (usize::MAX - stop, 0));
    }
}

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
fn told(n: usize, tell: impl Fn(u64) + Sync) -> usize {
    let mut count = 0_usize;
    #[par_for(reduce(+: count), progress = &tell)]
    for i in 0..n {
        count += i % 2;
    }
    count
}

#[test]
fn listeners_may_panic_and_launch_loops() {
    assert!(panics(|| {
        told(1_000_000, |_| panic!("told"));
    }));
    let inner = AtomicUsize::new(0);
    let count = told(1_000_000, |_| {
        inner.fetch_add(told(100, |_| {}), SeqCst);
    });
    assert_eq!(count, 500_000);
    assert!(inner.load(SeqCst) > 0 && inner.load(SeqCst).is_multiple_of(50));
}

/// Launches a loop when it is dropped.
struct Launches;

static LAUNCHED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Launches {
    fn drop(&mut self) {
        LAUNCHED.fetch_add(told(100, |_| {}), SeqCst);
    }
}

thread_local! {
    static LAST: RefCell<Option<Launches>> = const { RefCell::new(None) };
}

#[par_for]
fn leaves_in_threads(n: usize, pool: &Pool) {
    #[par_for(pool = pool, schedule = dynamic(1))]
    for _ in 0..n {
        LAST.with(|last| *last.borrow_mut() = Some(Launches));
    }
}

#[par_for]
fn drops_while_panicking(n: usize) {
    for i in 0..n {
        let _launches = Launches;
        assert!(i != 50);
    }
}

#[test]
fn destructors_launch_loops() {
    let pool = Pool::builder().threads(3).build().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| leaves_in_threads(100, &pool));
    });
    pool.shutdown();
    drop(pool);
    assert!(panics(|| drops_while_panicking(1000)));
    // Each that was dropped has run all of its loop.
    assert!(LAUNCHED.load(SeqCst) >= 50 && LAUNCHED.load(SeqCst).is_multiple_of(50));
}

#[par_for]
fn in_a_pool(y: &mut [usize], pool: &Pool) {
    #[par_for(pool = pool, schedule = steal)]
    for i in 0..y.len() {
        y[i] += i;
    }
}

#[test]
fn loops_run_after_the_end_of_their_pool() {
    let pool = Pool::builder().threads(4).build().unwrap();
    let mut y = vec![0; 1000];
    in_a_pool(&mut y, &pool);
    pool.shutdown();
    in_a_pool(&mut y, &pool);
    assert!(y.iter().enumerate().all(|(i, y)| *y == 2 * i));
}

#[par_for]
async fn awaits(y: &mut [usize], limit: usize) -> Result<usize, String> {
    std::future::ready(()).await;
    let mut sum = 0;
    #[par_for(reduce(+: sum))]
    for i in 0..y.len() {
        let waits = async { i.checked_sub(limit).map(|_| ()).ok_or(i) };
        if size_of_val(&waits) == usize::MAX || i == limit {
            return Err(format!("{i}"));
        }
        y[i] = 1;
        sum += 1;
    }
    std::future::ready(()).await;
    Ok(sum)
}

#[test]
fn loops_in_futures() {
    let mut y = [0; 100];
    let mut context = Context::from_waker(Waker::noop());
    for (limit, expected) in [(100, Ok(100)), (40, Err("40".to_owned()))] {
        let done = pin!(awaits(&mut y, limit)).as_mut().poll(&mut context);
        assert_eq!(done, Poll::Ready(expected));
    }
}

#[par_for]
fn far_ahead(x: &[usize], y: &mut [usize], far: bool) {
    for i in 0..y.len() {
        for j in 0..if far { 2 } else { 0 } {
            y[i] += x[j + 3_000_000_000];
            y[i] += x[j + 100_000 * 100_000];
        }
    }
}

#[test]
fn literals_of_an_index_are_as_large_as_indices() {
    let mut y = [0; 10];
    far_ahead(&[], &mut y, false);
    assert_eq!(y, [0; 10]);
    assert!(panics(|| far_ahead(&[1], &mut y, true)));
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

macro_rules! put {
    ($place:expr, $value:expr) => {
        $place = $value
    };
}

#[par_for(own(y))]
fn written_by_macros_alone(y: &mut [usize], by: usize) {
    for i in 0..by {
        put!(y[i], i * by);
    }
}

#[test]
fn a_macro_uses_what_it_is_given() {
    let mut y = [1; 20];
    written_by_macros_alone(&mut y, 20);
    assert!(y.iter().enumerate().all(|(i, y)| *y == 20 * i));
    assert!(panics(|| written_by_macros_alone(&mut y, 21)));
}

#[par_for]
fn beyond_the_window(c: &mut [usize], n: usize, m: usize) {
    #[par_for(own(c.chunks(m)))]
    for i in 0..n {
        #[par_for]
        for j in i * m..(i + 1) * m + 1 {
            c[j] += 1;
        }
    }
}

#[test]
fn an_inner_loop_past_its_window_is_told_so() {
    let message = |len: usize| {
        let run = || beyond_the_window(&mut vec![0; len], 1, 5);
        *catch_unwind(AssertUnwindSafe(run)).unwrap_err().downcast::<String>().unwrap()
    };
    let other = message(20);
    assert!(other.contains("`c[5]` belongs to another iteration of the loop around"), "{other}");
    let past = message(5);
    assert!(past.contains("the len of `c` is 5 but the index is 5"), "{past}");
}

#[par_for]
fn by_ranges_with_a_name(c: &mut [usize], m: usize) {
    let n = c.len() / m;
    #[par_for(own(c.chunks(m)))]
    for i in 0..n {
        let (mine, first) = (i * m..(i + 1) * m, i * m);
        c[mine.clone()].fill(i);
        c[first] += 10;
        let next = first..c.len().min(first + m + usize::from(i == 100));
        let (one, rest) = c[next].split_at_mut(1);
        one[0] += rest.len();
    }
}

#[test]
fn a_chunk_is_indexed_by_a_range_that_has_a_name() {
    let mut c = [0; 12];
    by_ranges_with_a_name(&mut c, 3);
    assert_eq!(c, [12, 0, 0, 13, 1, 1, 14, 2, 2, 15, 3, 3]);
    assert!(panics(|| by_ranges_with_a_name(&mut [0; 400], 3)));
}
