//! One panel a line: every arm's time on a logarithmic axis, fastest at the top, with its interval.

use anyhow::Result;

use super::canvas::{Anchor, BLACK, Canvas, GREY, IDEAL, LogScale, OURS, PALE, svg};
use crate::lines::Group;
use crate::report::summary::{Arm, LineSummary};
use crate::report::table::time;
use crate::stats::Estimate;

const ROW: i32 = 17;
const PANEL_WIDTH: i32 = 620;
const LABELS: i32 = 150;
const TIMES: i32 = 70;
const HEAD: i32 = 52;
const FOOT: i32 = 34;
const COLUMNS: usize = 2;

pub(super) fn draw(group: Group, lines: &[&LineSummary], width: usize) -> Result<String> {
    let heights: Vec<i32> = lines
        .chunks(COLUMNS)
        .map(|row| row.iter().map(|line| height(line)).max().unwrap_or(0))
        .collect();
    let columns = COLUMNS.min(lines.len()) as i32;
    let size = (PANEL_WIDTH * columns, 34 + heights.iter().sum::<i32>());
    svg(size, |canvas| {
        canvas.text((12, 18), 18, BLACK, Anchor::Left, group.title())?;
        let mut y = 34;
        for (row, height) in lines.chunks(COLUMNS).zip(&heights) {
            for (k, line) in row.iter().enumerate() {
                panel(canvas, (PANEL_WIDTH * k as i32, y), line, width)?;
            }
            y += height;
        }
        Ok(())
    })
}

fn height(line: &LineSummary) -> i32 {
    HEAD + ROW * line.arms.len() as i32 + FOOT
}

fn panel(canvas: &Canvas<'_>, (x, y): (i32, i32), line: &LineSummary, width: usize) -> Result<()> {
    canvas.text((x + 12, y + 14), 14, BLACK, Anchor::Left, line.line.name)?;
    canvas.text((x + 12, y + 31), 12, GREY, Anchor::Left, line.line.what)?;
    let (top, bottom) = (y + HEAD, y + HEAD + ROW * line.arms.len() as i32);
    let ends = line.arms.iter().flat_map(|arm| [arm.time.low, arm.time.high]);
    let ideal = ideal(line, width);
    let scale = LogScale::over(ends.chain(ideal), (x + LABELS, x + PANEL_WIDTH - TIMES - 16));
    for tick in scale.ticks() {
        canvas.path(vec![(scale.at(tick), top), (scale.at(tick), bottom)], PALE, 1)?;
        let label = time(tick).replace(".00", "").replace(".0 ", " ");
        canvas.text((scale.at(tick), bottom + 10), 11, GREY, Anchor::Middle, &label)?;
    }
    if let Some(ideal) = ideal {
        canvas.dashes(scale.at(ideal), top - 4, bottom, IDEAL)?;
        let label = format!("serial / {width}");
        canvas.text((scale.at(ideal), top - 9), 11, IDEAL, Anchor::Middle, &label)?;
    }
    let mut arms: Vec<&Arm> = line.arms.iter().collect();
    arms.sort_by(|a, b| a.time.value.total_cmp(&b.time.value));
    for (k, arm) in arms.into_iter().enumerate() {
        row(canvas, (x, top + ROW * k as i32 + ROW / 2), arm, &scale)?;
    }
    Ok(())
}

/// What perfect use of all seats would take, on lines where one caller's loop could be shared by all of them.
fn ideal(line: &LineSummary, width: usize) -> Option<f64> {
    let shared = !line.line.is_offload()
        && line.line.callers == 1
        && !line.line.neighbour.is_measured()
        && line.line.group != Group::Launch;
    let serial = line.arm("serial").filter(|_| shared && width > 1)?;
    Some(serial.time.value / width as f64)
}

fn row(canvas: &Canvas<'_>, (x, y): (i32, i32), arm: &Arm, scale: &LogScale) -> Result<()> {
    let color = match () {
        () if arm.is_ours() => OURS,
        () if arm.is_library() => BLACK,
        () => GREY,
    };
    canvas.text((x + LABELS - 10, y), 12, color, Anchor::Right, &arm.label())?;
    let Estimate { value, low, high } = arm.time;
    canvas.path(vec![(scale.at(low), y), (scale.at(high), y)], color, 2)?;
    canvas.dot((scale.at(value), y), if arm.is_ours() { 6 } else { 4 }, color)?;
    canvas.text((x + PANEL_WIDTH - 16, y), 12, color, Anchor::Right, &time(value))
}
