//! Tables in Markdown, aligned so that they read well as they are.

use std::fmt;

pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        Self { rows: vec![heads.map(Into::into).into()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        for (index, row) in self.rows.iter().enumerate() {
            for (column, cell) in row.iter().enumerate() {
                // Names to the left, numbers to the right.
                let width = width(column);
                if column == 0 {
                    write!(f, "| {cell:width$} ")?;
                } else {
                    write!(f, "| {cell:>width$} ")?;
                }
            }
            writeln!(f, "|")?;
            if index == 0 {
                for column in 0..row.len() {
                    let colon = if column == 0 { "-" } else { ":" };
                    write!(f, "| {}{colon} ", "-".repeat(width(column).max(2) - 1))?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Nanoseconds in a unit that reads well.
pub(crate) fn duration(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.2} µs", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["loop", "time"]);
        table.row(["axpy".into(), duration(1500.0)]);
        let lines = "| loop |    time |\n| ---- | ------: |\n| axpy | 1.50 µs |\n";
        assert_eq!(table.to_string(), lines);
    }
}
