//! Speed-up over the plain loop by the length of the loop: one curve for the best arm of each library.

use anyhow::Result;
use plotters::style::RGBColor;

use super::canvas::{Anchor, BLACK, Canvas, GREY, LogScale, OURS, PALE, svg};
use crate::lines::Operation;
use crate::report::summary::{Arm, LineSummary, Summary, family};

const SIZE: (i32, i32) = (900, 520);
const PLOT: ((i32, i32), (i32, i32)) = ((60, 60), (690, 470));

/// Told apart by eyes of every kind (Okabe and Ito's, and darker shades of them).
const COLORS: [RGBColor; 11] = [
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(150, 140, 20),
    RGBColor(120, 80, 40),
    RGBColor(90, 90, 170),
    RGBColor(0, 110, 110),
    RGBColor(170, 40, 90),
    RGBColor(110, 110, 110),
];

/// Slower than this is drawn at the edge: how much slower is no matter here, and would squeeze the rest.
const SLOWEST: f64 = 0.1;

struct Curve {
    label: String,
    ours: bool,
    points: Vec<(f64, f64)>,
}

/// None if there are not at least two lengths, or no plain loop, to compare.
pub(super) fn draw(summary: &Summary) -> Option<Result<String>> {
    let lines: Vec<(f64, &LineSummary)> = summary
        .lines
        .iter()
        .filter(|l| l.line.name.starts_with("axpy-"))
        .filter_map(|l| match l.line.operation {
            Operation::Axpy(n) => Some((n as f64, l)),
            _ => None,
        })
        .collect();
    let curves = curves(&lines);
    (lines.len() > 1 && !curves.is_empty())
        .then(|| svg(SIZE, |canvas| plot(canvas, &lines, &curves)))
}

fn curves(lines: &[(f64, &LineSummary)]) -> Vec<Curve> {
    let mut arms: Vec<&Arm> = lines.iter().flat_map(|(_, l)| &l.arms).collect();
    arms.retain(|arm| arm.is_library());
    arms.sort_by(|a, b| a.peer.cmp(&b.peer));
    arms.dedup_by(|a, b| a.peer == b.peer);
    let mut best: Vec<Curve> = Vec::new();
    for arm in arms {
        let speed_up = |(n, line): &(f64, &LineSummary)| {
            Some((*n, line.arm("serial")?.time.value / line.arm(&arm.peer)?.time.value))
        };
        let points: Vec<_> = lines.iter().filter_map(speed_up).collect();
        let curve = Curve { label: arm.peer.clone(), ours: arm.is_ours(), points };
        if curve.points.is_empty() {
            continue;
        }
        match best.iter_mut().find(|c| family(&c.label) == family(&curve.label)) {
            Some(other) if mean(other) < mean(&curve) => *other = curve,
            Some(_) => {}
            None => best.push(curve),
        }
    }
    best
}

/// Mean of the logarithms: no length counts more than another.
fn mean(curve: &Curve) -> f64 {
    curve.points.iter().map(|(_, s)| s.ln()).sum::<f64>() / curve.points.len() as f64
}

fn plot(canvas: &Canvas<'_>, lines: &[(f64, &LineSummary)], curves: &[Curve]) -> Result<()> {
    let ((left, top), (right, bottom)) = PLOT;
    let title = "axpy: speed-up over the plain loop, by length (best arm of each library)";
    let edge = format!("what is slower than {SLOWEST}x is drawn at the lower edge");
    canvas.text((left, bottom + 36), 12, GREY, Anchor::Left, &edge)?;
    canvas.text((12, 20), 16, BLACK, Anchor::Left, title)?;
    let x = LogScale::over(lines.iter().map(|(n, _)| *n), (left, right));
    let speed_ups = curves.iter().flat_map(|c| &c.points).map(|(_, s)| s.max(SLOWEST));
    let y = LogScale::over(speed_ups.chain([1.0]), (bottom, top));
    for tick in y.ticks() {
        canvas.path(vec![(left, y.at(tick)), (right, y.at(tick))], PALE, 1)?;
        canvas.text((left - 8, y.at(tick)), 12, GREY, Anchor::Right, &format!("{tick}x"))?;
    }
    canvas.path(vec![(left, y.at(1.0)), (right, y.at(1.0))], BLACK, 2)?;
    canvas.text((left + 4, y.at(1.0) - 9), 12, BLACK, Anchor::Left, "the plain loop")?;
    for (n, _) in lines {
        canvas.path(vec![(x.at(*n), bottom), (x.at(*n), bottom + 5)], GREY, 1)?;
        let label = format!("{n:.0e}");
        canvas.text((x.at(*n), bottom + 16), 12, GREY, Anchor::Middle, &label)?;
    }
    let mut colors = COLORS.iter().cycle();
    let mut labels = Vec::new();
    for curve in curves {
        let color = if curve.ours { OURS } else { *colors.next().expect("a cycle has no end") };
        let points: Vec<_> = curve.points.iter().map(|(n, s)| (x.at(*n), y.at(*s))).collect();
        let end = *points.last().expect("curves have points");
        for point in &points {
            canvas.dot(*point, if curve.ours { 5 } else { 3 }, color)?;
        }
        canvas.path(points, color, if curve.ours { 4 } else { 2 })?;
        labels.push((end.1, color, &curve.label));
    }
    label_ends(canvas, labels)
}

/// Writes each curve's name to the right, at its end or as near as there is room.
fn label_ends(canvas: &Canvas<'_>, mut labels: Vec<(i32, RGBColor, &String)>) -> Result<()> {
    const LINE: i32 = 15;
    let ((_, top), (right, _)) = PLOT;
    labels.sort_by_key(|(y, ..)| *y);
    let mut next = top - LINE;
    for (y, color, label) in labels {
        let at = y.max(next);
        next = at + LINE;
        canvas.path(vec![(right + 2, y), (right + 14, at)], color, 1)?;
        canvas.text((right + 18, at), 13, color, Anchor::Left, label)?;
    }
    Ok(())
}
