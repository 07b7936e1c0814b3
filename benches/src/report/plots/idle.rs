//! What pools do between loops: the time of the first loop after a pause, and the CPU time burnt in the pause.

use std::time::Duration;

use anyhow::Result;
use plotters::style::RGBColor;

use super::canvas::{Anchor, BLACK, Canvas, GREY, LogScale, PALE, svg};
use super::colors;
use crate::conductor::Idle;
use crate::report::idle::pause;
use crate::report::table::time;

const PANEL: i32 = 660;
const TOP: i32 = 92;
const BOTTOM: i32 = 420;
const LEFT: i32 = 80;
const RIGHT: i32 = 450;

pub(crate) fn draw(gaps: &[Duration], found: &[Idle]) -> Result<String> {
    svg((2 * PANEL, BOTTOM + 64), |canvas| {
        let title = "Between loops: what a pause costs the next loop, and what waiting costs the machine (lower is better)";
        canvas.bold((12, 18), 17, BLACK, Anchor::Left, title)?;
        let first = found.iter().flat_map(|idle| idle.gaps.iter().map(|gapped| gapped.ns));
        let up = LogScale::over(first, (BOTTOM, TOP));
        let ticks =
            up.ticks().into_iter().map(|tick| (up.at(tick), time(tick))).collect::<Vec<_>>();
        let title = "Time of the first loop after the pause (y[i] += a * x[i], 100,000 elements)";
        panel(canvas, 0, title, gaps, found, &ticks, &|idle, g| up.at(idle.gaps[g].ns))?;
        let height =
            |share: f64| BOTTOM - (share.clamp(0.0, 1.1) / 1.1 * f64::from(BOTTOM - TOP)) as i32;
        let ticks =
            [0, 25, 50, 75, 100].map(|tick| (height(f64::from(tick) / 100.0), format!("{tick} %")));
        let title = "CPU time that the pool burns in the pause, in percent of a CPU";
        panel(canvas, PANEL, title, gaps, found, &ticks, &|idle, g| height(idle.gaps[g].burnt))
    })
}

/// The colour of a curve: ours in shades, the longer it spins the darker.
fn color(found: &[Idle], k: usize) -> RGBColor {
    let ours = |idle: &Idle| idle.label.starts_with("locsteal");
    if found[k].label == "serial" {
        return BLACK;
    }
    if !ours(&found[k]) {
        return colors::of_peer(&found[k].label);
    }
    let before = found[..k].iter().filter(|idle| ours(idle)).count();
    let shades =
        [(150, 205, 255), (110, 175, 245), (60, 135, 220), (0, 87, 184), (0, 55, 130), (0, 25, 75)];
    let (r, g, b) = shades[before.min(shades.len() - 1)];
    RGBColor(r, g, b)
}

fn panel(
    canvas: &Canvas<'_>,
    x: i32,
    title: &str,
    gaps: &[Duration],
    found: &[Idle],
    ticks: &[(i32, String)],
    at: &dyn Fn(&Idle, usize) -> i32,
) -> Result<()> {
    canvas.bold((x + 12, 56), 13, BLACK, Anchor::Left, title)?;
    let (left, right) = (x + LEFT, x + RIGHT);
    for (y, label) in ticks {
        canvas.path(vec![(left, *y), (right, *y)], PALE, 1)?;
        canvas.text((left - 8, *y), 12, GREY, Anchor::Right, label)?;
    }
    let across = LogScale::over(gaps.iter().map(Duration::as_secs_f64), (left, right));
    for gap in gaps {
        let at = across.at(gap.as_secs_f64());
        canvas.path(vec![(at, BOTTOM), (at, BOTTOM + 5)], GREY, 1)?;
        canvas.text((at, BOTTOM + 16), 11, GREY, Anchor::Middle, &pause(*gap))?;
    }
    let middle = i32::midpoint(left, right);
    canvas.text((middle, BOTTOM + 40), 12, GREY, Anchor::Middle, "pause between two loops")?;
    let mut labels: Vec<(i32, usize)> = Vec::new();
    for (k, idle) in found.iter().enumerate() {
        let points: Vec<(i32, i32)> = gaps
            .iter()
            .enumerate()
            .map(|(g, gap)| (across.at(gap.as_secs_f64()), at(idle, g)))
            .collect();
        let as_is = idle.label.ends_with("as is");
        let color = color(found, k);
        points.iter().try_for_each(|point| canvas.dot(*point, if as_is { 5 } else { 3 }, color))?;
        labels.push((points.last().map_or(BOTTOM, |point| point.1), k));
        canvas.path(points, color, if as_is { 4 } else { 2 })?;
    }
    labels.sort_unstable();
    // As many as do not fit below their ends go up.
    const LINE: i32 = 16;
    let room = BOTTOM + LINE - LINE * labels.len() as i32;
    let mut next = TOP.min(room);
    for (k, (y, curve)) in labels.iter().enumerate() {
        let last = BOTTOM - LINE * (labels.len() - 1 - k) as i32;
        let spot = (*y).clamp(next, last.max(next));
        next = spot + LINE;
        let (color, label) = (color(found, *curve), &found[*curve].label);
        canvas.path(vec![(right + 4, *y), (right + 16, spot)], color, 1)?;
        if label.ends_with("as is") {
            canvas.bold((right + 20, spot), 12, color, Anchor::Left, label)?;
        } else {
            canvas.text((right + 20, spot), 12, color, Anchor::Left, label)?;
        }
    }
    Ok(())
}
