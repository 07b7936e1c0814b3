//! Hundreds of shapes of loops, each marked and as it is, must come to the same: see `build.rs`.
#![forbid(unsafe_code)]
#![allow(unused, clippy::all, clippy::pedantic, reason = "generated")]

use locsteal::par_for;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a loop works on.
struct Input {
    x: Vec<i64>,
    z: Vec<i64>,
    y: Vec<i64>,
    c: Vec<i64>,
    sum: i64,
    most: i64,
    bits: u64,
    hist: [i64; 8],
}

impl Input {
    fn new(n: usize) -> Self {
        Self {
            x: (0..n as i64).map(|i| (i * 37 + 11) % 101).collect(),
            z: (0..n as i64 + 4).map(|i| i * i % 13).collect(),
            y: (0..n as i64 + 4).collect(),
            c: vec![-7; 3 * n + 1],
            sum: 1000,
            most: -5,
            bits: 0xF0F0,
            hist: [3; 8],
        }
    }
}

/// What it comes to.
#[derive(Clone, Debug, PartialEq)]
struct Out {
    left_with: i64,
    y: Vec<i64>,
    c: Vec<i64>,
    sum: i64,
    most: i64,
    bits: u64,
    hist: [i64; 8],
}

fn out(
    left_with: i64,
    y: &[i64],
    c: &[i64],
    sum: i64,
    most: i64,
    bits: u64,
    hist: &[i64; 8],
) -> Result<Out, i64> {
    Ok(Out { left_with, y: y.to_vec(), c: c.to_vec(), sum, most, bits, hist: *hist })
}

struct Shape {
    name: &'static str,
    marked: fn(usize, usize, i64) -> Result<Out, i64>,
    serial: fn(usize, usize, i64) -> Result<Out, i64>,
    /// Whether iterations may leave the loop: those above the exit may have run as well.
    leaves: bool,
}

include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

/// Runs one of the two, and gives what it panicked with as an error of its own kind.
fn run(
    f: fn(usize, usize, i64) -> Result<Out, i64>,
    n: usize,
    m: usize,
    stop: i64,
) -> Result<Result<Out, i64>, String> {
    catch_unwind(AssertUnwindSafe(|| f(n, m, stop))).map_err(|payload| {
        match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => payload.downcast_ref::<&str>().unwrap_or(&"?").to_string(),
        }
    })
}

#[test]
fn marked_loops_come_to_what_serial_loops_come_to() {
    std::panic::set_hook(Box::new(|_| {}));
    assert!(SHAPES.len() >= 500, "{} shapes", SHAPES.len());
    for Shape { name, marked, serial, leaves } in SHAPES {
        for (n, m) in [(0, 2), (1, 3), (2, 1), (7, 2), (50, 3), (97, 3)] {
            for stop in [-1, 0, 11, 48, 60] {
                let (got, expected) = (run(marked, n, m, stop), run(serial, n, m, stop));
                let context = || format!("{name}, n = {n}, m = {m}, stop = {stop}");
                match (got, expected) {
                    (Ok(Ok(got)), Ok(Ok(expected))) if leaves => {
                        // What is accumulated and carried out is that of the serial loop; arrays have been written below the exit.
                        let rest =
                            |out: &Out| (out.left_with, out.sum, out.most, out.bits, out.hist);
                        assert_eq!(rest(&got), rest(&expected), "{}", context());
                        let before = Input::new(n);
                        for (k, value) in
                            expected.y.iter().enumerate().filter(|(k, v)| **v != before.y[*k])
                        {
                            assert_eq!(got.y[k], *value, "{}, y[{k}]", context());
                        }
                        for (k, value) in expected.c.iter().enumerate().filter(|(_, v)| **v != -7) {
                            assert_eq!(got.c[k], *value, "{}, c[{k}]", context());
                        }
                    }
                    (got, expected) => assert_eq!(got, expected, "{}", context()),
                }
            }
        }
    }
}
