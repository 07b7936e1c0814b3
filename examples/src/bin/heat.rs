//! Heat that spreads through an insulated box: a stencil of seven points in three dimensions, one array read and one
//! written, swapped after each step.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use locsteal::par_for;
use locsteal_examples::{Times, same_bits};

/// Lets heat spread from one corner of an insulated box, serially and in parallel, and checks that both give the same
/// and that no heat is lost.
#[derive(Parser)]
#[command(name = "heat")]
struct Options {
    /// Cells along each edge of the box.
    #[arg(short, long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..=1000))]
    cells: u16,

    /// Time steps.
    #[arg(short, long, value_name = "N", default_value_t = 50)]
    steps: u16,
}

/// What flows to a neighbour in a step, as a share of the difference to it. At more than 1/6 steps overshoot.
const FLOW: f64 = 0.125;

/// Computes line `line` of the next step: the `n` cells that differ in x alone.
fn next_line(now: &[f64], next: &mut [f64], line: usize, n: usize) {
    let (y, z) = (line % n, line / n);
    let at = |y: usize, z: usize| &now[(z * n + y) * n..][..n];
    // Nothing flows through a wall: the cell behind it counts as warm as the one before it.
    let (before, after) = (|i: usize| i.saturating_sub(1), |i: usize| (i + 1).min(n - 1));
    let (here, next) = (at(y, z), &mut next[..n]);
    let (north, south) = (at(before(y), z), at(after(y), z));
    let (below, above) = (at(y, before(z)), at(y, after(z)));
    let warmed = |x: usize, west: f64, east: f64| {
        let around = west + east + north[x] + south[x] + below[x] + above[x];
        here[x] + FLOW * (around - 6.0 * here[x])
    };
    next[0] = warmed(0, here[0], here[after(0)]);
    for x in 1..n.saturating_sub(1) {
        next[x] = warmed(x, here[x - 1], here[x + 1]);
    }
    next[n - 1] = warmed(n - 1, here[before(n - 1)], here[n - 1]);
}

fn serial_step(now: &[f64], next: &mut [f64], n: usize) {
    for (line, next) in next.chunks_mut(n).enumerate() {
        next_line(now, next, line, n);
    }
}

#[par_for(schedule = static, own(next.chunks(n)))]
fn parallel_step(now: &[f64], next: &mut [f64], n: usize) {
    for line in 0..n * n {
        next_line(now, &mut next[line * n..(line + 1) * n], line, n);
    }
}

/// A box of `n * n * n` cells at 0 degrees, but for a corner of half the edge's length, which is at 100 degrees.
fn hot_corner(n: usize) -> Vec<f64> {
    let hot =
        |cell: usize| [cell % n, cell / n % n, cell / n / n].iter().all(|place| 2 * place < n);
    (0..n * n * n).map(|cell| if hot(cell) { 100.0 } else { 0.0 }).collect()
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let n = usize::from(options.cells);
    let start = hot_corner(n);
    let (mut one, mut other) = (start.clone(), start.clone());
    let (mut one_next, mut other_next) = (start.clone(), start.clone());
    let times = Times::measure(
        usize::from(options.steps),
        || {
            serial_step(&one, &mut one_next, n);
            std::mem::swap(&mut one, &mut one_next);
        },
        || {
            parallel_step(&other, &mut other_next, n);
            std::mem::swap(&mut other, &mut other_next);
        },
    );
    same_bits("heat", &one, &other, f64::to_bits)?;
    let (before, after) = (start.iter().sum::<f64>(), other.iter().sum::<f64>());
    if (after - before).abs() > 1e-9 * before {
        return Err(format!("heat is lost: {before} before, {after} after").into());
    }
    let coldest = other.iter().copied().fold(f64::INFINITY, f64::min);
    let hottest = other.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    println!("{n} x {n} x {n} cells, {} steps; time of a step:", options.steps);
    println!("{}", Times::HEADS);
    println!("{times}");
    println!(
        "from {coldest:.4} to {hottest:.4} degrees, {:.4} on average",
        after / start.len() as f64
    );
    println!("the parallel result is the serial one, bit for bit, and no heat is lost");
    Ok(())
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
