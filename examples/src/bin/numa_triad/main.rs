//! `a = b + s * c` on arrays larger than any cache: in which NUMA nodes their pages are, and what share of the loop's
//! accesses goes to the node of the thread that makes them.

mod pages;

use std::process::ExitCode;

use clap::Parser;
use locsteal::{Placement, Pool, Schedule, Stats, Timeline, par_for};
use locsteal_examples::{Mismatch, median, same_bits, time};

use pages::Pages;

/// Runs the triad of STREAM on arrays that one thread has made, and on arrays that were made by first touch, and tells
/// where their pages are and which share of accesses is local.
#[derive(Parser)]
#[command(name = "numa_triad")]
struct Options {
    /// Elements of each of the three arrays.
    #[arg(default_value_t = 4_000_000, value_parser = length)]
    length: usize,

    /// How many times each loop is run; the times shown are medians.
    #[arg(short, long, value_name = "N", default_value_t = 11)]
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

/// The three arrays of the triad.
struct Arrays {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

const SCALE: f64 = 3.0;

fn b(i: usize) -> f64 {
    i as f64
}

fn c(i: usize) -> f64 {
    1.0 / (1.0 + i as f64)
}

impl Arrays {
    /// Made by the calling thread.
    fn serial(length: usize) -> Self {
        let make = |f: fn(usize) -> f64| (0..length).map(f).collect();
        Self { a: make(|_| 0.0), b: make(b), c: make(c) }
    }

    /// Made by those who will work on them.
    fn first_touch(length: usize, pool: &Pool) -> Self {
        let make = locsteal::first_touch(length).pool(pool);
        Self { a: make.zeroed(), b: make.from_fn(b), c: make.from_fn(c) }
    }

    fn pages(&self) -> Result<[Pages; 3], String> {
        Ok([Pages::of(&self.a)?, Pages::of(&self.b)?, Pages::of(&self.c)?])
    }
}

#[par_for(pool = pool, schedule = (schedule), report = counted)]
fn triad(arrays: &mut Arrays, pool: &Pool, schedule: Schedule, counted: &mut Stats) {
    let Arrays { a, b, c } = arrays;
    for i in 0..b.len() {
        a[i] = b[i] + SCALE * c[i];
    }
}

/// The share of the accesses in these loops that went to memory in the node of the thread; `None`: it is not known in
/// which node threads were.
fn local(timeline: &Timeline, pages: &[Pages; 3], nodes: &[usize]) -> Option<f64> {
    let (mut here, mut all) = (0, 0);
    for chunk in timeline.chunks() {
        let node = nodes[timeline.rows()[chunk.row].node?];
        let elements = chunk.iterations.start as usize..chunk.iterations.end as usize;
        for (bytes, of) in
            pages.iter().flat_map(|pages| pages.parts(elements.clone(), size_of::<f64>()))
        {
            all += bytes;
            here += if of == Some(node) { bytes } else { 0 };
        }
    }
    Some(here as f64 / all as f64)
}

fn run(options: &Options) -> Result<(), Mismatch> {
    let pool = Pool::builder()
        .placement(Placement::Llc)
        .build()
        .expect("nothing was asked for that cannot be had");
    let plan = Pool::builder().placement(Placement::Llc).plan().expect("as above");
    let nodes: Vec<usize> = plan.topology().nodes().iter().map(locsteal::Node::id).collect();
    println!("threads: {}, NUMA nodes: {}\n{}", pool.threads(), nodes.len(), pool.locality());
    match nodes.len() {
        0 => println!("this system shows no nodes: it cannot be told where memory is"),
        1 => println!("this machine has one node: all memory is as near, however it was made"),
        _ => {}
    }
    let expected: Vec<f64> = (0..options.length).map(|i| b(i) + SCALE * c(i)).collect();
    for made in ["one thread", "first touch"] {
        let mut arrays = match made {
            "one thread" => Arrays::serial(options.length),
            _ => Arrays::first_touch(options.length, &pool),
        };
        println!("\narrays made by {made}");
        let pages = arrays.pages();
        match &pages {
            Ok(pages) => {
                for (name, pages) in ["a", "b", "c"].iter().zip(pages) {
                    let counts = pages.count().into_iter();
                    let counts: Vec<String> =
                        counts.map(|(node, count)| format!("{count} in node {node}")).collect();
                    println!("  pages of {name}: {}", counts.join(", "));
                }
            }
            Err(reason) => println!("  pages: {reason}"),
        }
        for schedule in [Schedule::Static, Schedule::Steal] {
            let (mut times, mut counted) = (Vec::new(), Stats::default());
            let recording = pool.record();
            for _ in 0..options.repeat.max(1) {
                let mut stats = Stats::default();
                times.push(time(&mut || triad(&mut arrays, &pool, schedule, &mut stats)));
                counted += stats;
            }
            let timeline = recording.finish();
            same_bits("triad", &expected, &arrays.a, f64::to_bits)?;
            let gigabytes = 3.0 * size_of_val(arrays.a.as_slice()) as f64 / 1e9;
            let middle = median(times);
            let local = match &pages {
                Ok(pages) if !nodes.is_empty() => match local(&timeline, pages, &nodes) {
                    Some(share) => format!("{:.1} % of accesses are local", 100.0 * share),
                    None => {
                        "threads may run in several nodes: which accesses are local is not known"
                            .into()
                    }
                },
                _ => "which accesses are local is not known".into(),
            };
            let name = if schedule == Schedule::Static { "static" } else { "steal" };
            let rate = gigabytes / middle.as_secs_f64();
            println!("  {name:>6}: {middle:>9.2?}, {rate:>5.1} GB/s, {local}");
            println!("          iterations moved: {} of {}", counted.moved, counted.iterations);
        }
    }
    println!("\nevery result is the serial one, bit for bit");
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
