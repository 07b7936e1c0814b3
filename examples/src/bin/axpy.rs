//! `y += a * x` on vectors of several lengths: from one that fits a cache to one that only memory holds.

use std::process::ExitCode;

use clap::Parser;
use locsteal::par_for;
use locsteal_examples::{Mismatch, Times, noise, same_bits};

/// Adds a multiple of one vector to another, serially and in parallel, and checks that both give the same.
#[derive(Parser)]
#[command(name = "axpy")]
struct Options {
    /// Lengths of the vectors.
    #[arg(default_values_t = [10_000, 1_000_000, 10_000_000], value_parser = length)]
    lengths: Vec<usize>,

    /// How many times each length is run; the times shown are medians.
    #[arg(short, long, value_name = "N", default_value_t = 21)]
    repeat: u16,
}

fn length(text: &str) -> Result<usize, String> {
    let length = text.parse().map_err(|error| format!("{error}"))?;
    if (1..=1_000_000_000).contains(&length) {
        Ok(length)
    } else {
        Err("a length is from 1 to 1000000000".to_owned())
    }
}

fn serial(a: f64, x: &[f64], y: &mut [f64]) {
    for (x, y) in x.iter().zip(y) {
        *y += a * x;
    }
}

#[par_for]
fn parallel(a: f64, x: &[f64], y: &mut [f64]) {
    for i in 0..x.len() {
        y[i] += a * x[i];
    }
}

fn run(options: &Options) -> Result<(), Mismatch> {
    println!("{:>11} {}      GB/s", "length", Times::HEADS);
    for &length in &options.lengths {
        let x: Vec<f64> = (0..length).map(noise).collect();
        let (mut one, mut other) = (vec![1.0; length], vec![1.0; length]);
        let times = Times::measure(
            usize::from(options.repeat),
            || serial(0.5, &x, &mut one),
            || parallel(0.5, &x, &mut other),
        );
        same_bits("axpy", &one, &other, f64::to_bits)?;
        // Read x, read y, write y.
        let gigabytes = 3.0 * size_of_val(x.as_slice()) as f64 / 1e9;
        println!("{length:>11} {times} {:>9.1}", gigabytes / times.parallel.as_secs_f64());
    }
    println!("every parallel result is the serial one, bit for bit");
    Ok(())
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(mismatch) => {
            eprintln!("error: {mismatch}");
            ExitCode::FAILURE
        }
    }
}
