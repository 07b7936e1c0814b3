//! The command that was given, as it is published.

use std::path::Path;

/// What runs this program, as it was built: with loops on lines of the instruction cache, or anywhere.
const RUN: &str = match option_env!("LOCSTEAL_LOOPS_ALIGNED") {
    Some(_) => "cargo measure",
    None => "cargo run --release -p locsteal-benches --",
};

/// The command that was given, as one would type it at the top of the repository, on any machine.
pub(super) fn command_line() -> String {
    command_of(std::env::args().skip(1))
}

fn command_of(arguments: impl Iterator<Item = String>) -> String {
    let arguments: Vec<_> = arguments.map(|argument| without_machine(&argument)).collect();
    format!("{RUN} {}", arguments.join(" "))
}

/// Of an absolute path, alone or after an option's `=`, what lies within the repository; of others the last part.
fn without_machine(argument: &str) -> String {
    let (option, value) = match argument.split_once('=') {
        Some((option, value)) => (format!("{option}="), value),
        None => (String::new(), argument),
    };
    let path = Path::new(value);
    if !path.is_absolute() {
        return argument.to_owned();
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let within = repository.and_then(|repository| path.strip_prefix(repository).ok());
    let shown = within.or(path.file_name().map(Path::new)).unwrap_or(Path::new("."));
    format!("{option}{}", shown.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_command_names_no_place_of_a_machine() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().display();
        let inside = format!("{repository}/docs/measurements");
        let command = |words: &[&str]| command_of(words.iter().map(ToString::to_string));
        let plain = format!("{RUN} compare --publish docs/measurements");
        assert_eq!(command(&["compare", "--publish", "docs/measurements"]), plain);
        assert_eq!(command(&["compare", "--publish", &inside]), plain);
        let json = format!("--json={repository}-elsewhere/results.jsonl");
        assert!(command(&["compare", &json]).ends_with(" compare --json=results.jsonl"));
        assert!(command(&["compare", "--lines", "=axpy-1e3"]).ends_with("--lines =axpy-1e3"));
    }
}
