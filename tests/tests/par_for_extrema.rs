//! Least and greatest values with what goes along with them, `reduce(max: (best, at))`: each comes to what the serial loop
//! comes to, the same for every number of threads and every schedule.
#![forbid(unsafe_code)]
#![deny(warnings)]

use locsteal::{Pool, Schedule, par_for};

const SCHEDULES: [Schedule; 6] = [
    Schedule::Static,
    Schedule::StaticChunk(3),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

/// Runs `check` with pools and schedules of all kinds.
fn everywhere(mut check: impl FnMut(&Pool, Schedule)) {
    for threads in [1, 2, 3, 4, 7] {
        let pool = Pool::builder().threads(threads).build().expect("a pool");
        for schedule in SCHEDULES {
            check(&pool, schedule);
        }
    }
}

#[par_for]
fn extremes(
    x: &[f64],
    start: f64,
    stop: usize,
    pool: &Pool,
    schedule: Schedule,
) -> ((f64, usize), (f64, usize, usize), usize) {
    let ((mut least, mut where_least), mut count) = ((start, usize::MAX), 0);
    let (mut greatest, mut at, mut twice) = (start, usize::MAX, 0);
    #[par_for(reduce(min: (least, where_least), max: (greatest, at, twice), +: count), pool = pool, schedule = (schedule))]
    for i in 0..x.len() {
        if i == stop {
            break;
        }
        if x[i] < least {
            where_least = i;
            least = x[i];
        }
        if greatest < x[i] {
            (at, greatest, twice) = (i, x[i], 2 * i);
        }
        count += 1;
    }
    ((least, where_least), (greatest, at, twice), count)
}

#[test]
fn what_goes_along_is_that_of_the_first_of_equal_values() {
    let nan = f64::NAN;
    let falling: Vec<f64> = (0..500).map(|i| f64::from(500 - i / 7)).collect();
    let steps: Vec<f64> = (0..3000).map(|i| f64::from((i * 7919) % 5 + 1)).collect();
    let mixed: Vec<f64> =
        (0..700).map(|i| [nan, 0.0, -0.0, 1.0, nan, -1.0][(i * i + 1) % 6]).collect();
    everywhere(|pool, schedule| {
        for x in [&falling[..], &steps, &mixed, &[2.0], &[nan; 40], &[]] {
            for start in [f64::INFINITY, -1.0, 0.0, 3.0, f64::NEG_INFINITY, nan] {
                for stop in [x.len() / 2, x.len()] {
                    let (mut least, mut greatest) = ((start, usize::MAX), (start, usize::MAX, 0));
                    for (i, &x) in x[..stop].iter().enumerate() {
                        if x < least.0 {
                            least = (x, i);
                        }
                        if x > greatest.0 {
                            greatest = (x, i, 2 * i);
                        }
                    }
                    let got = extremes(x, start, stop, pool, schedule);
                    assert_eq!(got.0.0.to_bits(), least.0.to_bits(), "{schedule:?}, {start}");
                    assert_eq!(got.0.1, least.1, "{schedule:?}, {start}");
                    assert_eq!(got.1.0.to_bits(), greatest.0.to_bits(), "{schedule:?}, {start}");
                    assert_eq!((got.1.1, got.1.2), (greatest.1, greatest.2), "{schedule:?}");
                    assert_eq!(got.2, stop);
                }
            }
        }
    });
}

struct Race {
    fastest: u32,
    winner: String,
}

impl Race {
    #[par_for]
    fn run(&mut self, names: &[&str], last: &mut char, pool: &Pool, schedule: Schedule) {
        #[par_for(reduce(min: (self.fastest, self.winner, *last)), pool = pool, schedule = (schedule))]
        for (i, name) in names.iter().enumerate() {
            let time = 100 - (i as u32 + 1) % 4 * 10;
            if time < self.fastest {
                self.fastest = time;
                self.winner = (*name).to_owned();
                *last = name.chars().last().unwrap_or(' ');
            }
        }
    }
}

#[test]
fn fields_and_references_go_along() {
    everywhere(|pool, schedule| {
        let mut race = Race { fastest: u32::MAX, winner: String::new() };
        let mut last = '-';
        race.run(&[], &mut last, pool, schedule);
        assert_eq!((race.fastest, race.winner.as_str(), last), (u32::MAX, "", '-'));
        race.run(&["ann", "bob", "cy", "dora", "ed", "flo", "gus"], &mut last, pool, schedule);
        assert_eq!((race.fastest, race.winner.as_str(), last), (70, "cy", 'y'));
        race.run(&["late", "late", "late"], &mut last, pool, schedule);
        assert_eq!((race.fastest, race.winner.as_str(), last), (70, "cy", 'y'), "no better");
    });
}

/// The largest element of a matrix, and where it stands: a loop in a loop.
#[par_for]
fn peak(a: &[i32], width: usize, pool: &Pool) -> (i32, (usize, usize)) {
    let (mut peak, mut place) = (a[0], (0, 0));
    #[par_for(reduce(max: (peak, place)), pool = pool)]
    for i in 0..a.len() / width {
        #[par_for(reduce(max: (peak, place)), pool = pool)]
        for j in 0..width {
            let value = a[i * width + j];
            if value > peak {
                peak = value;
                place = (i, j);
            }
        }
    }
    (peak, place)
}

/// The same as one loop.
#[par_for(collapse = 2, reduce(max: (peak, place)), pool = pool)]
fn joined_peak(a: &[i32], width: usize, peak: &mut i32, place: &mut (usize, usize), pool: &Pool) {
    for i in 0..a.len() / width {
        for j in 0..width {
            if a[i * width + j] > *peak {
                *peak = a[i * width + j];
                *place = (i, j);
            }
        }
    }
}

#[test]
fn nests_find_the_first_of_equal_values() {
    let a: Vec<i32> = (0..60 * 11).map(|k| (k * 7919) % 101).collect();
    let first = a.iter().position(|&value| value == 100).expect("the greatest");
    everywhere(|pool, _| {
        assert_eq!(peak(&a, 11, pool), (100, (first / 11, first % 11)));
        let (mut value, mut place) = (a[0], (0, 0));
        joined_peak(&a, 11, &mut value, &mut place, pool);
        assert_eq!((value, place), (100, (first / 11, first % 11)));
    });
}
