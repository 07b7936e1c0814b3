//! Reads the small text files in which the kernel tells about itself.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::CpuSet;

/// Far more than any of the files holds; a larger one is not what it should be.
const MAX_FILE: usize = 256 << 10;

/// A folder of such files. Paths are given from it.
pub(crate) struct KernelFiles {
    base: PathBuf,
    buffer: Vec<u8>,
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

impl KernelFiles {
    pub(crate) fn new(base: PathBuf) -> Self {
        Self { base, buffer: Vec::with_capacity(4096) }
    }

    /// The text of a file.
    pub(crate) fn text(&mut self, path: &str) -> Result<&str, FileProblem> {
        let bytes = read(&self.base.join(path), &mut self.buffer)
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

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.base.join(path).exists()
    }

    /// The `N` of all entries of a folder named `prefixN`, in ascending order.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Result<Vec<u32>, FileProblem> {
        let problem = |error| FileProblem { path: folder.into(), reason: Reason::Io(error) };
        let mut numbers = Vec::new();
        for entry in fs::read_dir(self.base.join(folder)).map_err(problem)? {
            let name = entry.map_err(problem)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(prefix));
            numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

impl FileProblem {
    pub(crate) fn content(path: &str, what: impl fmt::Display) -> Self {
        Self { path: path.into(), reason: Reason::Content(what.to_string()) }
    }

    /// Whether the file is not there, rather than damaged or forbidden.
    pub(crate) fn is_missing(&self) -> bool {
        let missing = [ErrorKind::NotFound, ErrorKind::NotADirectory];
        matches!(&self.reason, Reason::Io(error) if missing.contains(&error.kind()))
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Io(error) => write!(f, "{}: {error}", self.path),
            Reason::Content(what) => write!(f, "{}: {what}", self.path),
        }
    }
}

/// As `std::fs::read`, without asking for a size, which such files do not know.
fn read<'a>(path: &Path, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    buffer.clear();
    File::open(path)?.take(MAX_FILE as u64 + 1).read_to_end(buffer)?;
    if buffer.len() > MAX_FILE {
        return Err(io::Error::other("the file is too large to be the kernel's"));
    }
    Ok(buffer)
}
