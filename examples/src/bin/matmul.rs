//! The product of two matrices: each iteration owns a row of the result.

use std::process::ExitCode;

use clap::Parser;
use locsteal::par_for;
use locsteal_examples::{Mismatch, Times, noise, same_bits};

/// Multiplies two square matrices, serially and in parallel, and checks that both give the same.
#[derive(Parser)]
#[command(name = "matmul")]
struct Options {
    /// Rows and columns of each matrix.
    #[arg(short, long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u16).range(1..=8192))]
    size: u16,

    /// How many times the product is computed; the times shown are medians.
    #[arg(short, long, value_name = "N", default_value_t = 5)]
    repeat: u16,
}

/// Computes a row of `a * b` from that row of `a`. The inner loop runs along rows, as the matrices lie in memory.
fn product_row(a_row: &[f64], b: &[f64], c_row: &mut [f64]) {
    c_row.fill(0.0);
    for (a, b_row) in a_row.iter().zip(b.chunks(c_row.len())) {
        for (c, b) in c_row.iter_mut().zip(b_row) {
            *c += a * b;
        }
    }
}

fn serial(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for (a_row, c_row) in a.chunks(n).zip(c.chunks_mut(n)) {
        product_row(a_row, b, c_row);
    }
}

#[par_for(own(c.chunks(n)))]
fn parallel(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for i in 0..n {
        product_row(&a[i * n..(i + 1) * n], b, &mut c[i * n..(i + 1) * n]);
    }
}

fn run(options: &Options) -> Result<(), Mismatch> {
    let n = usize::from(options.size);
    let matrix = |seed: usize| (0..n * n).map(|i| noise(seed + i) - 0.5).collect::<Vec<f64>>();
    let (a, b) = (matrix(0), matrix(n * n));
    let (mut one, mut other) = (vec![0.0; n * n], vec![0.0; n * n]);
    let times = Times::measure(
        usize::from(options.repeat),
        || serial(&a, &b, &mut one, n),
        || parallel(&a, &b, &mut other, n),
    );
    same_bits("matmul", &one, &other, f64::to_bits)?;
    // A multiplication and an addition for each element of `a` and each column of `b`.
    let billions = 2.0 * (n * n * n) as f64 / 1e9;
    println!("{n} x {n} times {n} x {n}");
    println!("{}    GFLOP/s", Times::HEADS);
    println!("{times} {:>10.2}", billions / times.parallel.as_secs_f64());
    println!("the parallel result is the serial one, bit for bit");
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
