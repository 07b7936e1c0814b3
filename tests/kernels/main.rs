//! What an iteration costs: marked loops against the two ways to write the serial loop.
//!
//! `kernels check` runs each kernel under valgrind, which counts instructions, and fails where a marked loop takes more than
//! two in a hundred over the better serial form, per iteration. What a launch costs does not count: each count is the
//! difference between a long and a short run, less what the same difference is without a loop.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::process::{Command, ExitCode};

use locsteal::par_for;

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

const KERNELS: [(&str, Kernel); 9] = [
    ("axpy", axpy),
    ("stencil", stencil),
    ("dot", dot),
    ("dot of integers", dot_of_integers),
    ("matrix row", matrix_row),
    ("struct of arrays", struct_of_arrays),
    ("reversed", reversed),
    ("narrow index", narrow_index),
    ("enumerated", enumerated),
];

fn axpy(form: Form, n: usize) {
    #[inline(never)]
    fn indices(a: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..x.len() {
            y[i] += a * x[i];
        }
    }

    #[inline(never)]
    fn iterators(a: f64, x: &[f64], y: &mut [f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(a: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..x.len() {
            y[i] += a * x[i];
        }
    }

    let (x, mut y) = (vec![1.5; n], vec![0.5; n]);
    match form {
        Form::Indices => indices(2.0, &x, &mut y),
        Form::Iterators => iterators(2.0, &x, &mut y),
        Form::Marked => marked(2.0, &x, &mut y),
        Form::Nothing => {}
    }
    black_box(y);
}

fn stencil(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f64], y: &mut [f64]) {
        for i in 1..x.len() - 1 {
            y[i] = 0.25 * (x[i - 1] + 2.0 * x[i] + x[i + 1]);
        }
    }

    #[inline(never)]
    fn iterators(x: &[f64], y: &mut [f64]) {
        for (y, x) in y[1..].iter_mut().zip(x.windows(3)) {
            *y = 0.25 * (x[0] + 2.0 * x[1] + x[2]);
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[f64], y: &mut [f64]) {
        for i in 1..x.len() - 1 {
            y[i] = 0.25 * (x[i - 1] + 2.0 * x[i] + x[i + 1]);
        }
    }

    let (x, mut y) = (vec![1.5; n + 2], vec![0.5; n + 2]);
    match form {
        Form::Indices => indices(&x, &mut y),
        Form::Iterators => iterators(&x, &mut y),
        Form::Marked => marked(&x, &mut y),
        Form::Nothing => {}
    }
    black_box(y);
}

fn dot(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f64], y: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    #[inline(never)]
    fn iterators(x: &[f64], y: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (x, y) in x.iter().zip(y) {
            sum += x * y;
        }
        sum
    }

    #[par_for(schedule = serial, reduce(+: sum))]
    #[inline(never)]
    fn marked(x: &[f64], y: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    let (x, y) = (vec![1.5; n], vec![0.5; n]);
    black_box(match form {
        Form::Indices => indices(&x, &y),
        Form::Iterators => iterators(&x, &y),
        Form::Marked => marked(&x, &y),
        Form::Nothing => Default::default(),
    });
}

fn dot_of_integers(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &[u32]) -> u32 {
        let mut sum = 0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &[u32]) -> u32 {
        x.iter().zip(y).map(|(x, y)| x * y).sum()
    }

    #[par_for(schedule = serial, reduce(+: sum))]
    #[inline(never)]
    fn marked(x: &[u32], y: &[u32]) -> u32 {
        let mut sum = 0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    let (x, y) = (vec![1; n], vec![3; n]);
    black_box(match form {
        Form::Indices => indices(&x, &y),
        Form::Iterators => iterators(&x, &y),
        Form::Marked => marked(&x, &y),
        Form::Nothing => Default::default(),
    });
}

/// Rows of `c = a * b`, for matrices whose side is `COLUMNS`. An iteration counts for one multiplication.
fn matrix_row(form: Form, n: usize) {
    const COLUMNS: usize = 128;

    #[inline(never)]
    fn indices(a: &[f64], b: &[f64], c: &mut [f64], n: usize, m: usize) {
        for i in 0..n {
            for k in 0..m {
                let a = a[i * m + k];
                for j in 0..m {
                    c[i * m + j] += a * b[k * m + j];
                }
            }
        }
    }

    #[inline(never)]
    fn iterators(a: &[f64], b: &[f64], c: &mut [f64], m: usize) {
        for (c, a) in c.chunks_mut(m).zip(a.chunks(m)) {
            for (a, b) in a.iter().zip(b.chunks(m)) {
                for (c, b) in c.iter_mut().zip(b) {
                    *c += a * b;
                }
            }
        }
    }

    #[par_for(schedule = serial, own(c.chunks(m)))]
    #[inline(never)]
    fn marked(a: &[f64], b: &[f64], c: &mut [f64], n: usize, m: usize) {
        for i in 0..n {
            for k in 0..m {
                let a = a[i * m + k];
                for j in 0..m {
                    c[i * m + j] += a * b[k * m + j];
                }
            }
        }
    }

    let (m, rows) = (COLUMNS, n / COLUMNS / COLUMNS);
    let (a, b, mut c) = (vec![1.5; rows * m], vec![2.5; m * m], vec![0.0; rows * m]);
    match form {
        Form::Indices => indices(&a, &b, &mut c, rows, m),
        Form::Iterators => iterators(&a, &b, &mut c, m),
        Form::Marked => marked(&a, &b, &mut c, rows, m),
        Form::Nothing => {}
    }
    black_box(c);
}

struct Bodies {
    position: Vec<f64>,
    velocity: Vec<f64>,
    force: Vec<f64>,
    mass: Vec<f64>,
}

impl Bodies {
    #[inline(never)]
    fn indices(&mut self, dt: f64) {
        for i in 0..self.position.len() {
            self.velocity[i] += dt * self.force[i] / self.mass[i];
            self.position[i] += dt * self.velocity[i];
        }
    }

    #[inline(never)]
    fn iterators(&mut self, dt: f64) {
        let Self { position, velocity, force, mass } = self;
        for (((position, velocity), force), mass) in
            position.iter_mut().zip(velocity).zip(force).zip(mass)
        {
            *velocity += dt * *force / *mass;
            *position += dt * *velocity;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(&mut self, dt: f64) {
        for i in 0..self.position.len() {
            self.velocity[i] += dt * self.force[i] / self.mass[i];
            self.position[i] += dt * self.velocity[i];
        }
    }
}

fn struct_of_arrays(form: Form, n: usize) {
    let mut bodies = Bodies {
        position: vec![0.0; n],
        velocity: vec![1.0; n],
        force: vec![2.0; n],
        mass: vec![3.0; n],
    };
    match form {
        Form::Indices => bodies.indices(0.1),
        Form::Iterators => bodies.iterators(0.1),
        Form::Marked => bodies.marked(0.1),
        Form::Nothing => {}
    }
    black_box(bodies.position);
}

fn reversed(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len()).rev() {
            y[i] ^= x[i];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x).rev() {
            *y ^= x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in (0..x.len()).rev() {
            y[i] ^= x[i];
        }
    }

    let (x, mut y) = (vec![1; n], vec![3; n]);
    match form {
        Form::Indices => indices(&x, &mut y),
        Form::Iterators => iterators(&x, &mut y),
        Form::Marked => marked(&x, &mut y),
        Form::Nothing => {}
    }
    black_box(y);
}

fn narrow_index(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in 0..x.len() as u32 {
            y[i as usize] ^= x[i as usize];
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y ^= x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in 0..x.len() as u32 {
            y[i as usize] ^= x[i as usize];
        }
    }

    let (x, mut y) = (vec![1; n], vec![3; n]);
    match form {
        Form::Indices => indices(&x, &mut y),
        Form::Iterators => iterators(&x, &mut y),
        Form::Marked => marked(&x, &mut y),
        Form::Nothing => {}
    }
    black_box(y);
}

fn enumerated(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f32], y: &mut [f32]) {
        for (i, x) in x.iter().enumerate() {
            y[i] = 2.0 * x + 1.0;
        }
    }

    #[inline(never)]
    fn iterators(x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = 2.0 * x + 1.0;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[f32], y: &mut [f32]) {
        for (i, x) in x.iter().enumerate() {
            y[i] = 2.0 * x + 1.0;
        }
    }

    let (x, mut y) = (vec![1.5; n], vec![0.5; n]);
    match form {
        Form::Indices => indices(&x, &mut y),
        Form::Iterators => iterators(&x, &mut y),
        Form::Marked => marked(&x, &mut y),
        Form::Nothing => {}
    }
    black_box(y);
}

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

fn check() -> Result<bool, String> {
    const SHORT: usize = 1 << 20;
    const LONG: usize = 1 << 22;
    println!(
        "{:<18} {:>9} {:>9} {:>9}   instructions per iteration",
        "kernel", "indices", "iterators", "marked"
    );
    let mut passed = true;
    for (kernel, _) in KERNELS {
        let mut costs = [0.0; 4];
        for (cost, (form, _)) in costs.iter_mut().zip(FORMS) {
            let (short, long) =
                (instructions(kernel, form, SHORT)?, instructions(kernel, form, LONG)?);
            *cost = (long - short) / (LONG - SHORT) as f64;
        }
        let [indices, iterators, marked, nothing] = costs;
        let [indices, iterators, marked] = [indices, iterators, marked].map(|cost| cost - nothing);
        let ratio = marked / indices.min(iterators);
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
        ["check"] => match check() {
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
        "usage: kernels check\n       kernels <{}> <{}> <iterations>",
        names(&KERNELS.map(|(name, _)| name)),
        names(&FORMS.map(|(name, _)| name)),
    );
    ExitCode::FAILURE
}
