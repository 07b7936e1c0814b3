//! A machine's topology files as one small text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::{Chars, FromStr};

use super::kernel_files::KernelFiles;
use super::{CpuSet, Topology, sysfs};

const CPU_FILES: [&str; 1] = ["topology/thread_siblings_list"];
const CACHE_FILES: [&str; 3] = ["level", "type", "shared_cpu_list"];
const NODE_FILES: [&str; 2] = ["cpulist", "distance"];

/// Stands for the CPU or node number of the path; written for lists, where it makes lines alike.
const OWN_NUMBER: &str = "{}";

/// The files that a [`Topology`] is read from, and the CPUs that were allowed, as one small text.
///
/// It is what a user with a strange machine can send with a report, and what tests keep of machines
/// that nobody has at hand. [`TopologySnapshot::capture`] takes it from a machine; it prints as
/// text, is parsed from it, and [`TopologySnapshot::topology`] reads it like the machine itself.
///
/// In the text each line is a file below `/sys/devices/system`: its path, a colon, a blank and its
/// content, with line ends and the like escaped as in Rust. CPUs or nodes whose files are alike
/// share a line, their numbers in braces as a kernel list; a content of `{}` is that very number.
/// Lines that begin with `#` are comments; a line `allowed: 0-3` gives the allowed CPUs.
///
/// # Examples
///
/// ```
/// use locsteal::TopologySnapshot;
///
/// let snapshot: TopologySnapshot = "
///     allowed: 0-2
///     cpu/online: 0-3
///     cpu/cpu{0-3}/cache/index0/level: 2
///     cpu/cpu{0-3}/cache/index0/type: Unified
///     cpu/cpu{0-1}/cache/index0/shared_cpu_list: 0-1
///     cpu/cpu{2-3}/cache/index0/shared_cpu_list: 2-3
///     node/online: 0
///     node/node0/cpulist: 0-3
///     node/node0/distance: 10
/// "
/// .parse()?;
///
/// let machine = snapshot.topology();
/// assert_eq!(machine.domains()[1].cpus().to_string(), "2");
/// # Ok::<(), locsteal::ParseSnapshotError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologySnapshot {
    allowed: Option<CpuSet>,
    /// By path below `devices/system`, without white space at the end.
    files: BTreeMap<String, String>,
}

impl TopologySnapshot {
    /// Takes the files from a folder that stands for `/sys`, or holds one that does, and notes which
    /// CPUs are allowed, where that is known.
    ///
    /// Files that cannot be read are left out.
    pub fn capture(root: impl AsRef<Path>, allowed: Option<CpuSet>) -> Self {
        let mut files = sysfs::in_root(root.as_ref());
        let mut paths =
            vec!["cpu/online".to_owned(), "cpu/smt/active".into(), "node/online".into()];
        for cpu in files.numbered("cpu", "cpu").unwrap_or_default() {
            let folder = format!("cpu/cpu{cpu}");
            paths.extend(CPU_FILES.iter().map(|file| format!("{folder}/{file}")));
            for index in files.numbered(&format!("{folder}/cache"), "index").unwrap_or_default() {
                let paths_of_cache =
                    CACHE_FILES.iter().map(|file| format!("{folder}/cache/index{index}/{file}"));
                paths.extend(paths_of_cache);
            }
        }
        for node in files.numbered("node", "node").unwrap_or_default() {
            paths.extend(NODE_FILES.iter().map(|file| format!("node/node{node}/{file}")));
        }
        let taken = paths.into_iter().filter_map(|path| {
            let text = files.text(&path).ok()?.trim_end().to_owned();
            Some((path, text))
        });
        Self { allowed, files: taken.collect() }
    }

    /// The same machine with these CPUs allowed.
    #[must_use]
    pub fn with_allowed(self, allowed: CpuSet) -> Self {
        Self { allowed: Some(allowed), ..self }
    }

    /// The CPUs that were allowed when it was taken, if that is known.
    pub fn allowed(&self) -> Option<&CpuSet> {
        self.allowed.as_ref()
    }

    /// The topology that these files show, as far as its CPUs were allowed: as [`Topology::read`].
    pub fn topology(&self) -> Topology {
        Topology::read_from(KernelFiles::in_memory(&self.files), self.allowed.as_ref())
    }

    /// Writes the files below a folder that then stands for `/sys`.
    ///
    /// # Errors
    ///
    /// Those of making folders and writing files.
    pub fn unpack(&self, root: impl AsRef<Path>) -> io::Result<()> {
        let system = root.as_ref().join("devices/system");
        for (path, text) in &self.files {
            let path = system.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, format!("{text}\n"))?;
        }
        Ok(())
    }
}

/// Lines that can share one: what is before the number, after it, and the content.
type Shape<'a> = (&'a str, &'a str, String);

/// The text form.
impl fmt::Display for TopologySnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# The topology of a machine, for locsteal: files below /sys/devices/system.")?;
        if let Some(allowed) = &self.allowed {
            writeln!(f, "allowed: {allowed}")?;
        }
        let mut shapes: BTreeMap<Shape<'_>, CpuSet> = BTreeMap::new();
        for (path, text) in &self.files {
            match split_number(path) {
                None => writeln!(f, "{path}: {}", text.escape_debug())?,
                Some((start, number, end)) => {
                    let own = path.ends_with("list") && *text == number.to_string();
                    let text =
                        if own { OWN_NUMBER.into() } else { text.escape_debug().to_string() };
                    shapes.entry((start, end, text)).or_default().insert(number);
                }
            }
        }
        for ((start, end, text), numbers) in shapes {
            let numbers = match numbers.len() {
                1 => numbers.to_string(),
                _ => format!("{{{numbers}}}"),
            };
            writeln!(f, "{start}{numbers}{end}: {text}")?;
        }
        Ok(())
    }
}

/// The parts of `cpu/cpu12/..` and `node/node1/..`.
fn split_number(path: &str) -> Option<(&str, usize, &str)> {
    let start = ["cpu/cpu", "node/node"].into_iter().find(|start| path.starts_with(start))?;
    let rest = &path[start.len()..];
    let end = &rest[rest.find('/')?..];
    let number = rest[..rest.len() - end.len()].parse().ok().filter(|n| *n <= CpuSet::MAX_ID)?;
    Some((start, number, end))
}

/// What is wrong with a text that should be a [`TopologySnapshot`], and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSnapshotError {
    line: usize,
    problem: String,
}

impl ParseSnapshotError {
    /// The number of the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for ParseSnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the topology snapshot: {}", self.line, self.problem)
    }
}

impl Error for ParseSnapshotError {}

impl FromStr for TopologySnapshot {
    type Err = ParseSnapshotError;

    fn from_str(text: &str) -> Result<Self, ParseSnapshotError> {
        let mut snapshot = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                snapshot
                    .add_line(line)
                    .map_err(|problem| ParseSnapshotError { line: index + 1, problem })?;
            }
        }
        Ok(snapshot)
    }
}

impl TopologySnapshot {
    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let (path, text) =
            line.split_once(':').ok_or("expected a path, a colon and the content of the file")?;
        let text = unescape(text.trim())?;
        if path == "allowed" {
            let allowed = text.parse().map_err(|error| format!("{error}"))?;
            if self.allowed.replace(allowed).is_some() {
                return Err("the allowed CPUs are given twice".into());
            }
            return Ok(());
        }
        // `unpack` writes where a path says: none may lead out of its folder.
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !path.split('/').all(is_plain) || path.contains(['\\', '\0']) {
            return Err(format!("{path:?} is no path below a folder"));
        }
        let Some((start, rest)) = path.split_once('{') else {
            let number = split_number(path).map(|(_, number, _)| number);
            return self.add_file(path.into(), number, &text);
        };
        let (numbers, end) = rest.split_once('}').ok_or("a brace is not closed")?;
        let numbers: CpuSet = numbers.parse().map_err(|error| format!("{error}"))?;
        for number in &numbers {
            self.add_file(format!("{start}{number}{end}"), Some(number), &text)?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: String, number: Option<usize>, text: &str) -> Result<(), String> {
        let text = match number {
            Some(number) if text == OWN_NUMBER => number.to_string(),
            _ => text.to_owned(),
        };
        match self.files.entry(path) {
            Entry::Vacant(entry) => {
                entry.insert(text);
                Ok(())
            }
            Entry::Occupied(entry) => Err(format!("{} is given twice", entry.key())),
        }
    }
}

/// Undoes [`str::escape_debug`].
fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            plain.push(char);
            continue;
        }
        let escaped = match chars.next() {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('0') => Some('\0'),
            Some(char @ ('\\' | '"' | '\'')) => Some(char),
            Some('u') => unescape_unicode(&mut chars),
            _ => None,
        };
        plain.push(escaped.ok_or("a backslash begins no known escape: write \\\\ for itself")?);
    }
    Ok(plain)
}

/// The rest of `\u{..}` after the `u`.
fn unescape_unicode(chars: &mut Chars<'_>) -> Option<char> {
    let (code, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
    *chars = rest.chars();
    char::from_u32(u32::from_str_radix(code, 16).ok()?)
}

/// Changes for tests.
#[cfg(test)]
impl TopologySnapshot {
    pub(super) fn set(&mut self, path: &str, text: &str) {
        self.files.insert(path.into(), text.into());
    }

    /// Removes a file, or a folder with all in it.
    pub(super) fn remove(&mut self, path: &str) {
        let folder = format!("{path}/");
        self.files.retain(|found, _| found != path && !found.starts_with(&folder));
    }

    pub(super) fn set_allowed(&mut self, cpus: &str) {
        self.allowed = Some(cpus.parse().unwrap());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(files: &[(&str, &str)]) -> TopologySnapshot {
        let files = files.iter().map(|&(path, text)| (path.into(), text.into())).collect();
        TopologySnapshot { allowed: None, files }
    }

    #[test]
    fn files_that_are_alike_share_a_line() {
        let mut machine = snapshot(&[
            ("cpu/cpu0/cache/index0/level", "1"),
            ("cpu/cpu0/topology/thread_siblings_list", "0"),
            ("cpu/cpu1/cache/index0/level", "1"),
            ("cpu/cpu1/topology/thread_siblings_list", "1"),
            ("cpu/cpu10/cache/index0/level", "1"),
            ("cpu/online", "0-1,10"),
            ("node/node0/distance", "10 20"),
        ]);
        machine.allowed = Some([0, 10].into_iter().collect());
        let text = machine.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1..],
            [
                "allowed: 0,10",
                "cpu/online: 0-1,10",
                "cpu/cpu{0-1,10}/cache/index0/level: 1",
                "cpu/cpu{0-1}/topology/thread_siblings_list: {}",
                "node/node0/distance: 10 20",
            ]
        );
        assert_eq!(text.parse(), Ok(machine));
    }

    #[test]
    fn odd_contents_survive() {
        let machine = snapshot(&[
            ("cpu/cpu3/cache/index0/type", "say \"\\{}\"\0\n\tü: # \u{7f}"),
            ("cpu/cpu7", ""),
            ("cpu/cpux/level", "{}"),
            ("cpu/online", ""),
            ("other", "#"),
        ]);
        assert_eq!(machine.to_string().parse(), Ok(machine));
    }

    #[test]
    fn refuses_what_is_no_snapshot_and_says_where() {
        for (text, line, words) in [
            ("cpu/online", 1, "expected a path, a colon and the content of the file"),
            (
                "\n# x\nallowed: 3-1",
                3,
                "byte 0 of the CPU list: the range 3-1 is the wrong way round",
            ),
            ("allowed: 1\nallowed: 1", 2, "the allowed CPUs are given twice"),
            ("a: 1\na: 1", 2, "a is given twice"),
            ("cpu/cpu1/a: 1\ncpu/cpu{0-2}/a: 1", 2, "cpu/cpu1/a is given twice"),
            ("cpu/cpu{0-2/a: 1", 1, "a brace is not closed"),
            ("cpu/cpu{x}/a: 1", 1, "byte 0 of the CPU list: expected a number, found 'x'"),
            ("a: \\q", 1, "a backslash begins no known escape: write \\\\ for itself"),
            ("a: \\u{110000}", 1, "a backslash begins no known escape: write \\\\ for itself"),
            ("../a: 1", 1, "\"../a\" is no path below a folder"),
            ("/etc/a: 1", 1, "\"/etc/a\" is no path below a folder"),
            ("a//b: 1", 1, "\"a//b\" is no path below a folder"),
            ("a\\b: 1", 1, "\"a\\\\b\" is no path below a folder"),
        ] {
            let error = text.parse::<TopologySnapshot>().unwrap_err();
            assert_eq!(error.line(), line, "{text:?}: {error}");
            assert_eq!(error.to_string(), format!("line {line} of the topology snapshot: {words}"));
        }
    }
}
