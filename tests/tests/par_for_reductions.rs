//! Reductions in marked loops: sums that are subtracted from, least and greatest values of values that are equal and yet
//! differ, loops in loops that reduce the same variable. Each comes to what the serial loop comes to.
#![forbid(unsafe_code)]
#![allow(
    clippy::assign_op_pattern,
    clippy::map_entry,
    reason = "the ways to accumulate are what is tested"
)]

use locsteal::{Pool, Reduce, Schedule, par_for};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::panic::catch_unwind;
use std::time::Duration;

const SCHEDULES: [Schedule; 6] = [
    Schedule::Static,
    Schedule::StaticChunk(3),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

fn pools() -> Vec<Pool> {
    [1, 2, 3, 4, 7].map(|threads| Pool::builder().threads(threads).build().unwrap()).into()
}

#[par_for]
fn count_down(n: usize, schedule: Schedule) -> usize {
    let mut left = n;
    #[par_for(reduce(+: left), schedule = (schedule))]
    for _ in 0..n {
        left -= 1;
    }
    left
}

#[par_for(reduce(+: *stock))]
fn trade(stock: &mut u32, amounts: &[i64]) {
    for i in 0..amounts.len() {
        if amounts[i] < 0 {
            *stock -= amounts[i].unsigned_abs() as u32;
        } else {
            *stock += &(amounts[i] as u32);
        }
    }
}

struct Account {
    balance: u64,
    fee: u64,
}

impl Account {
    #[par_for(reduce(+: self.balance))]
    fn pay(&mut self, n: u64) {
        for i in 0..n {
            self.balance = self.balance + i;
            self.balance = self.balance - self.fee;
        }
    }
}

#[par_for]
fn inferred(n: u64) -> (i32, u64, f32) {
    let (mut a, mut b, mut c) = (0, 0, 0.5);
    #[par_for(reduce(+: a), reduce(+: b), reduce(+: c))]
    for i in 0..n {
        a += 1;
        a -= 3;
        b += i;
        b -= i / 2;
        c -= i as f32;
        c += 2.0;
    }
    (a, b, c)
}

#[par_for]
fn elements(x: &[usize]) -> ([u8; 4], Vec<usize>) {
    let mut counts = [50; 4];
    let mut rest = vec![2000; 4];
    #[par_for(reduce(+: counts), reduce(+: rest))]
    for i in 0..x.len() {
        counts[x[i]] -= 1;
        rest[x[i]] -= i;
        rest[0] += 1;
    }
    (counts, rest)
}

#[par_for(reduce(+: left))]
fn time(n: u32, mut left: Duration) -> Duration {
    for i in 0..n {
        left -= Duration::from_millis(u64::from(i));
    }
    left
}

#[test]
fn unsigned_sums_are_subtracted_from() {
    for schedule in SCHEDULES {
        for n in [0, 1, 2, 1000] {
            assert_eq!(count_down(n, schedule), 0, "{schedule:?}");
        }
    }
    let mut stock = 5;
    trade(&mut stock, &[-5, 10, -10, 7, -3, -4, 100]);
    assert_eq!(stock, 100);
    let mut account = Account { balance: 2, fee: 3 };
    account.pay(100);
    assert_eq!(account.balance, 2 + 4950 - 300);
    assert_eq!(inferred(100), (-200, 4950 - 2450, 0.5 - 4950.0 + 200.0));
    let x: Vec<usize> = (0..100).map(|i| i % 4).collect();
    assert_eq!(
        elements(&x),
        ([25; 4], vec![2000 + 100 - 1200, 2000 - 1225, 2000 - 1250, 2000 - 1275])
    );
    assert_eq!(time(10, Duration::from_secs(1)), Duration::from_millis(955));
}

#[test]
fn taking_more_than_there_is_is_an_overflow_as_ever() {
    let took = catch_unwind(|| {
        let mut stock = 5;
        trade(&mut stock, &[-6, 7]);
        stock
    });
    assert_eq!(took.ok(), Some(6), "the total is in range");
    let took = catch_unwind(|| {
        let mut stock = 5;
        trade(&mut stock, &[-6]);
        stock
    });
    if cfg!(debug_assertions) {
        assert!(took.is_err());
    } else {
        assert_eq!(took.ok(), Some(u32::MAX));
    }
}

#[par_for]
fn up_and_down(n: usize, total: &mut i8) -> (i8, i16, [i8; 2]) {
    let mut declared: i8 = 5;
    let (mut told, mut counts) = (-1, vec![0i8; 2]);
    #[par_for(reduce(+: declared, +: told, +: counts, +: *total))]
    for i in 0..n {
        declared += 100;
        declared -= 100;
        told += 30_000_i16;
        told -= 30_000;
        counts[i % 2] += 100;
        counts[i % 2] = counts[i % 2] - 100;
        *total -= 50;
        *total += 50;
    }
    (declared, told, [counts[0], counts[1]])
}

#[test]
fn small_signed_sums_stay_in_range() {
    let mut total = -7;
    assert_eq!(up_and_down(200, &mut total), (5, -1, [0, 0]));
    assert_eq!(total, -7);
}

#[par_for]
fn in_both(n: usize, m: usize, start: usize) -> usize {
    let mut left = start;
    #[par_for(reduce(+: left))]
    for i in 0..n {
        left -= i;
        #[par_for(reduce(+: left))]
        for j in 0..m {
            left += j;
            left -= 1;
        }
        left += 1;
    }
    left
}

#[par_for]
fn in_the_inner_one(n: usize, m: usize) -> (usize, usize, BTreeSet<usize>) {
    let (mut sum, mut most, mut seen) = (0, 0, BTreeSet::new());
    #[par_for(reduce(+: sum), reduce(max: most), reduce(seen))]
    for i in 0..n {
        #[par_for(reduce(+: sum), reduce(max: most), reduce(seen))]
        for j in 0..m {
            sum += 1;
            most = most.max(i * j);
            seen.insert(i * j);
        }
    }
    (sum, most, seen)
}

#[test]
fn loops_in_loops_reduce_the_same_variable() {
    assert_eq!(in_both(10, 5, 100), 100 - 45 + 100 - 50 + 10);
    let (sum, most, seen) = in_the_inner_one(20, 7);
    assert_eq!((sum, most), (140, 19 * 6));
    let expected: BTreeSet<usize> = (0..20).flat_map(|i| (0..7).map(move |j| i * j)).collect();
    assert_eq!(seen, expected);
}

/// A key with something that is not compared.
#[derive(Clone, Copy, Debug)]
struct Record {
    key: u32,
    number: usize,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.key.partial_cmp(&other.key)
    }
}

#[par_for]
fn best(
    records: &[Record],
    start: Record,
    stop: usize,
    pool: &Pool,
    schedule: Schedule,
) -> (Record, Record, usize) {
    let (mut least, mut greatest, mut count) = (start, start, 0);
    #[par_for(reduce(min: least), reduce(max: greatest), reduce(+: count), pool = pool, schedule = (schedule))]
    for i in 0..records.len() {
        if i == stop {
            break;
        }
        let record = records[i];
        if record < least {
            least = record;
        }
        if greatest < record {
            greatest = record;
        }
        count += 1;
    }
    (least, greatest, count)
}

#[par_for]
fn least_of_all(records: &[Record], start: Record, pool: &Pool, schedule: Schedule) -> Record {
    let mut least = start;
    #[par_for(reduce(min: least), pool = pool, schedule = (schedule))]
    for record in records {
        if *record < least {
            least = *record;
        }
    }
    least
}

#[test]
fn the_first_of_equal_records_stays() {
    let pools = pools();
    for len in [1, 5, 300, 3000] {
        let records: Vec<Record> =
            (0..len).map(|i| Record { key: (i as u32 * 7919) % 5 + 1, number: i }).collect();
        for start in [0, 1, 3, 5, 9].map(|key| Record { key, number: usize::MAX }) {
            for stop in [len / 2, len] {
                let (mut least, mut greatest) = (start, start);
                for record in &records[..stop] {
                    if *record < least {
                        least = *record;
                    }
                    if greatest < *record {
                        greatest = *record;
                    }
                }
                for pool in &pools {
                    for schedule in SCHEDULES {
                        let got = best(&records, start, stop, pool, schedule);
                        assert_eq!(got.0.number, least.number, "{schedule:?}, {len}");
                        assert_eq!(got.1.number, greatest.number, "{schedule:?}, {len}");
                        assert_eq!(got.2, stop);
                        if stop == len {
                            let got = least_of_all(&records, start, pool, schedule);
                            assert_eq!(got.number, least.number, "{schedule:?}, {len}");
                        }
                    }
                }
            }
        }
    }
}

#[par_for]
fn compared(x: &[f64], start: f64, pool: &Pool, schedule: Schedule) -> [u64; 2] {
    let (mut lo, mut hi) = (start, start);
    #[par_for(reduce(min: lo, max: hi), pool = pool, schedule = (schedule))]
    for i in 0..x.len() {
        if x[i] < lo {
            lo = x[i];
        }
        if x[i] > hi {
            hi = x[i];
        }
    }
    [lo.to_bits(), hi.to_bits()]
}

#[par_for]
fn by_method(x: &[f64], start: f64, pool: &Pool, schedule: Schedule) -> [u64; 4] {
    let (mut a, mut b, mut c, mut d) = (start, start, start, [start; 2]);
    #[par_for(reduce(min: a, max: b, min: c, min: d), pool = pool, schedule = (schedule))]
    for i in 0..x.len() {
        a = a.min(x[i]);
        b = x[i].max(b);
        c = f64::min(c, x[i]);
        d[i % 2] = d[i % 2].min(x[i]);
    }
    [a, b, c, d[0]].map(f64::to_bits)
}

#[test]
fn zeros_and_nans_come_to_the_same_bits() {
    let pools = pools();
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let zeros: Vec<f64> = (0..700).map(|i| if i % 3 == 0 { 0.0 } else { -0.0 }).collect();
    let mixed: Vec<f64> =
        (0..700).map(|i| [nan, 0.0, -0.0, 1.0, nan, -1.0][(i * i + 1) % 6]).collect();
    for x in [&zeros[..], &mixed, &[-0.0, 0.0], &[nan; 100], &[]] {
        for start in [5.0, -5.0, 0.0, -0.0, nan, inf, -inf] {
            let (mut lo, mut hi) = (start, start);
            for x in x {
                if *x < lo {
                    lo = *x;
                }
                if *x > hi {
                    hi = *x;
                }
            }
            let mut by_method_once = None;
            for pool in &pools {
                for schedule in SCHEDULES {
                    let got = compared(x, start, pool, schedule);
                    assert_eq!(got, [lo.to_bits(), hi.to_bits()], "{schedule:?}, {start}");
                    let got = by_method(x, start, pool, schedule);
                    assert_eq!(*by_method_once.get_or_insert(got), got, "{schedule:?}, {start}");
                    let expected = x.iter().copied().fold(start, f64::min);
                    let least = f64::from_bits(got[0]);
                    assert!(least == expected || least.is_nan() && expected.is_nan());
                }
            }
        }
    }
}

#[par_for]
fn sums(x: &[f64], stop: usize, pool: &Pool, schedule: Schedule) -> [u64; 2] {
    let (mut sum, mut balance) = (0.1, 0.2);
    #[par_for(reduce(reproducible, +: sum, +: balance), pool = pool, schedule = (schedule))]
    for i in 0..x.len() {
        if i == stop {
            break;
        }
        sum += x[i];
        balance += x[i];
        balance -= x[i] / 3.0;
    }
    [sum.to_bits(), balance.to_bits()]
}

#[test]
fn reproducible_sums_are_the_same_bits_everywhere() {
    let widths: Vec<Pool> =
        (1..=16).map(|threads| Pool::builder().threads(threads).build().unwrap()).collect();
    let x: Vec<f64> =
        (0..70_000_u32).map(|i| f64::from(i * 7919 % 1013).sqrt() / 3.7e-3 - 2e3).collect();
    for len in [0, 1, 2, 63, 64, 65, 1023, 4097, 70_000] {
        for stop in [len, len / 3] {
            let mut bits = None;
            for pool in &widths {
                for schedule in SCHEDULES {
                    let got = sums(&x[..len], stop, pool, schedule);
                    assert_eq!(*bits.get_or_insert(got), got, "{len}, {stop}, {schedule:?}");
                }
            }
        }
    }
}

/// The record with the greatest key, the first of equals: what `reduce(best)` is for.
#[derive(Clone, Copy)]
struct Best(Option<(u64, usize)>);

impl Reduce for Best {
    fn identity() -> Self {
        Self(None)
    }

    fn combine(&mut self, other: Self) {
        if let Some((key, number)) = other.0 {
            self.see(key, number);
        }
    }
}

impl Best {
    fn see(&mut self, key: u64, number: usize) {
        if self.0.is_none_or(|(best, first)| key > best || key == best && number < first) {
            self.0 = Some((key, number));
        }
    }
}

#[par_for]
fn combined(x: &[u64]) -> (Best, HashMap<u64, locsteal::reduce::Sum<usize>>) {
    let mut best = Best::identity();
    let mut counts = HashMap::new();
    #[par_for(reduce(best), reduce(counts))]
    for i in 0..x.len() {
        if best.0.is_none_or(|(key, _)| x[i] >= key) {
            best.see(x[i], i);
        }
        *counts.entry(x[i]).or_insert(locsteal::reduce::Sum(0)) += 1;
        if !counts.contains_key(&0) {
            counts.insert(0, locsteal::reduce::Sum(0));
        }
    }
    (best, counts)
}

#[test]
fn types_of_ones_own_may_look_at_their_part_to_accumulate() {
    let x: Vec<u64> = (0..1000).map(|i| i * 31 % 7 + 1).collect();
    let (best, counts) = combined(&x);
    assert_eq!(best.0, Some((7, x.iter().position(|x| *x == 7).unwrap())));
    assert_eq!(counts.values().map(|count| count.0).sum::<usize>(), 1000);
    assert_eq!(counts.len(), 8);
}
