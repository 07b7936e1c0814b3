//! A loop whose iterations get cheaper and cheaper: the correlation of a signal with itself at every lag. Half of the
//! iterations hold three quarters of the work, so blocks of equal length are not blocks of equal work.

use std::process::ExitCode;

use clap::Parser;
use locsteal::{Schedule, par_for};
use locsteal_examples::{Mismatch, Times, noise, same_bits, schedule_name};

/// Finds the period that is hidden in a noisy signal, serially and in parallel under each schedule, and checks that all
/// give the same.
#[derive(Parser)]
#[command(name = "triangular")]
struct Options {
    /// Samples of the signal.
    #[arg(short, long, value_name = "N", default_value_t = 8000, value_parser = clap::value_parser!(u32).range(1000..=10_000_000))]
    samples: u32,

    /// How many times each loop runs; the times shown are medians.
    #[arg(short, long, value_name = "N", default_value_t = 9)]
    repeat: u16,
}

/// The period that the signal has, in samples.
const PERIOD: usize = 97;

/// A wave with noise of the same size.
fn signal(samples: usize) -> Vec<f64> {
    let wave = |i: usize| (i as f64 * std::f64::consts::TAU / PERIOD as f64).sin();
    (0..samples).map(|i| wave(i) + 4.0 * (noise(i) - 0.5)).collect()
}

/// The mean product of samples that are `lag` apart.
fn correlation(signal: &[f64], lag: usize) -> f64 {
    let products = signal.iter().zip(&signal[lag..]).map(|(early, late)| early * late);
    products.sum::<f64>() / (signal.len() - lag) as f64
}

fn serial(signal: &[f64], out: &mut [f64]) {
    for (lag, out) in out.iter_mut().enumerate() {
        *out = correlation(signal, lag);
    }
}

#[par_for(schedule = (schedule))]
fn parallel(signal: &[f64], out: &mut [f64], schedule: Schedule) {
    for lag in 0..signal.len() {
        out[lag] = correlation(signal, lag);
    }
}

fn run(options: &Options) -> Result<(), Mismatch> {
    let signal = signal(options.samples as usize);
    let (mut one, mut other) = (vec![0.0; signal.len()], vec![0.0; signal.len()]);
    println!("{} samples, as many lags", signal.len());
    println!("{:12} {}", "schedule", Times::HEADS);
    for schedule in [
        Schedule::Auto,
        Schedule::Static,
        Schedule::StaticChunk(16),
        Schedule::Steal,
        Schedule::Dynamic,
        Schedule::DynamicChunk(16),
    ] {
        other.fill(f64::NAN);
        let times = Times::measure(
            usize::from(options.repeat),
            || serial(&signal, &mut one),
            || parallel(&signal, &mut other, schedule),
        );
        same_bits("triangular", &one, &other, f64::to_bits)?;
        println!("{:12} {times}", schedule_name(schedule));
    }
    // Shorter lags are like lag 0, and longer ones like this one.
    let lags = PERIOD / 2..2 * PERIOD - PERIOD / 2;
    let best = lags.max_by(|a, b| other[*a].total_cmp(&other[*b])).unwrap_or_default();
    println!("the signal is most like itself after {best} samples; its period is {PERIOD}");
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
