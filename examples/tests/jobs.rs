//! Runs the example programs that submit jobs as a user does, on small inputs.

use std::path::Path;
use std::process::{Command, Output};

fn run(program: &str, arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package has a parent");
    Command::new(program).args(arguments).current_dir(root).output().expect("the program starts")
}

#[track_caller]
fn succeeds(program: &str, arguments: &[&str], words: &str) -> String {
    let output = run(program, arguments);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {arguments:?}: {err}");
    assert_eq!(err, "", "{program} {arguments:?}");
    assert!(out.contains(words), "{out}");
    out.into_owned()
}

#[test]
fn commit() {
    let program = env!("CARGO_BIN_EXE_commit");
    let small = ["--keys", "2000", "--batch", "500", "--rounds", "5", "--processes", "2"];
    let out = succeeds(program, &small, "every process has come to the same state");
    for way in ["on a helper thread", "there, with the guard", "by spawn_near!"] {
        assert!(out.contains(way), "{out}");
    }
    let only = ["--keys", "10", "--batch", "0", "--rounds", "1", "--only", "spawn-near"];
    assert_eq!(succeeds(program, &only, " ").lines().count(), 1);
    assert_eq!(run(program, &["--keys", "0"]).status.code(), Some(2));
}

#[test]
fn compress() {
    let program = env!("CARGO_BIN_EXE_compress");
    let out = succeeds(program, &["--repeat", "1", "--chunk", "16"], "gives the input back");
    assert!(out.contains("examples/data/jacksboro.asc"), "{out}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let output = folder.join("jacksboro.asc.gz");
    let written = output.to_str().expect("the path is text");
    succeeds(program, &["--repeat", "1", "--output", written], "gives the input back");
    assert!(std::fs::metadata(&output).expect("it was written").len() > 1_000);
    let missing = run(program, &["no/such/file"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&missing.stderr).starts_with("error: no/such/file: cannot be read")
    );
}
