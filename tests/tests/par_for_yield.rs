//! Loops that yield a value of each iteration, reductions in order, progress.
#![forbid(unsafe_code)]
#![deny(warnings)]

use locsteal::par_for;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

#[par_for]
fn squares(n: usize) -> Vec<usize> {
    #[par_for]
    let v: Vec<usize> = for i in 0..n {
        i * i
    };
    v
}

#[par_for(schedule = steal)]
fn single(words: &[&str]) -> Vec<String> {
    let upper = for word in words {
        let mut upper = word.to_uppercase();
        upper.push('!');
        upper
    };
    upper
}

#[par_for]
fn arrays(y: &mut [i32]) -> ([i32; 4], Box<[u8]>, i32) {
    let mut sum = 0;
    #[par_for(reduce(+: sum))]
    let a: [i32; 4] = for i in 0..4 {
        y[i] += 1;
        sum += y[i];
        y[i] * 2
    };
    #[par_for]
    let b: Box<[u8]> = for i in (0..5u8).rev() {
        i
    };
    (a, b, sum)
}

#[test]
fn vectors_arrays_and_boxes() {
    assert_eq!(squares(1000), (0..1000).map(|i| i * i).collect::<Vec<_>>());
    assert_eq!(squares(0), []);
    assert_eq!(single(&["a", "bc"]), ["A!", "BC!"]);
    let mut y = [1, 2, 3, 4];
    let (a, b, sum) = arrays(&mut y);
    assert_eq!((a, &*b, sum), ([4, 6, 8, 10], &[4u8, 3, 2, 1, 0][..], 14));
}

#[par_for]
fn parse(words: &[&str]) -> Result<Vec<i32>, std::num::ParseIntError> {
    let numbers: Vec<i32> = for k in 0..words.len() {
        words[k].parse::<i32>()?
    };
    Ok(numbers)
}

#[test]
fn the_lowest_error_comes_out() {
    assert_eq!(parse(&["1", "2", "3"]), Ok(vec![1, 2, 3]));
    let mut words = vec!["7"; 1000];
    words[400] = "x";
    words[900] = "";
    assert_eq!(parse(&words).unwrap_err().to_string(), "invalid digit found in string");
    words[300] = "";
    assert!(parse(&words).unwrap_err().to_string().contains("empty"));
}

static LIVE: AtomicI64 = AtomicI64::new(0);

struct Counted;

impl Counted {
    fn new() -> Self {
        LIVE.fetch_add(1, Relaxed);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Relaxed);
    }
}

#[par_for]
fn made(n: usize, bad: usize, panics: bool) -> Option<Vec<Counted>> {
    let v: Vec<Counted> = for i in 0..n {
        if i == bad {
            assert!(!panics, "iteration {i}");
            return None;
        }
        Counted::new()
    };
    Some(v)
}

#[test]
fn what_was_made_is_dropped_once() {
    assert!(made(1000, 500, false).is_none());
    assert_eq!(LIVE.load(Relaxed), 0);
    assert!(std::panic::catch_unwind(|| made(1000, 700, true)).is_err());
    assert_eq!(LIVE.load(Relaxed), 0);
    let v = made(1000, 1000, true);
    assert_eq!(LIVE.load(Relaxed), 1000);
    drop(v);
    assert_eq!(LIVE.load(Relaxed), 0);
}

#[par_for]
fn reproducible(x: &[f32], threads: usize, schedule: locsteal::Schedule) -> f32 {
    let mut sum = 0.0;
    #[par_for(reduce(reproducible, +: sum), threads = threads, schedule = (schedule))]
    for i in 0..x.len() {
        sum += x[i];
    }
    sum
}

#[test]
fn the_same_bits_for_all_widths_and_schedules() {
    use locsteal::Schedule::{Auto, Dynamic, Serial, Static, StaticChunk, Steal};
    let x: Vec<f32> = (0..10_007).map(|i| (i as f32).sin() * 1e3).collect();
    let first = reproducible(&x, 1, Serial).to_bits();
    for threads in 1..=8 {
        for schedule in [Auto, Dynamic, Serial, Static, StaticChunk(100), Steal] {
            assert_eq!(
                reproducible(&x, threads, schedule).to_bits(),
                first,
                "{threads} {schedule:?}"
            );
        }
    }
}

#[par_for]
fn until(x: &[i64], stop: usize) -> (i64, i64) {
    let (mut sum, mut most) = (100, i64::MIN);
    #[par_for(reduce(+: sum, max: most))]
    for i in 0..x.len() {
        sum += x[i];
        if i == stop {
            break;
        }
        if x[i] > most {
            most = x[i];
        }
    }
    (sum, most)
}

#[test]
fn what_was_accumulated_below_an_exit_counts() {
    let x: Vec<i64> = (0..5000).map(|i| i * 7 % 1009).collect();
    for stop in [0, 1, 17, 999, 2500, 4998, 4999, 5000] {
        let below = stop.min(x.len());
        let sum = 100 + x[..(stop + 1).min(x.len())].iter().sum::<i64>();
        let most = x[..below].iter().copied().max().unwrap_or(i64::MIN);
        assert_eq!(until(&x, stop), (sum, most), "{stop}");
    }
}

#[par_for]
fn shown(n: u64, shown: &AtomicU64) -> u64 {
    let calls = AtomicU64::new(0);
    #[par_for(progress = |done: u64| {
        calls.fetch_add(1, Relaxed);
        assert!(shown.swap(done, Relaxed) < done);
    })]
    for i in 0..n {
        std::hint::black_box(i);
    }
    calls.into_inner()
}

#[test]
fn progress_is_told_and_ends_at_the_total() {
    let last = AtomicU64::new(0);
    assert!(shown(100_000, &last) > 0);
    assert_eq!(last.into_inner(), 100_000);
}

#[par_for]
#[allow(clippy::ptr_arg, reason = "an owned `Vec` behind a reference is what is tested")]
fn counts(data: &[u8], hist: &mut [u32; 256], rows: &mut Vec<Vec<u32>>) {
    #[par_for(reduce(+: hist, +: rows))]
    for i in 0..data.len() {
        hist[data[i] as usize] += 1;
        rows[i % 3][usize::from(data[i] > 7)] += u32::from(data[i]);
    }
}

#[test]
fn elements_are_reduced() {
    let data: Vec<u8> = (0..10_000).map(|i| (i % 251) as u8).collect();
    let mut hist = [1; 256];
    let mut rows = vec![vec![0; 2]; 3];
    counts(&data, &mut hist, &mut rows);
    let mut expected = [1; 256];
    let mut expected_rows = vec![vec![0; 2]; 3];
    for (i, d) in data.iter().enumerate() {
        expected[*d as usize] += 1;
        expected_rows[i % 3][usize::from(*d > 7)] += u32::from(*d);
    }
    assert_eq!(hist, expected);
    assert_eq!(rows, expected_rows);
}

struct Stats {
    count: usize,
    found: bool,
}

#[par_for]
fn fields(stats: &mut Stats, flag: &mut bool, n: usize) {
    #[par_for(reduce(+: stats.count, ||: stats.found, ||: *flag))]
    for i in 0..n {
        stats.count += i;
        stats.found |= i == 77;
        if i == 33 {
            *flag = true;
        }
    }
}

#[test]
fn fields_and_references_are_reduced() {
    let mut stats = Stats { count: 5, found: false };
    let mut flag = false;
    fields(&mut stats, &mut flag, 50);
    assert_eq!((stats.count, stats.found, flag), (5 + 49 * 25, false, true));
    fields(&mut stats, &mut flag, 100);
    assert!(stats.found);
}
