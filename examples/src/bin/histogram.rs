//! How often each byte occurs in a file: a reduction with a type of one's own.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use locsteal::{Reduce, par_for};
use locsteal_examples::{Times, same_bits};

/// Counts the bytes of a file, serially and in parallel, and checks that both give the same.
#[derive(Parser)]
#[command(name = "histogram")]
struct Options {
    /// The file whose bytes are counted.
    #[arg(default_value = "examples/data/jacksboro.asc")]
    input: PathBuf,

    /// How many times the bytes are counted; the times shown are medians.
    #[arg(short, long, value_name = "N", default_value_t = 21)]
    repeat: u16,
}

/// How often each byte has occurred.
#[derive(Clone)]
struct Histogram([u64; 256]);

impl Histogram {
    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte)] += 1;
    }

    /// The bits that a byte needs on average in the best code that looks at no other byte: the entropy.
    fn entropy(&self) -> f64 {
        let total = self.0.iter().sum::<u64>() as f64;
        let used = self.0.iter().filter(|count| **count > 0);
        used.map(|count| *count as f64 / total).fold(0.0, |bits, share| bits - share * share.log2())
    }
}

impl Reduce for Histogram {
    fn identity() -> Self {
        Self([0; 256])
    }

    fn combine(&mut self, other: Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

fn serial(bytes: &[u8]) -> Histogram {
    let mut counts = Histogram::identity();
    for byte in bytes {
        counts.add(*byte);
    }
    counts
}

#[par_for(reduce(counts))]
fn parallel(bytes: &[u8]) -> Histogram {
    let mut counts = Histogram::identity();
    for i in 0..bytes.len() {
        counts.add(bytes[i]);
    }
    counts
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let input = options.input.display();
    let bytes =
        fs::read(&options.input).map_err(|error| format!("{input}: cannot be read: {error}"))?;
    let (mut one, mut other) = (Histogram::identity(), Histogram::identity());
    let times = Times::measure(
        usize::from(options.repeat),
        || one = serial(&bytes),
        || other = parallel(&bytes),
    );
    same_bits("histogram", &one.0, &other.0, |count| count)?;
    println!("{input}: {} bytes, {:.3} bits of entropy a byte", bytes.len(), other.entropy());
    println!("{}", Times::HEADS);
    println!("{times}");
    let mut order: Vec<u8> = (0..=255).collect();
    order.sort_by_key(|byte| std::cmp::Reverse(other.0[usize::from(*byte)]));
    for byte in order.into_iter().take(5) {
        let count = other.0[usize::from(byte)];
        if count == 0 {
            break;
        }
        println!("{:>8} {count:>10}", format!("{:?}", char::from(byte)));
    }
    println!("the parallel result is the serial one");
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
