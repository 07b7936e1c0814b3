//! Writes the loops of `tests/par_for_generated.rs`: every way to loop, with every way to write, accumulate and leave, each
//! once marked and once as it is.

use std::fmt::Write as _;
use std::path::Path;

/// A way to loop over about `n` items.
struct Kind {
    name: &'static str,
    /// The loop's head, between `for` and the body.
    head: &'static str,
    /// The index as a `usize`; empty if there is none.
    index: &'static str,
    /// The index with which an array is written; like `index`, with a cast where the type needs one.
    value: &'static str,
}

const KINDS: [Kind; 18] = [
    Kind { name: "range", head: "i in 0..n", index: "i", value: "i as i64" },
    Kind { name: "shifted", head: "i in 3..n + 3", index: "i", value: "i as i64" },
    Kind { name: "inclusive", head: "i in 0..=n", index: "i", value: "i as i64" },
    Kind { name: "reversed", head: "i in (0..n).rev()", index: "i", value: "i as i64" },
    Kind { name: "stepped", head: "i in (1..n).step_by(3)", index: "i", value: "i as i64" },
    Kind {
        name: "reversed_steps",
        head: "i in (2..=n).rev().step_by(2)",
        index: "i",
        value: "i as i64",
    },
    Kind { name: "signed", head: "i in 0..n as i32", index: "i as usize", value: "i as i64" },
    Kind {
        name: "bytes",
        head: "i in 0..=n.min(250) as u8",
        index: "i as usize",
        value: "i as i64",
    },
    Kind {
        name: "wide",
        head: "i in (1u128 << 100)..(1u128 << 100) + n as u128",
        index: "",
        value: "(i & 0xFFFF) as i64",
    },
    Kind {
        name: "skipped",
        head: "i in (0..n).skip(2).take(n / 2)",
        index: "i",
        value: "i as i64",
    },
    Kind { name: "enumerated", head: "(i, v) in x.iter().enumerate()", index: "i", value: "*v" },
    Kind { name: "zipped", head: "(i, v) in (0..n).zip(&x)", index: "i", value: "*v" },
    Kind {
        name: "zipped_second",
        head: "(v, i) in x.iter().copied().zip(0..n)",
        index: "i",
        value: "v",
    },
    Kind { name: "slice", head: "v in &x", index: "", value: "*v" },
    Kind { name: "copied", head: "v in x.iter().copied().rev()", index: "", value: "v" },
    Kind { name: "by_value", head: "v in x.clone()", index: "", value: "v" },
    Kind {
        name: "chunked",
        head: "(i, v) in x.chunks(3).enumerate()",
        index: "i",
        value: "v.iter().sum::<i64>()",
    },
    Kind {
        name: "windows",
        head: "(i, v) in x.windows(2).enumerate().rev()",
        index: "i",
        value: "v[0] - v[1]",
    },
];

/// Something that a body does; `$i` is the index, `$v` the value.
struct Effect {
    name: &'static str,
    clauses: &'static str,
    code: &'static str,
    needs_index: bool,
}

const EFFECTS: [Effect; 10] = [
    Effect {
        name: "nothing",
        clauses: "",
        code: "std::hint::black_box(value);",
        needs_index: false,
    },
    Effect { name: "write", clauses: "", code: "y[$i] = value * 3 + y[$i];", needs_index: true },
    Effect {
        name: "write_sometimes",
        clauses: "",
        code: "if value % 3 == 1 { y[$i] += value; } else if value % 3 == 2 { y[$i] -= 1; }",
        needs_index: true,
    },
    Effect {
        name: "chunks",
        clauses: "own(c.chunks(m))",
        code: "for j in 0..m { if $i * m + j < c.len() { c[$i * m + j] = value - j as i64; } }",
        needs_index: true,
    },
    Effect { name: "sum", clauses: "reduce(+: sum)", code: "sum += value;", needs_index: false },
    Effect {
        name: "several",
        clauses: "reduce(+: sum, max: most, ^: bits)",
        code: "sum -= value; if value > most { most = value; } bits ^= value as u64;",
        needs_index: false,
    },
    Effect {
        name: "stencil_and_sum",
        clauses: "reduce(reproducible, +: sum)",
        code: "y[$i] = x[$i % x.len()] - z[$i]; sum += z[$i] * value;",
        needs_index: true,
    },
    Effect {
        name: "histogram",
        clauses: "reduce(+: hist), local(buf = Vec::new())",
        code: "buf.clear(); buf.push(value); hist[(buf[0] & 7) as usize] += buf.len() as i64;",
        needs_index: false,
    },
    Effect {
        name: "guarded",
        clauses: "",
        code: "y[$i] = 'a: { if $i + 2 >= x.len() { break 'a -5; } \
               let Some(v) = x.get($i + 2) else { break 'a -6 }; \
               if matches!(x.first(), Some(w) if x[$i + 1] > *w) { break 'a *v; } x[$i + 2] };",
        needs_index: true,
    },
    Effect {
        name: "balance",
        clauses: "reduce(+: bits, min: most), reduce(+: hist)",
        code: "bits -= 3; bits = bits + (value & 7) as u64; hist[(value & 3) as usize] -= 1; \
               most = most.min(value);",
        needs_index: false,
    },
];

/// A way to leave the loop early, or an iteration.
struct Exit {
    name: &'static str,
    code: &'static str,
}

const EXITS: [Exit; 9] = [
    Exit { name: "to_the_end", code: "" },
    Exit { name: "continues", code: "if value % 5 == 2 { continue; }" },
    Exit { name: "breaks", code: "if value == stop { break; }" },
    Exit { name: "returns", code: "if value == stop { return Err(value + 1000); }" },
    Exit { name: "tries", code: "let _: i64 = (value != stop).then_some(1).ok_or(value)?;" },
    Exit { name: "panics", code: "assert!(value != stop, \"stopped at {value}\");" },
    Exit {
        name: "breaks_within",
        code: "$mark for j in 0..3_i64 { if value == stop && j == 1 { break 'outer; } }",
    },
    Exit {
        name: "continues_within",
        code: "$mark for j in 0..3_i64 { if value % 5 == 2 && j == 1 { continue 'outer; } }",
    },
    Exit {
        name: "tries_within",
        code: "$mark for j in 0..2_i64 { let _: i64 = (value + j != stop).then_some(1).ok_or(j)?; }",
    },
];

/// Clauses that change who runs what.
const CLAUSES: [&str; 6] = [
    "schedule = static",
    "schedule = steal, grain = 1",
    "schedule = dynamic(2), threads = 3",
    "schedule = static(3), locality = flat",
    "schedule = dynamic, locality = node",
    "",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut source = String::new();
    let mut table = String::new();
    let mut count = 0;
    for kind in &KINDS {
        for effect in EFFECTS.iter().filter(|effect| !effect.needs_index || !kind.index.is_empty())
        {
            for exit in &EXITS {
                // What is not about what is looped over is tried with some ways to loop.
                let within = exit.name.ends_with("within");
                let some = within || ["guarded", "balance"].contains(&effect.name);
                if some && !["range", "reversed", "enumerated"].contains(&kind.name)
                    || within && !effect.clauses.contains("reduce")
                {
                    continue;
                }
                let name = format!("{}_{}_{}", kind.name, effect.name, exit.name);
                let clauses = [CLAUSES[count % CLAUSES.len()], effect.clauses];
                let clauses: Vec<&str> =
                    clauses.into_iter().filter(|clause| !clause.is_empty()).collect();
                let mark = format!("#[par_for({})]", clauses.join(", "));
                let body = format!(
                    "let value: i64 = {};\n        {}\n        {}",
                    kind.value,
                    exit.code,
                    effect.code.replace("$i", kind.index),
                );
                for (prefix, attribute, mark) in
                    [("marked", "#[par_for]", mark.as_str()), ("serial", "", "")]
                {
                    let serial_local =
                        if prefix == "serial" { "let mut buf: Vec<i64> = Vec::new();" } else { "" };
                    write!(
                        source,
                        "
{attribute}
fn {prefix}_{name}(n: usize, m: usize, stop: i64) -> Result<Out, i64> {{
    let Input {{ x, z, mut y, mut c, mut sum, mut most, mut bits, mut hist }} = Input::new(n);
    {serial_local}
    {mark}
    'outer: for {} {{
        {}
    }}
    out(-1, &y, &c, sum, most, bits, &hist)
}}
",
                        kind.head,
                        body.replace("$mark", attribute),
                    )
                    .expect("a string takes all");
                }
                writeln!(table, "    Shape {{ name: \"{name}\", marked: marked_{name}, serial: serial_{name}, leaves: {} }},", exit.name != "to_the_end" && !exit.name.starts_with("continues"))
                    .expect("a string takes all");
                count += 1;
            }
        }
    }
    source += &format!("\nconst SHAPES: [Shape; {count}] = [\n{table}];\n");
    let folder = std::env::var("OUT_DIR").expect("cargo says where to write");
    std::fs::write(Path::new(&folder).join("shapes.rs"), source).expect("the file can be written");
}
