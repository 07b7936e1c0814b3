//! What marked loops cost when compiling: a crate of 200 of them, and the same crate with serial loops.
//!
//! Writes both crates into the target folder, compiles their dependencies, and then times cargo on each crate alone, in turn, so
//! that what else the machine does meets both. Prints a table in Markdown. The share of the macro is what the compiler says it
//! took to expand macros, and takes an option of the compiler that is not stable, for which `RUSTC_BOOTSTRAP` is set. An argument
//! says how many times to compile everything; 5 if there is none.
//!
//! With `count` as its argument it counts instead of timing: the functions that the compiler makes of each crate, and the lines of
//! code in them that it gives to LLVM, before LLVM does anything about them. These do not depend on what else the machine does.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};

/// How many loops a crate has.
const LOOPS: usize = 200;

/// Functions with a loop each, `@` in place of a number and `#` in place of the mark.
const SHAPES: [&str; 10] = [
    "pub fn axpy_@(a: f64, x: &[f64], y: &mut [f64]) {
    #[par_for]
    for i in 0..x.len() {
        y[i] += a * x[i];
    }
}",
    "pub fn stencil_@(x: &[f64], y: &mut [f64]) {
    #[par_for(schedule = static)]
    for i in 1..x.len() - 1 {
        y[i] = 0.25 * (x[i - 1] + 2.0 * x[i] + x[i + 1]);
    }
}",
    "pub fn dot_@(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    #[par_for(reduce(+: sum))]
    for i in 0..x.len() {
        sum += x[i] * y[i];
    }
    sum
}",
    "pub fn product_@(a: &[f64], b: &[f64], c: &mut [f64], n: usize, m: usize) {
    #[par_for(own(c.chunks(m)))]
    for i in 0..n {
        for k in 0..m {
            let a = a[i * m + k];
            for j in 0..m {
                c[i * m + j] += a * b[k * m + j];
            }
        }
    }
}",
    "pub fn squares_@(numbers: &[u64]) -> u64 {
    let mut sum = 0;
    #[par_for(reduce(+: sum))]
    for number in numbers.iter() {
        sum += number * number;
    }
    sum
}",
    "pub fn largest_@(numbers: &[i32]) -> i32 {
    let mut largest = i32::MIN;
    #[par_for(reduce(max: largest))]
    for (_, number) in numbers.iter().enumerate() {
        largest = largest.max(*number);
    }
    largest
}",
    "pub fn find_@(words: &[String], wanted: &str) -> Option<usize> {
    #[par_for]
    for (i, word) in words.iter().enumerate() {
        if word == wanted {
            return Some(i);
        }
    }
    None
}",
    "pub fn parse_@(words: &[String]) -> Result<i64, std::num::ParseIntError> {
    let mut sum = 0;
    #[par_for(reduce(+: sum))]
    for word in words {
        sum += word.trim().parse::<i64>()?;
    }
    Ok(sum)
}",
    "pub fn pairs_@(x: &[f32], y: &mut [f32]) {
    #[par_for]
    for (y, x) in y.iter_mut().zip(x) {
        *y = 2.0 * x + 1.0;
    }
}",
    "pub fn rows_@(text: &mut [u8], width: usize) {
    #[par_for(schedule = dynamic)]
    for row in text.chunks_mut(width) {
        row.reverse();
    }
}",
];

/// A way to compile.
const WAYS: [(&str, &[&str]); 3] = [
    ("`cargo check`", &["check"]),
    ("`cargo build`", &["build"]),
    ("`cargo build --release`", &["build", "--release"]),
];

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let done = match argument.as_deref().map(|argument| (argument, argument.parse())) {
        None => run(5),
        Some(("count", _)) => count(),
        Some((_, Ok(rounds))) if rounds > 0 => run(rounds),
        Some(_) => {
            eprintln!("usage: compile_time [<rounds>|count]");
            return ExitCode::FAILURE;
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// The crate of serial loops and that of marked ones.
fn prepare_both() -> Result<(PathBuf, PathBuf), String> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/compile_time");
    let serial = prepare(&target, "serial", &source(false))?;
    let marked = prepare(&target, "marked", &source(true))?;
    Ok((serial, marked))
}

fn run(rounds: usize) -> Result<(), String> {
    let (serial, marked) = prepare_both()?;
    println!("| {LOOPS} loops | serial | marked | times |\n| --- | ---: | ---: | ---: |");
    for (name, arguments) in WAYS {
        let (mut of_serial, mut of_marked) = (Vec::new(), Vec::new());
        // The first round compiles what both depend on.
        for round in 0..=rounds {
            let times = (compile(&serial, arguments)?, compile(&marked, arguments)?);
            if round > 0 {
                of_serial.push(times.0);
                of_marked.push(times.1);
            }
        }
        row(name, median(of_serial), median(of_marked));
    }
    let (mut of_serial, mut of_marked) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        of_serial.push(expansion(&serial)?);
        of_marked.push(expansion(&marked)?);
    }
    let (of_serial, of_marked) = (median(of_serial), median(of_marked));
    row("of it: expanding macros", of_serial, of_marked);
    let each = of_marked.saturating_sub(of_serial).as_secs_f64() * 1e6 / LOOPS as f64;
    println!("\nThe macro itself takes {each:.0} us for a loop.");
    Ok(())
}

fn count() -> Result<(), String> {
    let (serial, marked) = prepare_both()?;
    println!(
        "| {LOOPS} loops | serial | marked | for a marked loop |\n| --- | ---: | ---: | ---: |"
    );
    for (name, arguments) in [("debug", &[][..]), ("release", &["--release"])] {
        let (serial, marked) =
            (given_to_llvm(&serial, arguments)?, given_to_llvm(&marked, arguments)?);
        let rows = [("functions", serial.0, marked.0), ("lines for LLVM", serial.1, marked.1)];
        for (what, serial, marked) in rows {
            let each = marked as f64 / LOOPS as f64;
            println!("| {name}: {what} | {serial} | {marked} | {each:.0} |");
        }
    }
    Ok(())
}

/// How many functions the compiler gives to LLVM for a crate, and how many lines of code they have.
fn given_to_llvm(folder: &Path, arguments: &[&str]) -> Result<(usize, usize), String> {
    let code = folder.join("../code.ll");
    let emit = format!("--emit=llvm-ir={}", code.display());
    let mut all = vec!["rustc"];
    all.extend(arguments);
    all.extend(["--", &emit, "-Cno-prepopulate-passes", "-Ccodegen-units=1", "-Cdebuginfo=0"]);
    touch(folder)?;
    cargo(folder, &all)?;
    let code = fs::read_to_string(&code)
        .map_err(|error| format!("{} cannot be read: {error}", code.display()))?;
    let (mut functions, mut lines, mut within) = (0, 0, false);
    for line in code.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if line.starts_with("define ") {
            (functions, within) = (functions + 1, true);
        } else if line == "}" {
            within = false;
        } else if within && !line.starts_with(';') {
            lines += 1;
        }
    }
    Ok((functions, lines))
}

/// The source of a crate.
fn source(marked: bool) -> String {
    let mut source = String::from("//! Loops.\n#![allow(clippy::all)]\n");
    if marked {
        source.push_str("use locsteal::par_for;\n");
    }
    for number in 0..LOOPS {
        let shape = SHAPES[number % SHAPES.len()].replace('@', &number.to_string());
        source.push('\n');
        if marked {
            source.push_str("#[par_for]\n");
        }
        for line in shape.lines() {
            if marked || !line.trim_start().starts_with("#[par_for") {
                let _ = writeln!(source, "{line}");
            }
        }
    }
    source
}

/// Writes a crate that depends on the library, so that both compile the same but for their source.
fn prepare(target: &Path, name: &str, source: &str) -> Result<PathBuf, String> {
    let folder = target.join(name);
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../locsteal");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nlocsteal = {{ path = '{}' }}\n\n\
         [workspace]\n",
        library.display()
    );
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    fs::create_dir_all(folder.join("src"))
        .and_then(|()| fs::write(folder.join("Cargo.toml"), manifest))
        .and_then(|()| fs::copy(lock, folder.join("Cargo.lock")))
        .and_then(|_| fs::write(folder.join("src/lib.rs"), source))
        .map_err(|error| format!("{} cannot be written: {error}", folder.display()))?;
    Ok(folder)
}

/// How long cargo takes for a crate whose dependencies are compiled.
fn compile(folder: &Path, arguments: &[&str]) -> Result<Duration, String> {
    touch(folder)?;
    let begin = Instant::now();
    cargo(folder, arguments)?;
    Ok(begin.elapsed())
}

/// How long the compiler takes to expand the macros of a crate.
fn expansion(folder: &Path) -> Result<Duration, String> {
    touch(folder)?;
    let output = cargo(folder, &["rustc", "--", "-Ztime-passes"])?;
    let said = String::from_utf8_lossy(&output.stderr);
    let seconds = said.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("time:")?;
        let of_macros = rest.trim_end().ends_with("macro_expand_crate");
        rest.split(';').next().filter(|_| of_macros)?.trim().parse().ok()
    });
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("the compiler does not say how long macros took:\n{said}"))
}

/// Makes cargo believe that a crate has changed.
fn touch(folder: &Path) -> Result<(), String> {
    let path = folder.join("src/lib.rs");
    fs::read(&path)
        .and_then(|source| fs::write(&path, source))
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn cargo(folder: &Path, arguments: &[&str]) -> Result<Output, String> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("../target"))
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTFLAGS")
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("cargo {arguments:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn row(name: &str, serial: Duration, marked: Duration) {
    println!(
        "| {name} | {:.2} s | {:.2} s | {:.1} |",
        serial.as_secs_f64(),
        marked.as_secs_f64(),
        marked.as_secs_f64() / serial.as_secs_f64()
    );
}
