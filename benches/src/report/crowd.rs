//! What is shown of loops on far more seats than CPUs.

use std::path::Path;

use anyhow::Result;

use super::records::Run;
use super::table::{self, Style, digits, time};
use crate::conductor::Crowded;

/// Prints the table; writes it into `folder`, if one is given.
pub(crate) fn show(
    command: &str,
    (few, many): (usize, usize),
    found: &[Crowded],
    folder: Option<&Path>,
) -> Result<()> {
    let (on_few, on_many) = (format!("{few} seats"), format!("{many} seats"));
    let head = ["loop", "run by", on_few.as_str(), on_many.as_str(), "multiple [95 %]"];
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|found| {
            let factor = found.factor;
            vec![
                found.what.to_owned(),
                found.peer.to_owned(),
                time(found.few.value),
                time(found.many.value),
                format!(
                    "{} [{}, {}]",
                    digits(factor.value),
                    digits(factor.low),
                    digits(factor.high)
                ),
            ]
        })
        .collect();
    println!("{}", table::plain(Style::Terminal, &head, &rows));
    let Some(folder) = folder else { return Ok(()) };
    let run = Run::here();
    let page = format!(
        "# More seats than CPUs\n\nMade by `{command}`; [how it measures](../measurements.md). {}, {} CPUs, kernel {}. Each loop on {few} \
         seats and on {many}: medians, and the median of paired ratios.\n\n{}\n",
        run.machine,
        run.cpus,
        run.kernel,
        table::plain(Style::Markdown, &head, &rows),
    );
    super::save(&folder.join("crowd.md"), page.as_bytes())
}
