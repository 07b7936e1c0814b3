//! The attribute directly on a loop, which takes features of the compiler that are not stable.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const PROGRAM: &str = r#"
#![feature(stmt_expr_attributes, proc_macro_hygiene)]

use locsteal::par_for;

fn main() {
    let x = vec![2_u64; 1000];
    let mut y = vec![0; 1000];
    #[par_for(schedule = steal)]
    for i in 0..x.len() {
        y[i] = x[i] * i as u64;
    }
    assert!(y.iter().enumerate().all(|(i, y)| *y == 2 * i as u64));

    let mut sum = 0;
    #[par_for(reduce(+: sum))]
    for y in &y {
        sum += y;
    }
    assert_eq!(sum, 999_000);

    #[par_for]
    let squares: Vec<usize> = for i in 0..100 { i * i };
    assert_eq!(squares[99], 9801);

    assert_eq!(first_above(&y, 1000), Some(501));
    println!("all right");
}

fn first_above(y: &[u64], limit: u64) -> Option<usize> {
    #[par_for]
    for (i, y) in y.iter().enumerate() {
        if *y > limit {
            return Some(i);
        }
    }
    None
}
"#;

#[test]
fn stands_on_loops_themselves() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loop_attribute");
    let library = here.join("../locsteal");
    let manifest = format!(
        "[package]\nname = \"loop_attribute\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nlocsteal = {{ path = {library:?} }}\n\n[workspace]\n"
    );
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/main.rs"), PROGRAM).unwrap();
    fs::copy(here.join("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "all right\n", "{said}");
    assert!(said.is_empty(), "{said}");
}
