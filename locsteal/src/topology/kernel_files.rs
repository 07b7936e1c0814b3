//! Reads the small text files in which the kernel tells about itself, from a folder or from a
//! snapshot in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::CpuSet;

/// Far more than any of the files holds; a larger one is not what it should be.
const MAX_FILE: usize = 256 << 10;

/// A folder of such files. Paths are given from it, parted by `/`.
pub(crate) struct KernelFiles<'a> {
    source: Source<'a>,
    /// Of the last file that was read, so that one allocation does for all.
    buffer: Vec<u8>,
}

enum Source<'a> {
    Folder(PathBuf),
    Memory(&'a BTreeMap<String, String>),
}

/// Why a file is of no use: its path, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct FileProblem {
    path: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    Io(io::Error),
    Content(String),
}

impl<'a> KernelFiles<'a> {
    pub(crate) fn in_folder(base: PathBuf) -> Self {
        Self { source: Source::Folder(base), buffer: Vec::with_capacity(4096) }
    }

    /// Files by path.
    pub(crate) fn in_memory(files: &'a BTreeMap<String, String>) -> Self {
        Self { source: Source::Memory(files), buffer: Vec::new() }
    }

    /// The text of a file.
    pub(crate) fn text(&mut self, path: &str) -> Result<&str, FileProblem> {
        let base = match &self.source {
            Source::Folder(base) => base,
            Source::Memory(files) => {
                return files
                    .get(path)
                    .map(String::as_str)
                    .ok_or_else(|| FileProblem::missing(path));
            }
        };
        let bytes = read(&base.join(path), &mut self.buffer)
            .map_err(|error| FileProblem { path: path.into(), reason: Reason::Io(error) })?;
        std::str::from_utf8(bytes).map_err(|_| FileProblem::content(path, "it is not text"))
    }

    /// A file that holds a list of CPUs or nodes.
    pub(crate) fn list(&mut self, path: &str) -> Result<CpuSet, FileProblem> {
        let text = self.text(path)?;
        text.parse().map_err(|error| FileProblem::content(path, error))
    }

    /// A file that holds one number.
    pub(crate) fn number<T: FromStr>(&mut self, path: &str) -> Result<T, FileProblem> {
        let text = self.text(path)?.trim();
        text.parse().map_err(|_| FileProblem::content(path, format_args!("no number: {text:?}")))
    }

    /// Whether there is such a file or folder.
    pub(crate) fn exists(&self, path: &str) -> bool {
        match &self.source {
            Source::Folder(base) => base.join(path).exists(),
            Source::Memory(files) => {
                files.contains_key(path) || below(files, path).next().is_some()
            }
        }
    }

    /// The `N` of all entries `prefixN` of a folder, in ascending order.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Result<Vec<usize>, FileProblem> {
        let number =
            |name: &str| name.strip_prefix(prefix).and_then(|number| number.parse::<usize>().ok());
        let mut numbers: Vec<usize> = match &self.source {
            Source::Folder(base) => {
                let names = names(&base.join(folder)).map_err(|error| FileProblem {
                    path: folder.into(),
                    reason: Reason::Io(error),
                })?;
                names.iter().filter_map(|name| number(name)).collect()
            }
            Source::Memory(_) if !self.exists(folder) => return Err(FileProblem::missing(folder)),
            Source::Memory(files) => {
                below(files, folder).filter_map(|path| number(path.split('/').next()?)).collect()
            }
        };
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }
}

impl FileProblem {
    pub(crate) fn content(path: &str, what: impl fmt::Display) -> Self {
        Self { path: path.into(), reason: Reason::Content(what.to_string()) }
    }

    fn missing(path: &str) -> Self {
        Self { path: path.into(), reason: Reason::Io(ErrorKind::NotFound.into()) }
    }

    /// Whether the file is not there, rather than damaged or forbidden.
    pub(crate) fn is_missing(&self) -> bool {
        let missing = [ErrorKind::NotFound, ErrorKind::NotADirectory];
        matches!(&self.reason, Reason::Io(error) if missing.contains(&error.kind()))
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path)?;
        match &self.reason {
            Reason::Io(error) if error.kind() == ErrorKind::NotFound => write!(f, "not there"),
            Reason::Io(error) => write!(f, "{error}"),
            Reason::Content(what) => write!(f, "{what}"),
        }
    }
}

/// As `std::fs::read`, without asking for a size, which such files do not know.
fn read<'a>(path: &Path, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    buffer.clear();
    File::open(path)?.take(MAX_FILE as u64 + 1).read_to_end(buffer)?;
    if buffer.len() > MAX_FILE {
        return Err(io::Error::other("too large to be a file of the kernel"));
    }
    Ok(buffer)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?
        .filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose())
        .collect()
}

/// The paths of files in a folder, from there on.
fn below<'a>(
    files: &'a BTreeMap<String, String>,
    folder: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let folder = format!("{folder}/");
    files.range(folder.clone()..).map_while(move |(path, _)| path.strip_prefix(&folder))
}
