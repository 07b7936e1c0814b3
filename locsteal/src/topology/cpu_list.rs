//! The kernel's text format for sets of CPUs and nodes, e.g. `0-3,8`.
//!
//! The grammar is that of the kernel's `bitmap_parselist`, less what no kernel file contains (the
//! words `all` and `N`, several numbers parted by white space alone, empty items):
//!
//! ```text
//! list  = [ item { "," item } ]
//! item  = first [ "-" last [ ":" used "/" group ] ]
//! ```
//!
//! `0-10:2/4` stands for the first 2 of each group of 4 ids: `0-1,4-5,8-9`. White space may stand
//! around the list and its items, as the line end at the end of a file does.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::CpuSet;

/// What is wrong with a text that should be a kernel CPU list, and where.
///
/// # Examples
///
/// ```
/// use locsteal::CpuSet;
///
/// let error = "0-3,x".parse::<CpuSet>().unwrap_err();
/// assert_eq!(error.position(), 4);
/// assert_eq!(error.to_string(), "byte 4 of the CPU list: expected a number, found 'x'");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseCpuListError {
    position: usize,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    Expected { what: &'static str, found: Option<char> },
    TooLarge,
    Reversed { first: usize, last: usize },
    BadStride { used: usize, group: usize },
}

impl ParseCpuListError {
    /// The offset in bytes, from the start of the text, of what is wrong.
    pub fn position(&self) -> usize {
        self.position
    }
}

impl fmt::Display for ParseCpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} of the CPU list: ", self.position)?;
        match self.problem {
            Problem::Expected { what, found: Some(found) } => {
                write!(f, "expected {what}, found {found:?}")
            }
            Problem::Expected { what, found: None } => {
                write!(f, "expected {what}, found the end")
            }
            Problem::TooLarge => write!(f, "the number is above {}", CpuSet::MAX_ID),
            Problem::Reversed { first, last } => {
                write!(f, "the range {first}-{last} is the wrong way round")
            }
            Problem::BadStride { used, group } => {
                write!(f, "a stride must use 1 or more of each group, up to all: {used}/{group}")
            }
        }
    }
}

impl Error for ParseCpuListError {}

/// Reads a kernel CPU list; the empty text and white space alone are the empty set.
impl FromStr for CpuSet {
    type Err = ParseCpuListError;

    fn from_str(text: &str) -> Result<Self, ParseCpuListError> {
        let mut list = List { text, position: 0 };
        let mut set = Self::new();
        list.skip_space();
        if list.peek().is_none() {
            return Ok(set);
        }
        loop {
            list.item(&mut set)?;
            list.skip_space();
            if list.peek().is_none() {
                return Ok(set);
            }
            list.expect(',', "',' or the end")?;
            list.skip_space();
        }
    }
}

struct List<'a> {
    text: &'a str,
    position: usize,
}

impl List<'_> {
    fn item(&mut self, set: &mut CpuSet) -> Result<(), ParseCpuListError> {
        let start = self.position;
        let first = self.number()?;
        if !self.skip('-') {
            set.insert(first);
            return Ok(());
        }
        let last = self.number()?;
        if last < first {
            return Err(at(start, Problem::Reversed { first, last }));
        }
        let (used, group) = self.stride()?;
        set.extend((first..=last).filter(|id| (id - first) % group < used));
        Ok(())
    }

    /// How many ids of each group are in: `(1, 1)`, all of them, where no stride is written.
    fn stride(&mut self) -> Result<(usize, usize), ParseCpuListError> {
        if !self.skip(':') {
            return Ok((1, 1));
        }
        let start = self.position;
        let used = self.number()?;
        self.expect('/', "'/'")?;
        let group = self.number()?;
        if used == 0 || used > group {
            return Err(at(start, Problem::BadStride { used, group }));
        }
        Ok((used, group))
    }

    fn number(&mut self) -> Result<usize, ParseCpuListError> {
        let start = self.position;
        let mut value = 0;
        while let Some(digit) = self.peek().and_then(|found| found.to_digit(10)) {
            value = value * 10 + digit as usize;
            if value > CpuSet::MAX_ID {
                return Err(at(start, Problem::TooLarge));
            }
            self.position += 1;
        }
        if self.position == start {
            return Err(self.unexpected("a number"));
        }
        Ok(value)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn skip(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.position += wanted.len_utf8();
        }
        found
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|found| found.is_ascii_whitespace()) {
            self.position += 1;
        }
    }

    fn expect(&mut self, wanted: char, what: &'static str) -> Result<(), ParseCpuListError> {
        if self.skip(wanted) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    fn unexpected(&self, what: &'static str) -> ParseCpuListError {
        at(self.position, Problem::Expected { what, found: self.peek() })
    }
}

fn at(position: usize, problem: Problem) -> ParseCpuListError {
    ParseCpuListError { position, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_kernels_write() {
        for (text, ids) in [
            ("", &[][..]),
            ("\n", &[]),
            ("  ", &[]),
            ("0", &[0]),
            ("3\n", &[3]),
            ("0-0", &[0]),
            ("0,2", &[0, 2]),
            ("0-1,3", &[0, 1, 3]),
            ("0-1,3\n", &[0, 1, 3]),
            (" 0-1, 3 ,7\n", &[0, 1, 3, 7]),
            ("1,63-65,1500", &[1, 63, 64, 65, 1500]),
            ("65535", &[65_535]),
            ("007", &[7]),
            ("3,1-2,2", &[1, 2, 3]),
            ("0-10:2/4", &[0, 1, 4, 5, 8, 9]),
            ("5-9:1/2,20", &[5, 7, 9, 20]),
            ("0-3:4/4", &[0, 1, 2, 3]),
        ] {
            let set: CpuSet = text.parse().unwrap();
            assert_eq!(set.iter().collect::<Vec<_>>(), ids, "{text:?}");
        }
    }

    #[test]
    fn what_it_prints_it_reads() {
        for text in ["", "0", "0-3,8", "1,63-65,1500,65535"] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses_the_rest_and_says_where() {
        for (text, position, words) in [
            ("3-1", 0, "the range 3-1 is the wrong way round"),
            ("0,9-8\n", 2, "the range 9-8 is the wrong way round"),
            ("65536", 0, "the number is above 65535"),
            ("0-65536", 2, "the number is above 65535"),
            ("0,99999999999999999999999999", 2, "the number is above 65535"),
            ("-1", 0, "expected a number, found '-'"),
            ("0-", 2, "expected a number, found the end"),
            ("0-\n", 2, "expected a number, found '\\n'"),
            ("0,", 2, "expected a number, found the end"),
            (",0", 0, "expected a number, found ','"),
            ("0,,1", 2, "expected a number, found ','"),
            ("0-3,x", 4, "expected a number, found 'x'"),
            ("0x3", 1, "expected ',' or the end, found 'x'"),
            ("0 1", 2, "expected ',' or the end, found '1'"),
            ("0 - 1", 2, "expected ',' or the end, found '-'"),
            ("0-1-2", 3, "expected ',' or the end, found '-'"),
            ("0\0", 1, "expected ',' or the end, found '\\0'"),
            ("0,\u{664}", 2, "expected a number, found '\u{664}'"),
            ("none", 0, "expected a number, found 'n'"),
            ("3:1/2", 1, "expected ',' or the end, found ':'"),
            ("0-9:2", 5, "expected '/', found the end"),
            ("0-9:/4", 4, "expected a number, found '/'"),
            ("0-9:0/4", 4, "a stride must use 1 or more of each group, up to all: 0/4"),
            ("0-9:5/4", 4, "a stride must use 1 or more of each group, up to all: 5/4"),
            ("0-9:0/0", 4, "a stride must use 1 or more of each group, up to all: 0/0"),
        ] {
            let error = text.parse::<CpuSet>().unwrap_err();
            assert_eq!(error.position(), position, "{text:?}: {error}");
            assert_eq!(error.to_string(), format!("byte {position} of the CPU list: {words}"));
        }
    }
}
