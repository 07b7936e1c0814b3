//! Compresses a text in chunks, as a log archiver does: the file is read in order, each chunk becomes a job near to the
//! thread that has just read it, and what comes back is written in order. The result is an ordinary `.gz` file.

use std::collections::VecDeque;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use locsteal::{JobHandle, Pool, spawn_near};
use locsteal_examples::Times;

/// Compresses a file in chunks that are gzip members of their own, serially and by jobs, and checks that both give the
/// same, and that it can be read back.
#[derive(Parser)]
#[command(name = "compress")]
struct Options {
    /// The file to compress.
    #[arg(default_value = "examples/data/jacksboro.asc")]
    input: PathBuf,

    /// Where to write the compressed file; nothing is written without it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How many KiB of the input are compressed at once; chunks end at line ends where there are some.
    #[arg(long, value_name = "KIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    chunk: u32,

    /// The compression level, 1 (fast) to 9 (small).
    #[arg(short, long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=9))]
    level: u32,

    /// How many times the file is compressed each way; the times shown are medians.
    #[arg(short, long, value_name = "N", default_value_t = 5)]
    repeat: u16,
}

/// Cuts what it reads into chunks of about equal size.
struct Chunks<R> {
    input: R,
    size: usize,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
}

impl<R: Read> Chunks<R> {
    fn new(input: R, size: usize) -> Self {
        Self { input, size, rest: Vec::new() }
    }
}

impl<R: Read> Iterator for Chunks<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut chunk = std::mem::take(&mut self.rest);
        let wanted = self.size.saturating_sub(chunk.len()) as u64;
        match self.input.by_ref().take(wanted).read_to_end(&mut chunk) {
            Err(error) => return Some(Err(error)),
            Ok(_) if chunk.is_empty() => return None,
            Ok(_) => {}
        }
        // The rest of the last line goes with the next chunk, unless the input ends here or has no lines.
        if chunk.len() == self.size
            && let Some(end) = chunk.iter().rposition(|byte| *byte == b'\n')
        {
            self.rest = chunk.split_off(end + 1);
        }
        Some(Ok(chunk))
    }
}

fn gzip(chunk: &[u8], level: u32) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(chunk.len() / 2), Compression::new(level));
    encoder.write_all(chunk)?;
    encoder.finish()
}

fn serially(input: impl Read, size: usize, level: u32, output: &mut impl Write) -> io::Result<()> {
    for chunk in Chunks::new(input, size) {
        output.write_all(&gzip(&chunk?, level)?)?;
    }
    Ok(())
}

fn by_jobs(input: impl Read, size: usize, level: u32, output: &mut impl Write) -> io::Result<()> {
    // Enough to keep every worker busy while the oldest one is waited for, and few enough to stay in the cache.
    let most = 2 * Pool::global().threads();
    let mut jobs: VecDeque<JobHandle<io::Result<Vec<u8>>>> = VecDeque::new();
    for chunk in Chunks::new(input, size) {
        if jobs.len() == most
            && let Some(oldest) = jobs.pop_front()
        {
            output.write_all(&oldest.join()?)?;
        }
        let chunk = chunk?;
        jobs.push_back(spawn_near!(
            <weight = chunk.len(), name = "compress">
            move || gzip(&chunk, level)
        ));
    }
    for job in jobs {
        output.write_all(&job.join()?)?;
    }
    Ok(())
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    let file = File::open(path);
    file.map(BufReader::new).map_err(|error| format!("{}: cannot be read: {error}", path.display()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let Options { input, level, .. } = options;
    let size = options.chunk as usize * 1024;
    // Whatever goes wrong is told after the measurement, in which nothing can return.
    let mut results = [Ok(Vec::new()), Ok(Vec::new())];
    let [serial, jobs] = &mut results;
    let compress = |work: fn(BufReader<File>, usize, u32, &mut Vec<u8>) -> io::Result<()>| {
        let mut output = Vec::new();
        let input = open(input)?;
        work(input, size, *level, &mut output)
            .map_err(|error| format!("{}: {error}", options.input.display()))?;
        Ok::<_, String>(output)
    };
    let times = Times::measure(
        usize::from(options.repeat),
        || *serial = compress(serially),
        || *jobs = compress(by_jobs),
    );
    let [serial, jobs] = results;
    let (serial, jobs) = (serial?, jobs?);
    if serial != jobs {
        return Err("the jobs' result is not the serial one".into());
    }
    let (mut original, mut back) = (Vec::new(), Vec::new());
    open(input)?.read_to_end(&mut original)?;
    MultiGzDecoder::new(&*jobs).read_to_end(&mut back)?;
    if original != back {
        return Err("what comes back is not what was compressed".into());
    }
    if let Some(path) = &options.output {
        std::fs::write(path, &jobs)
            .map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
    }
    let chunks = original.len().div_ceil(size);
    println!(
        "{}: {} bytes to {} in about {chunks} chunks",
        input.display(),
        original.len(),
        jobs.len()
    );
    println!("{}", Times::HEADS);
    println!("{times}");
    println!("{}", locsteal::callsites());
    println!("the jobs' result is the serial one, and gives the input back");
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(input: &str, size: usize) -> Vec<String> {
        let chunks = Chunks::new(input.as_bytes(), size);
        chunks.map(|chunk| String::from_utf8(chunk.unwrap()).unwrap()).collect()
    }

    #[test]
    fn chunks_end_at_line_ends() {
        assert_eq!(chunks("ab\ncd\nef", 4), ["ab\n", "cd\n", "ef"]);
        assert_eq!(chunks("ab\ncd\n", 3), ["ab\n", "cd\n"]);
        assert_eq!(chunks("abcdefg\nhi", 4), ["abcd", "efg\n", "hi"]);
        assert_eq!(chunks("", 4), [""; 0]);
    }

    #[test]
    fn jobs_write_what_the_serial_form_writes() {
        let input: String = (0..5_000).map(|n| format!("line {n} of a log\n")).collect();
        for size in [100, 4_096, 1 << 20] {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            serially(input.as_bytes(), size, 6, &mut one).unwrap();
            by_jobs(input.as_bytes(), size, 6, &mut other).unwrap();
            assert_eq!(one, other);
        }
    }
}
