//! What can be wrong with a file, in words.

use std::fmt;
use std::io;

use super::MAX_CELLS;
use super::header::Key;

/// Why a file could not be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The system did not give the text.
    Io(io::Error),
    /// The file has more than `limit` bytes.
    TooLong { limit: u64 },
    /// The text is no grid.
    Parse(ParseError),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ParseError> for ReadError {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be read: {error}"),
            Self::TooLong { limit } => {
                write!(f, "is longer than {limit} bytes: cut the grid into smaller ones")
            }
            Self::Parse(error) => error.fmt(f),
        }
    }
}

/// What is wrong, and where.
#[derive(Debug, PartialEq)]
pub(crate) struct ParseError {
    /// Counts from 1.
    pub(crate) line: usize,
    /// Counts from 1, in bytes.
    pub(crate) column: usize,
    pub(crate) problem: Problem,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.problem)
    }
}

/// What is wrong with a text.
#[derive(Debug, PartialEq)]
pub(crate) enum Problem {
    /// Where a key or the first value is due stands something else.
    NeitherKeyNorNumber { found: String },
    /// A key is the last word of its line.
    NoValue { key: Key },
    /// A key's line goes on after the value.
    AfterValue { key: Key, found: String },
    /// A key stands twice.
    Doubled { key: Key, first_line: usize },
    /// A corner and a centre are given for one axis.
    TwoOrigins { key: Key, other: Key, first_line: usize },
    /// A corner is given for one axis and a centre for the other.
    MixedOrigins { key: Key, other: Key },
    /// The header ends without these.
    Missing { keys: Vec<&'static str> },
    /// A number of rows or columns is no whole number in the range.
    NotACount { key: Key, found: String },
    /// There are more cells than the program takes on.
    TooManyCells { cells: u64 },
    /// There are more cells than the file has room for.
    FileTooShort { cells: u64, bytes: usize },
    /// A header value is not a finite number.
    NotAPosition { key: Key, found: String },
    /// The cell size is outside the range.
    CellSize { found: String },
    /// A value is not a number.
    NotANumber { found: String },
    /// A value is infinite or NaN.
    NotFinite { found: String },
    /// A value is larger than any elevation.
    NoElevation { found: String },
    /// A line does not hold whole rows, and the next line starts with a new row all the same.
    LineLength { found: usize, columns: usize },
    /// A row that was wrapped over several lines ends inside a line.
    RowEndsInside { row: usize, columns: usize },
    /// The text ends inside the grid.
    Ends { found: usize, cells: usize },
    /// The text goes on after the grid.
    Extra { cells: usize },
    /// Every value stands for missing data.
    NoData,
    /// There is no memory for the values.
    Memory { cells: usize },
}

/// The largest magnitude that counts as an elevation, in metres (or feet).
pub(super) const HIGHEST: f64 = 1e6;

/// The cell sizes that are taken, in degrees or metres.
pub(super) const CELL_SIZES: std::ops::RangeInclusive<f64> = 1e-9..=1e6;

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeitherKeyNorNumber { found } => write!(
                f,
                "`{found}` is neither a header key nor a number: an Esri ASCII grid starts with the keys {}",
                Key::ALL.map(Key::name).join(", "),
            ),
            Self::NoValue { key } => write!(f, "`{key}` has no value: it stands on the same line"),
            Self::AfterValue { key, found } => write!(
                f,
                "`{found}` after the value of `{key}`: each line of the header holds one key and one value",
            ),
            Self::Doubled { key, first_line } => {
                write!(f, "`{key}` is given a second time, first in line {first_line}: keep one")
            }
            Self::TwoOrigins { key, other, first_line } => write!(
                f,
                "`{key}` is given although `{other}` is, in line {first_line}: keep one of the two",
            ),
            Self::MixedOrigins { key, other } => {
                write!(f, "`{key}` does not go with `{other}`: give two corners or two centres")
            }
            Self::Missing { keys } => write!(
                f,
                "the header ends without {}: add a line with the key and its value",
                keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and "),
            ),
            Self::NotACount { key, found } => {
                write!(f, "`{key}` is `{found}`, which is not a whole number from 1 to {MAX_CELLS}")
            }
            Self::TooManyCells { cells } => write!(
                f,
                "`ncols` times `nrows` is {cells} cells, and at most {MAX_CELLS} are taken: cut the grid into smaller ones",
            ),
            Self::FileTooShort { cells, bytes } => write!(
                f,
                "`ncols` times `nrows` is {cells} values, more than a file of {bytes} bytes can hold: the file is cut off, or the header is wrong",
            ),
            Self::NotAPosition { key, found } => {
                write!(f, "`{key}` is `{found}`, which is not a finite number")
            }
            Self::CellSize { found } => write!(
                f,
                "`cellsize` is `{found}`, which is not a number from {:e} to {:e}",
                CELL_SIZES.start(),
                CELL_SIZES.end(),
            ),
            Self::NotANumber { found } => write!(
                f,
                "`{found}` is not a number: values are separated by white space, and decimals by a point",
            ),
            Self::NotFinite { found } => write!(
                f,
                "`{found}` is not an elevation: write missing data as the value of `NODATA_value`",
            ),
            Self::NoElevation { found } => write!(
                f,
                "`{found}` is beyond any elevation ({HIGHEST:e}): if it stands for missing data, `NODATA_value` must be written exactly alike",
            ),
            Self::LineLength { found, columns } => {
                write!(f, "the line holds {found} values where `ncols` says {columns}")
            }
            Self::RowEndsInside { row, columns } => write!(
                f,
                "row {row} has its {columns} values and the line goes on: a value is missing or too much in the row's lines, or rows are wrapped so that the next one does not start on a new line",
            ),
            Self::Ends { found, cells } => write!(
                f,
                "the file ends after {found} values, and `ncols` times `nrows` is {cells}",
            ),
            Self::Extra { cells } => write!(
                f,
                "a value too much: `ncols` times `nrows` is {cells}, and there have been as many",
            ),
            Self::NoData => write!(f, "every value is `NODATA_value`: there is nothing to compute"),
            Self::Memory { cells } => {
                write!(f, "there is no memory for {cells} cells: cut the grid into smaller ones")
            }
        }
    }
}
