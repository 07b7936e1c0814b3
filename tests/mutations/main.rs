//! Breaks the rules of the scheduling core one at a time, and tells which tests notice.
//!
//! Works on a copy of the workspace in the target folder. Each change is followed by the tests of the part of the runtime
//! that was changed. Prints a table in Markdown and fails if a broken rule went unnoticed. Words given as arguments choose
//! among the mutations: `R6` or any part of a description.

mod launching;
mod table;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use table::Mutation;

/// A broken rule may keep a loop from ending. The tests take about a second.
const TIMEOUT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |mutation: &&Mutation| {
        words.is_empty()
            || words.iter().any(|word| mutation.rule == word || mutation.broken.contains(word))
    };
    let chosen: Vec<&Mutation> = mutations().filter(chosen).collect();
    match run(&chosen) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(survivors) => {
            eprintln!("{survivors} broken rules went unnoticed: add a test for each");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn mutations() -> impl Iterator<Item = &'static Mutation> {
    table::MUTATIONS.iter().chain(launching::MUTATIONS)
}

fn run(mutations: &[&Mutation]) -> io::Result<usize> {
    let copy = Copy::of(&workspace())?;
    eprintln!("working on a copy in {}", copy.root.display());
    let mut parts: Vec<String> = mutations.iter().map(|mutation| mutation.tests()).collect();
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        match copy.test(&part)? {
            Verdict::Failed(tests) if tests.is_empty() => {}
            Verdict::Failed(tests) => {
                return fail(format!("tests fail unbroken: {}", tests.join(", ")));
            }
            Verdict::DoesNotBuild(messages) => {
                return fail(format!("it does not build:\n{messages}"));
            }
        }
    }
    println!("| rule | how it was broken | which tests failed |\n| --- | --- | --- |");
    let mut survivors = 0;
    for mutation in mutations {
        let path = copy.root.join(mutation.file);
        let original = fs::read_to_string(&path)?;
        fs::write(&path, mutation.apply(&original).or_else(fail)?)?;
        let verdict = copy.test(&mutation.tests())?;
        fs::write(&path, original)?;
        let found = match verdict {
            Verdict::DoesNotBuild(messages) => {
                return fail(format!(
                    "broken so, it does not build: {}\n{messages}",
                    mutation.broken
                ));
            }
            Verdict::Failed(tests) if tests.is_empty() => {
                survivors += 1;
                "**none**".into()
            }
            Verdict::Failed(tests) => {
                let more = tests.len().saturating_sub(4);
                let shown: Vec<String> =
                    tests.iter().take(4).map(|test| format!("`{test}`")).collect();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                shown.join("<br>") + &more
            }
        };
        println!("| {} | {} | {found} |", mutation.rule, mutation.broken);
    }
    Ok(survivors)
}

fn fail<T>(message: String) -> io::Result<T> {
    Err(io::Error::other(message))
}

fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the package lies in the workspace").to_path_buf()
}

enum Verdict {
    DoesNotBuild(String),
    /// These tests failed or did not end.
    Failed(Vec<String>),
}

/// A copy of the workspace that may be broken.
struct Copy {
    root: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn of(workspace: &Path) -> io::Result<Self> {
        let base = workspace.join("target/mutations");
        let root = base.join("workspace");
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        copy_folder(workspace, &root)?;
        Ok(Self { root, target: base.join("target") })
    }

    /// Runs the tests whose names begin so.
    fn test(&self, tests: &str) -> io::Result<Verdict> {
        let built = Command::new(env!("CARGO"))
            .args(["test", "--offline", "--no-run", "--quiet", "-p", "locsteal", "--lib"])
            .args(["--message-format", "json-render-diagnostics"])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .output()?;
        if !built.status.success() {
            return Ok(Verdict::DoesNotBuild(String::from_utf8_lossy(&built.stderr).into_owned()));
        }
        let messages = String::from_utf8_lossy(&built.stdout);
        let Some(program) = executable(&messages) else {
            return fail(format!("cargo named no test program: {messages}"));
        };
        let listed =
            Command::new(&program).args([tests, "--list", "--format", "terse"]).output()?;
        let listed = String::from_utf8_lossy(&listed.stdout);
        let passed = passed(&program, tests)?;
        let failed = listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .filter(|test| !passed.iter().any(|passed| passed == test))
            .map(|test| test.trim_start_matches(tests).trim_start_matches("rules_tests::").into());
        Ok(Verdict::Failed(failed.collect()))
    }
}

/// The tests that passed, within the time that they have.
fn passed(program: &Path, tests: &str) -> io::Result<Vec<String>> {
    let mut child = Command::new(program)
        .arg(tests)
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdout = child.stdout.take().expect("it is piped");
    let (tell, told) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        // What could not be read counts as not passed.
        let _ = stdout.read_to_end(&mut text);
        let _ = tell.send(());
        String::from_utf8_lossy(&text).into_owned()
    });
    if told.recv_timeout(TIMEOUT).is_err() {
        child.kill()?;
    }
    child.wait()?;
    let text = reader.join().expect("reading does not panic");
    let name = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... ok")?.to_owned());
    Ok(text.lines().filter_map(name).collect())
}

/// The test program among cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    let (_, after) = messages.rsplit_once(r#""executable":""#)?;
    Some(after.split_once('"')?.0.into())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &to.join(&name))?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_can_be_made() {
        for mutation in mutations() {
            let source = fs::read_to_string(workspace().join(mutation.file)).unwrap();
            let broken = mutation.apply(&source).unwrap();
            assert_ne!(broken, source, "{}", mutation.broken);
        }
    }

    #[test]
    fn a_mutation_is_followed_by_the_tests_of_its_part() {
        let tests = |rule| mutations().find(|mutation| mutation.rule == rule).unwrap().tests();
        assert_eq!([tests("R1"), tests("hold"), tests("auto")], ["sched::", "pool::", "loops::"]);
    }

    #[test]
    fn every_rule_of_the_core_is_broken_at_least_once() {
        for rule in [
            "R1", "R2", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "edges", "growth",
            "grace", "hold", "crowd", "inside", "auto",
        ] {
            assert!(mutations().any(|mutation| mutation.rule == rule), "{rule}");
        }
    }
}
