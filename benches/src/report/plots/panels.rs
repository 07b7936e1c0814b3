//! One panel a line: every arm's time on a logarithmic axis, fastest at the top, with its interval.

use anyhow::Result;

use super::canvas::{Anchor, BLACK, Canvas, GREY, IDEAL, LogScale, OURS_PALE, PALE, svg};
use super::colors;
use crate::lines::Group;
use crate::report::summary::{Arm, LineSummary};
use crate::report::table::time;
use crate::stats::Estimate;

const ROW: i32 = 17;
const PANEL_WIDTH: i32 = 620;
const LABELS: i32 = 150;
const TIMES: i32 = 70;
const HEAD: i32 = 58;
const FOOT: i32 = 44;
/// The sheet's title and what is to be known to read it.
const TITLE: i32 = 56;
const COLUMNS: usize = 2;

pub(super) fn draw(group: Group, lines: &[&LineSummary], width: usize) -> Result<String> {
    let heights: Vec<i32> = lines
        .chunks(COLUMNS)
        .map(|row| row.iter().map(|line| height(line)).max().unwrap_or(0))
        .collect();
    let columns = COLUMNS.min(lines.len()) as i32;
    let size = (PANEL_WIDTH * columns, TITLE + heights.iter().sum::<i32>());
    svg(size, |canvas| {
        let title = format!("{}: less time is better (further left, higher up)", group.title());
        canvas.bold((12, 18), 17, BLACK, Anchor::Left, &title)?;
        let reading = "Dot: median time of one operation; bar: where it lies with 95 % confidence; a colour for each library; \
                       grey: no library.";
        canvas.text((12, 38), 12, GREY, Anchor::Left, reading)?;
        let mut y = TITLE;
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
    canvas.bold((x + 12, y + 14), 14, BLACK, Anchor::Left, line.line.name)?;
    canvas.text((x + 12, y + 31), 12, GREY, Anchor::Left, line.line.what)?;
    let (top, bottom) = (y + HEAD, y + HEAD + ROW * line.arms.len() as i32);
    let ends = line.arms.iter().flat_map(|arm| [arm.time.low, arm.time.high]);
    let ideal = ideal(line, width);
    let scale = LogScale::over(ends.chain(ideal), (x + LABELS, x + PANEL_WIDTH - TIMES - 16));
    let mut arms: Vec<&Arm> = line.arms.iter().collect();
    arms.sort_by(|a, b| a.time.value.total_cmp(&b.time.value));
    let middle = |k: usize| top + ROW * k as i32 + ROW / 2;
    for (k, _) in arms.iter().enumerate().filter(|(_, arm)| arm.is_ours()) {
        let edge = middle(k) - ROW / 2;
        canvas.rectangle((x + 8, edge), (x + PANEL_WIDTH - 10, edge + ROW), OURS_PALE)?;
    }
    for tick in scale.ticks() {
        canvas.path(vec![(scale.at(tick), top), (scale.at(tick), bottom)], PALE, 1)?;
        canvas.text((scale.at(tick), bottom + 10), 11, GREY, Anchor::Middle, &round(tick))?;
    }
    let axis = (x + LABELS + (PANEL_WIDTH - LABELS - TIMES) / 2, bottom + 25);
    let what = if line.line.neighbour.is_measured() {
        "time of the other process's unit of work (logarithmic)"
    } else {
        "time of one operation (logarithmic)"
    };
    canvas.text(axis, 11, GREY, Anchor::Middle, what)?;
    if let Some(ideal) = ideal {
        canvas.dashes(scale.at(ideal), top - 4, bottom, IDEAL)?;
        let label = format!("plain loop / {width}");
        let (at, anchor) = match scale.at(ideal) - x - LABELS {
            near if near < 50 => (scale.at(ideal) - 4, Anchor::Left),
            _ => (scale.at(ideal), Anchor::Middle),
        };
        canvas.text((at, top - 9), 11, IDEAL, anchor, &label)?;
    }
    for (k, arm) in arms.into_iter().enumerate() {
        row(canvas, (x, middle(k)), arm, &scale)?;
    }
    Ok(())
}

/// A round time as short as it can be written.
fn round(ns: f64) -> String {
    let text = time(ns);
    let (digits, unit) = text.split_once(' ').expect("times have units");
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    format!("{digits} {unit}")
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
    let color = colors::of_peer(&arm.peer);
    let at = (x + LABELS - 10, y);
    if arm.is_ours() {
        canvas.bold(at, 12, color, Anchor::Right, &arm.label())?;
    } else {
        canvas.text(at, 12, color, Anchor::Right, &arm.label())?;
    }
    let Estimate { value, low, high } = arm.time;
    canvas.path(vec![(scale.at(low), y), (scale.at(high), y)], color, 2)?;
    canvas.dot((scale.at(value), y), if arm.is_ours() { 6 } else { 4 }, color)?;
    canvas.text((x + PANEL_WIDTH - 16, y), 12, color, Anchor::Right, &time(value))
}
