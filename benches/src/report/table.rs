//! The tables, for a terminal and for a page.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use super::demands::{Demand, Row, Verdict};
use super::summary::{Arm, LineSummary, Summary};
use crate::arm::{SHARES, Spread};
use crate::peers::Entry;
use crate::stats::Estimate;

/// Where a table is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Terminal,
    Markdown,
}

impl Style {
    fn table(self, header: &[&str]) -> Table {
        let mut table = Table::new();
        let preset = match self {
            Self::Terminal => presets::UTF8_FULL_CONDENSED,
            Self::Markdown => presets::ASCII_MARKDOWN,
        };
        table.load_style(preset).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(header.iter().map(Cell::new));
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }

    fn strong(self, text: String) -> Cell {
        match self {
            Self::Terminal => Cell::new(text),
            Self::Markdown => Cell::new(format!("**{text}**")),
        }
    }
}

/// A table with this head and these rows, whose first column is words.
pub(crate) fn plain(style: Style, head: &[&str], rows: &[Vec<String>]) -> Table {
    let mut table = style.table(head);
    for row in rows {
        table.add_row(row.iter().map(Cell::new));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A time with three digits and a unit.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Three digits.
pub(crate) fn digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

fn with_interval(estimate: &Estimate) -> String {
    format!("{} [{}, {}]", digits(estimate.value), digits(estimate.low), digits(estimate.high))
}

/// One row a line: who is fastest, and where the plain loop, rayon and locsteal stand.
pub(crate) fn overview(summary: &Summary, style: Style) -> Table {
    let mut table = style.table(&[
        "line",
        "fastest peer",
        "its time",
        "serial",
        "rayon",
        "locsteal",
        "locsteal / fastest peer",
        "floor",
        "noise",
        "others' load",
    ]);
    for line in &summary.lines {
        let time_of = |arm: Option<&Arm>| arm.map_or_else(String::new, |arm| time(arm.time.value));
        let ours = line.fastest(Arm::is_ours);
        let theirs = line.fastest(|arm| !arm.is_ours());
        let compared = match (ours, theirs) {
            (Some(ours), Some(theirs)) => ours.against(theirs),
            _ => None,
        };
        let compared = compared.map_or_else(String::new, |ratio| digits(ratio.value));
        let noise = line
            .control()
            .map_or_else(String::new, |arm| format!("{:+.1} %", 100.0 * (arm.ratio.value - 1.0)));
        table.add_row(vec![
            Cell::new(line.line.name),
            Cell::new(theirs.map_or("", |arm| &arm.peer)),
            Cell::new(time_of(theirs)),
            Cell::new(time_of(line.arm("serial"))),
            Cell::new(time_of(line.arm("rayon"))),
            style.strong(ours.map_or_else(String::new, |arm| {
                format!("{} ({})", time(arm.time.value), arm.peer)
            })),
            Cell::new(compared),
            Cell::new(time_of(line.arm("floor"))),
            Cell::new(noise),
            Cell::new(line.others.map_or_else(String::new, |o| format!("{:.0} %", 100.0 * o))),
        ]);
    }
    table
}

/// A demand, one row a line (or arm); what is not kept stands out.
pub(crate) fn of_demand(demand: &Demand, style: Style) -> Table {
    let ratio = format!("ratio [95 %], at most {}", demand.bound);
    let mut table = style.table(&["line", "locsteal", "against", &ratio, "verdict"]);
    for Row { line, ours, other, ratio, verdict, disturbed } in &demand.rows {
        let arm = |(name, ns): &(String, f64)| Cell::new(format!("{name}: {}", time(*ns)));
        let words = format!("{}{}", verdict.words(), if *disturbed { " (disturbed)" } else { "" });
        table.add_row(vec![
            Cell::new(line),
            arm(ours),
            arm(other),
            Cell::new(with_interval(ratio)),
            if *verdict == Verdict::Fails { style.strong(words) } else { Cell::new(words) },
        ]);
    }
    table
}

/// How single operations scatter, one row a peer.
pub(crate) fn of_spreads(spreads: &[(&Entry, Result<Spread, String>)]) -> Table {
    let mut header = vec!["peer".to_owned()];
    header.extend(SHARES.map(|share| match share {
        share if share >= 1.0 => "most".to_owned(),
        share => format!("{} %", 100.0 * share),
    }));
    header.extend(["CPU time", "sleeps", "preemptions"].map(str::to_owned));
    let mut table = Style::Terminal.table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for (entry, spread) in spreads {
        let Ok(spread) = spread else { continue };
        let mut row = vec![entry.name.to_owned()];
        row.extend(spread.ns.map(time));
        row.extend([time(spread.cpu_ns), digits(spread.sleeps), digits(spread.preemptions)]);
        table.add_row(row);
    }
    table
}

/// All arms of a line, fastest first.
pub(crate) fn of_line(line: &LineSummary, base: &str, style: Style) -> Table {
    let of_base = format!("of {base} [95 %]");
    let mut table = style.table(&["peer", "time", &of_base, "CPUs busy"]);
    let fastest = line.fastest(|_| true).map(Arm::label);
    for arm in &line.arms {
        let label = arm.label();
        table.add_row(vec![
            if Some(&label) == fastest.as_ref() { style.strong(label) } else { Cell::new(label) },
            Cell::new(time(arm.time.value)),
            Cell::new(with_interval(&arm.ratio)),
            Cell::new(arm.cpus.map_or_else(String::new, digits)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        for (ns, text) in [
            (8.0, "8.00 ns"),
            (123.4, "123 ns"),
            (1_234.0, "1.23 us"),
            (45_600.0, "45.6 us"),
            (9_999_999.0, "10.0 ms"),
            (2.5e9, "2.50 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
