//! The header: which keys it has, and what they mean.

use std::fmt;

use super::error::{CELL_SIZES, ParseError, Problem};
use super::{Lines, MAX_CELLS, Place, Token};

/// What `NODATA_value` is when the header does not say.
const DEFAULT_NO_DATA: f64 = -9999.0;

/// A key of the header. Upper and lower case are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Columns,
    Rows,
    WestCorner,
    SouthCorner,
    WestCentre,
    SouthCentre,
    CellSize,
    NoData,
}

impl Key {
    pub(super) const ALL: [Self; 8] = [
        Self::Columns,
        Self::Rows,
        Self::WestCorner,
        Self::SouthCorner,
        Self::WestCentre,
        Self::SouthCentre,
        Self::CellSize,
        Self::NoData,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Columns => "ncols",
            Self::Rows => "nrows",
            Self::WestCorner => "xllcorner",
            Self::SouthCorner => "yllcorner",
            Self::WestCentre => "xllcenter",
            Self::SouthCentre => "yllcenter",
            Self::CellSize => "cellsize",
            Self::NoData => "NODATA_value",
        }
    }

    fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|key| name.eq_ignore_ascii_case(key.name().as_bytes()))
    }

    /// The key that says the same of the same axis in the other way.
    fn rival(self) -> Option<Self> {
        match self {
            Self::WestCorner => Some(Self::WestCentre),
            Self::WestCentre => Some(Self::WestCorner),
            Self::SouthCorner => Some(Self::SouthCentre),
            Self::SouthCentre => Some(Self::SouthCorner),
            _ => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the header says.
pub(super) struct Header {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) west: f64,
    pub(super) south: f64,
    pub(super) cell_size: f64,
    /// The value that stands for missing data; may be NaN.
    pub(super) no_data: f64,
}

/// Reads the header, and gives it with the lines that follow.
pub(super) fn read(text: &[u8]) -> Result<(Header, Lines<'_>), ParseError> {
    let mut entries = Entries::default();
    let mut lines = Lines::new(text);
    loop {
        let before = lines.clone();
        let Some(line) = lines.next() else {
            return Ok((entries.header(text.len(), before.place())?, before));
        };
        let mut tokens = line.tokens();
        let Some(first) = tokens.next() else { continue };
        let Some(key) = Key::named(first.bytes) else {
            if first.number().is_none() {
                return Err(first.error(Problem::NeitherKeyNorNumber { found: first.shown() }));
            }
            return Ok((entries.header(text.len(), first.place)?, before));
        };
        entries.add(key, first.place)?;
        let value = tokens.next().ok_or_else(|| line.end().error(Problem::NoValue { key }))?;
        if let Some(extra) = tokens.next() {
            return Err(extra.error(Problem::AfterValue { key, found: extra.shown() }));
        }
        entries.0[key as usize] = Some(value);
    }
}

/// The value of each key that has been given.
#[derive(Default)]
struct Entries<'a>([Option<Token<'a>>; Key::ALL.len()]);

impl<'a> Entries<'a> {
    fn get(&self, key: Key) -> Option<Token<'a>> {
        self.0[key as usize]
    }

    /// Says that `key` stands at `place`.
    fn add(&self, key: Key, place: Place) -> Result<(), ParseError> {
        if let Some(first) = self.get(key) {
            let first_line = first.place.line;
            return Err(place.error(Problem::Doubled { key, first_line }));
        }
        if let Some((other, first)) = key.rival().and_then(|other| Some((other, self.get(other)?)))
        {
            let first_line = first.place.line;
            return Err(place.error(Problem::TwoOrigins { key, other, first_line }));
        }
        Ok(())
    }

    /// What the entries say of a file of `bytes` bytes, whose header ends at `end`.
    fn header(&self, bytes: usize, end: Place) -> Result<Header, ParseError> {
        let west = self.axis(Key::WestCorner, Key::WestCentre);
        let south = self.axis(Key::SouthCorner, Key::SouthCentre);
        let (Some(columns), Some(rows), Some(west), Some(south), Some(cell_size)) =
            (self.get(Key::Columns), self.get(Key::Rows), west, south, self.get(Key::CellSize))
        else {
            let given = [
                self.get(Key::Columns).is_some(),
                self.get(Key::Rows).is_some(),
                west.is_some(),
                south.is_some(),
                self.get(Key::CellSize).is_some(),
            ];
            let names = ["ncols", "nrows", "xllcorner", "yllcorner", "cellsize"];
            let missing = names.into_iter().zip(given).filter(|(_, given)| !given);
            return Err(
                end.error(Problem::Missing { keys: missing.map(|(name, _)| name).collect() })
            );
        };
        if (west.0 == Key::WestCorner) != (south.0 == Key::SouthCorner) {
            let (key, other) = (south.0, west.0);
            return Err(south.1.error(Problem::MixedOrigins { key, other }));
        }

        // Both are at most MAX_CELLS, so the product fits.
        let cells = count(Key::Columns, columns)? * count(Key::Rows, rows)?;
        if cells > MAX_CELLS {
            return Err(rows.error(Problem::TooManyCells { cells }));
        }
        // A value is one digit and one separator at least; the last one needs no separator.
        if 2 * cells - 1 > bytes as u64 {
            return Err(rows.error(Problem::FileTooShort { cells, bytes }));
        }

        let size = cell_size.number().filter(|size| CELL_SIZES.contains(size));
        let cell_size =
            size.ok_or_else(|| cell_size.error(Problem::CellSize { found: cell_size.shown() }))?;
        let edge = |(key, token)| {
            let centred = matches!(key, Key::WestCentre | Key::SouthCentre);
            Ok(position(key, token)? - if centred { cell_size / 2.0 } else { 0.0 })
        };
        let no_data = match self.get(Key::NoData) {
            None => DEFAULT_NO_DATA,
            Some(token) => token.number().ok_or_else(|| {
                token.error(Problem::NotAPosition { key: Key::NoData, found: token.shown() })
            })?,
        };
        Ok(Header {
            rows: count(Key::Rows, rows)? as usize,
            columns: count(Key::Columns, columns)? as usize,
            west: edge(west)?,
            south: edge(south)?,
            cell_size,
            no_data,
        })
    }

    /// Where the grid begins on one axis; [`Entries::add`] has seen to it that only one of the two keys is given.
    fn axis(&self, corner: Key, centre: Key) -> Option<(Key, Token<'a>)> {
        let given = |key| Some((key, self.get(key)?));
        given(corner).or_else(|| given(centre))
    }
}

fn count(key: Key, token: Token<'_>) -> Result<u64, ParseError> {
    std::str::from_utf8(token.bytes)
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|count| (1..=MAX_CELLS).contains(count))
        .ok_or_else(|| token.error(Problem::NotACount { key, found: token.shown() }))
}

fn position(key: Key, token: Token<'_>) -> Result<f64, ParseError> {
    token
        .number()
        .filter(|number| number.is_finite())
        .ok_or_else(|| token.error(Problem::NotAPosition { key, found: token.shown() }))
}
