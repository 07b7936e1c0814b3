//! Draws a fractal under several schedules, and writes down who drew which rows when: as a picture, and for the trace
//! viewers of browsers.
//!
//! The rows of a Mandelbrot set take very different times, so the pictures show what balancing does:
//! `cargo run --release -p locsteal-examples --bin timeline -- --svg timeline.svg --trace timeline.json`

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use locsteal::{Placement, Pool, Schedule, Stats, Topology};

#[derive(Parser)]
#[command(about = "Shows who runs which iterations when, under several schedules")]
struct Options {
    /// Where to write the picture
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Where to write the trace, for <chrome://tracing> or <https://ui.perfetto.dev>
    #[arg(long)]
    trace: Option<PathBuf>,
    /// Threads; by default as many as the machine allows
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// A made-up machine to lay the threads out on: nodes x caches in a node x cores in a cache, e.g. 2x2x2
    #[arg(long, value_parser = machine)]
    machine: Option<Topology>,
    /// Rows and columns of the image
    #[arg(long, default_value = "400")]
    size: NonZeroUsize,
}

fn machine(text: &str) -> Result<Topology, String> {
    let counts: Vec<usize> = text.split('x').filter_map(|count| count.parse().ok()).collect();
    match counts[..] {
        [nodes, caches, cores] if (1..=1024).contains(&(nodes * caches * cores)) => {
            Ok(Topology::regular(nodes, caches, cores))
        }
        _ => Err("write it like 2x2x2: nodes x caches in a node x cores in a cache".into()),
    }
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    let mut pool = Pool::builder().threads(options.threads);
    if let Some(machine) = options.machine {
        if options.threads == 0 {
            pool = pool.threads(machine.cpus().len());
        }
        pool = pool.topology(machine).placement(Placement::Llc);
    }
    let pool = pool.build()?;
    let size = options.size.get();
    let schedules =
        [("static", Schedule::Static), ("steal", Schedule::Steal), ("dynamic", Schedule::Dynamic)];
    // The first loop wakes the workers.
    draw(&pool, "warm up", Schedule::Static, size.min(50));

    let recording = pool.record();
    for (name, schedule) in schedules {
        let (inside, stats) = draw(&pool, name, schedule, size);
        println!("{name}: {inside} points inside; moved: {}", stats.moved);
    }
    let timeline = recording.finish();

    println!("{timeline}");
    for (path, text) in [(options.svg, timeline.to_svg()), (options.trace, timeline.to_trace())] {
        if let Some(path) = path {
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            println!("written: {}", path.display());
        }
    }
    Ok(())
}

/// How many points of the image lie inside the set, and what the loop over its rows counted.
fn draw(pool: &Pool, name: &str, schedule: Schedule, size: usize) -> (usize, Stats) {
    let mut stats = Stats::default();
    let inside = locsteal::range(0..size)
        .pool(pool)
        .schedule(schedule)
        .name(name)
        .report(&mut stats)
        .sum(|row| (0..size).filter(|&column| is_inside(row, column, size)).count());
    (inside, stats)
}

/// Whether a point stays near 0 for 1,000 rounds.
fn is_inside(row: usize, column: usize, size: usize) -> bool {
    let (x0, y0) = (scaled(column, size, -2.0, 0.6), scaled(row, size, -1.3, 1.3));
    let (mut x, mut y) = (0.0, 0.0);
    for _ in 0..1000 {
        if x * x + y * y > 4.0 {
            return false;
        }
        (x, y) = (x * x - y * y + x0, 2.0 * x * y + y0);
    }
    true
}

fn scaled(index: usize, size: usize, from: f64, to: f64) -> f64 {
    from + (to - from) * (index as f64 + 0.5) / size as f64
}
