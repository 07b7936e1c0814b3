//! The values that follow the header.

use super::error::{HIGHEST, ParseError, Problem};
use super::header::Header;
use super::{Lines, Place, Token};

/// The row that is being read, if a line has ended inside it.
struct Open {
    /// Where the row's first value stands.
    start: Place,
    /// How many values there are on the line where the row starts, those of rows before it included.
    on_first_line: usize,
    /// Where that line ends.
    end_of_first_line: Place,
    /// How many lines hold a part of the row.
    lines: usize,
}

/// Reads `header.rows * header.columns` values, NaN for those that stand for missing data.
pub(super) fn read(header: &Header, mut lines: Lines<'_>) -> Result<Vec<f32>, ParseError> {
    let (columns, cells) = (header.columns, header.rows * header.columns);
    let mut values: Vec<f32> = Vec::new();
    if values.try_reserve_exact(cells).is_err() {
        return Err(lines.place().error(Problem::Memory { cells }));
    }
    let mut open: Option<Open> = None;
    let mut end = lines.place();
    for line in &mut lines {
        let before = values.len();
        let mut row_start = None;
        for token in line.tokens() {
            if values.len().is_multiple_of(columns) {
                if let Some(open) = open.as_ref().filter(|_| values.len() > before) {
                    return Err(misplaced(open, values.len() / columns, columns, token));
                }
                row_start = Some(token.place);
            }
            if values.len() == cells {
                return Err(token.error(Problem::Extra { cells }));
            }
            values.push(value(token, header.no_data)?);
        }
        let here = values.len() - before;
        if here == 0 {
            continue;
        }
        end = line.end();
        open = match (open, row_start) {
            _ if values.len().is_multiple_of(columns) => None,
            (None, Some(start)) => {
                Some(Open { start, on_first_line: here, end_of_first_line: end, lines: 1 })
            }
            (open, _) => open.map(|open| Open { lines: open.lines + 1, ..open }),
        };
    }
    if values.len() < cells {
        return Err(end.error(Problem::Ends { found: values.len(), cells }));
    }
    if values.iter().all(|value| value.is_nan()) {
        return Err(end.error(Problem::NoData));
    }
    Ok(values)
}

/// The error for a row that began on an earlier line and is followed by `token` on its last.
fn misplaced(open: &Open, row: usize, columns: usize, token: Token<'_>) -> ParseError {
    if open.lines > 1 {
        return token.error(Problem::RowEndsInside { row, columns });
    }
    // Two lines hold the row and more: the first of them was meant to end with a row, and does not.
    let found = open.on_first_line;
    let place = if found > columns { open.start } else { open.end_of_first_line };
    place.error(Problem::LineLength { found, columns })
}

fn value(token: Token<'_>, no_data: f64) -> Result<f32, ParseError> {
    let number =
        token.number().ok_or_else(|| token.error(Problem::NotANumber { found: token.shown() }))?;
    #[expect(clippy::float_cmp, reason = "missing data is marked by one exact value")]
    if number == no_data || (number.is_nan() && no_data.is_nan()) {
        return Ok(f32::NAN);
    }
    if !number.is_finite() {
        return Err(token.error(Problem::NotFinite { found: token.shown() }));
    }
    if number.abs() > HIGHEST {
        return Err(token.error(Problem::NoElevation { found: token.shown() }));
    }
    Ok(number as f32)
}
