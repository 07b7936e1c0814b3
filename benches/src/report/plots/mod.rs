//! The plots. Each says in its title and labels what is seen; the page adds nothing that is needed to read them.

mod canvas;
mod colors;
mod idle;
mod lengths;
mod overview;
mod panels;

use anyhow::Result;

pub(super) use idle::draw as idle;

use super::summary::Summary;
use crate::lines::Group;

/// File names and their content.
pub(super) fn all(summary: &Summary) -> Result<Vec<(String, String)>> {
    let mut files = vec![("overview.svg".to_owned(), overview::draw(summary)?)];
    for group in Group::ALL {
        let lines: Vec<_> = summary.lines.iter().filter(|l| l.line.group == group).collect();
        if !lines.is_empty() {
            let svg = panels::draw(group, &lines, summary.run.width)?;
            files.push((format!("{}.svg", group.file()), svg));
        }
    }
    if let Some(svg) = lengths::draw(summary) {
        files.push((LENGTHS.to_owned(), svg?));
    }
    Ok(files)
}

/// Speed-up by length; it is there only if at least two lengths were measured.
pub(super) const LENGTHS: &str = "axpy.svg";
