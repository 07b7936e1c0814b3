//! Reads an Esri ASCII grid.
//!
//! The format is [documented by Esri](https://desktop.arcgis.com/en/arcmap/latest/manage-data/raster-and-images/esri-ascii-raster-format.htm):
//! a header of key and value pairs, one pair a line, then the values row after row, the northernmost row first. The
//! format counts values and does not care where lines end. So that a lost value is found where it was lost, and does
//! not shift the rest of the grid, this reader asks for a little more:
//!
//! - a line may hold one row (the usual case) or several;
//! - a row may be wrapped over several lines, but then the next row starts on a line of its own.

mod error;
mod header;
#[cfg(test)]
mod tests;
mod values;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub(crate) use error::{ParseError, Problem, ReadError};

/// The most cells that a grid may have: every cell costs some 25 bytes while the program runs.
pub(crate) const MAX_CELLS: u64 = 1 << 27;

/// The longest file that is read, in bytes: 32 for each cell of the largest grid.
const MAX_BYTES: u64 = 32 * MAX_CELLS;

/// What the file holds, in the file's own units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Raster {
    /// At least 1.
    pub(crate) rows: usize,
    /// At least 1.
    pub(crate) columns: usize,
    /// The west edge of the westernmost cells.
    pub(crate) west: f64,
    /// The south edge of the southernmost cells.
    pub(crate) south: f64,
    /// Width and height of a cell; positive.
    pub(crate) cell_size: f64,
    /// `rows * columns` values, the northernmost row first, each row from west to east; NaN where there is no data.
    pub(crate) values: Vec<f32>,
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Raster, ReadError> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(ReadError::TooLong { limit: MAX_BYTES });
    }
    Ok(parse(&text)?)
}

/// Reads a file's text.
pub(crate) fn parse(text: &[u8]) -> Result<Raster, ParseError> {
    const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let (header, rest) = header::read(text)?;
    let values = values::read(&header, rest)?;
    let header::Header { rows, columns, west, south, cell_size, .. } = header;
    Ok(Raster { rows, columns, west, south, cell_size, values })
}

/// A place in the text; both count from 1, columns in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    fn error(self, problem: Problem) -> ParseError {
        ParseError { line: self.line, column: self.column, problem }
    }
}

/// A run of characters that are not white space, and where it stands.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    place: Place,
    bytes: &'a [u8],
}

impl Token<'_> {
    /// The number that the token spells, which may be infinite or NaN.
    fn number(&self) -> Option<f64> {
        std::str::from_utf8(self.bytes).ok()?.parse().ok()
    }

    /// The token as it is shown in an error: short, and without control characters.
    fn shown(&self) -> String {
        const LONGEST: usize = 24;
        let text = String::from_utf8_lossy(self.bytes);
        let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
        if text.chars().nth(LONGEST).is_some() {
            shown.push('…');
        }
        shown
    }

    fn error(&self, problem: Problem) -> ParseError {
        self.place.error(problem)
    }
}

/// The lines of a text. Each can be looked at before it is taken.
#[derive(Clone, Debug)]
struct Lines<'a> {
    /// What follows the lines taken so far.
    rest: &'a [u8],
    taken: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { rest: text, taken: 0 }
    }

    /// Where a reader stands who has taken all lines so far and looks for one more.
    fn place(&self) -> Place {
        Place { line: self.taken + 1, column: 1 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len());
        let bytes = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        self.taken += 1;
        Some(Line { number: self.taken, bytes })
    }
}

/// A line without its end. The carriage return of `\r\n` is white space like any other.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    number: usize,
    bytes: &'a [u8],
}

impl<'a> Line<'a> {
    fn tokens(self) -> impl Iterator<Item = Token<'a>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at + self.bytes[at..].iter().position(|b| !b.is_ascii_whitespace())?;
            let length = self.bytes[start..]
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(self.bytes.len() - start);
            at = start + length;
            let place = Place { line: self.number, column: start + 1 };
            Some(Token { place, bytes: &self.bytes[start..at] })
        })
    }

    /// The place after the last token.
    fn end(self) -> Place {
        let length = self.bytes.trim_ascii_end().len();
        Place { line: self.number, column: length + 1 }
    }
}
