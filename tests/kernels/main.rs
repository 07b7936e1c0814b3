//! What an iteration costs: marked loops against the two ways to write the serial loop.
//!
//! `kernels check` runs each kernel under valgrind, which counts instructions, and fails where a marked loop takes more than
//! two in a hundred over the better serial form, per iteration. What a launch costs does not count: each count is the
//! difference between a long and a short run, less what the same difference is without a loop.
#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

/// How a kernel is written.
#[derive(Clone, Copy)]
enum Form {
    /// A serial loop with indices.
    Indices,
    /// A serial loop over iterators.
    Iterators,
    /// The loop with indices, marked. It is run on the caller alone: the code of a chunk is the same.
    Marked,
    /// No loop: what comes before and after it.
    Nothing,
}

const FORMS: [(&str, Form); 4] = [
    ("indices", Form::Indices),
    ("iterators", Form::Iterators),
    ("marked", Form::Marked),
    ("nothing", Form::Nothing),
];

/// A kernel: runs `n` iterations in a form.
type Kernel = fn(Form, usize);

/// How many times the instructions of the better serial form a marked loop may take.
const ALLOWED: f64 = 1.02;

/// Runs a kernel in a form. Its functions are named as the forms are, and take the same.
macro_rules! run {
    ($form:ident($($argument:expr),*)) => {
        match $form {
            Form::Indices => indices($($argument),*),
            Form::Iterators => iterators($($argument),*),
            Form::Marked => marked($($argument),*),
            Form::Nothing => Default::default(),
        }
    };
}

mod directions;
mod matrices;
mod nests;
mod vectors;

const KERNELS: [(&str, Kernel); 23] = [
    ("axpy", vectors::axpy),
    ("seeded", vectors::seeded),
    ("stencil", vectors::stencil),
    ("stencil of bytes", vectors::stencil_of_bytes),
    ("methods", vectors::methods),
    ("dot", vectors::dot),
    ("dot of integers", vectors::dot_of_integers),
    ("struct of arrays", vectors::struct_of_arrays),
    ("enumerated", vectors::enumerated),
    ("reversed", directions::reversed),
    ("reversed, narrow", directions::reversed_narrow),
    ("reversed stencil", directions::reversed_stencil),
    ("narrow index", directions::narrow_index),
    ("inclusive", directions::inclusive),
    ("stepped", directions::stepped),
    ("matrix row", matrices::matrix_row),
    ("table", matrices::table),
    ("plate", matrices::plate),
    ("cells", matrices::cells),
    ("joined", nests::joined),
    ("products", nests::products),
    ("joined sum", nests::joined_sum),
    ("joined volume", nests::joined_volume),
];

/// The instructions that a whole run of this program takes.
fn instructions(kernel: &str, form: &str, n: usize) -> Result<f64, String> {
    let program = std::env::current_exe()
        .map_err(|error| format!("this program is not to be found: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args([kernel, form, &n.to_string()])
        .output()
        .map_err(|error| {
            format!("valgrind cannot be run ({error}): install it, it counts the instructions")
        })?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| {
        let (_, count) =
            line.split_once("I refs:").or_else(|| line.split_once("I   refs:")).or_else(|| {
                line.split_once("refs:").filter(|(before, _)| before.trim_end().ends_with('I'))
            })?;
        count.trim().replace(',', "").parse().ok()
    });
    count.ok_or_else(|| format!("valgrind gave no count for {kernel}, {form}:\n{said}"))
}

fn check(wanted: &[&str]) -> Result<bool, String> {
    const SHORT: usize = 1 << 20;
    const LONG: usize = 1 << 22;
    const ATTEMPTS: usize = 4;
    println!(
        "{:<18} {:>9} {:>9} {:>9}   instructions per iteration",
        "kernel", "indices", "iterators", "marked"
    );
    let mut passed = true;
    for (kernel, _) in KERNELS {
        if !wanted.is_empty() && !wanted.contains(&kernel) {
            continue;
        }
        // What else a process does is never quite the same, and only adds: of each run the least count is the one that counts.
        let mut counts = [[f64::INFINITY; 2]; 4];
        let mut found = [0.0; 4];
        for _ in 0..ATTEMPTS {
            for (counts, (form, _)) in counts.iter_mut().zip(FORMS) {
                for (count, n) in counts.iter_mut().zip([SHORT, LONG]) {
                    *count = count.min(instructions(kernel, form, n)?);
                }
            }
            let [indices, iterators, marked, nothing] =
                counts.map(|[short, long]| (long - short) / (LONG - SHORT) as f64);
            let [indices, iterators, marked] =
                [indices, iterators, marked].map(|cost| cost - nothing);
            found = [indices, iterators, marked, marked / indices.min(iterators)];
            if found[3] <= ALLOWED {
                break;
            }
        }
        let [indices, iterators, marked, ratio] = found;
        let verdict = if ratio <= ALLOWED { "" } else { "  too much" };
        passed &= ratio <= ALLOWED;
        println!(
            "{kernel:<18} {indices:>9.3} {iterators:>9.3} {marked:>9.3}   {ratio:.3} of the better{verdict}"
        );
    }
    Ok(passed)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["check", wanted @ ..] => match check(wanted) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(problem) => {
                eprintln!("{problem}");
                ExitCode::FAILURE
            }
        },
        [kernel, form, n] => {
            let kernel = KERNELS.iter().find(|(name, _)| name == kernel);
            let form = FORMS.iter().find(|(name, _)| name == form);
            match (kernel, form, n.parse()) {
                (Some((_, kernel)), Some((_, form)), Ok(n)) => {
                    kernel(*form, n);
                    ExitCode::SUCCESS
                }
                _ => usage(),
            }
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    let names = |list: &[&str]| list.join("|");
    eprintln!(
        "usage: kernels check [<kernel>..]\n       kernels <{}> <{}> <iterations>",
        names(&KERNELS.map(|(name, _)| name)),
        names(&FORMS.map(|(name, _)| name)),
    );
    ExitCode::FAILURE
}
