//! Speed-up over the plain loop by the length of the loop: one curve for the best arm of each library.

use anyhow::Result;
use plotters::style::RGBColor;

use super::canvas::{Anchor, BLACK, Canvas, GREY, LogScale, PALE, svg};
use super::colors;
use crate::lines::Operation;
use crate::report::summary::{Arm, LineSummary, Summary, family};

const SIZE: (i32, i32) = (900, 520);
const PLOT: ((i32, i32), (i32, i32)) = ((105, 70), (690, 450));

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
    let title =
        "How much faster than the plain loop? y[i] += a * x[i], by length (higher is better)";
    canvas.bold((12, 20), 16, BLACK, Anchor::Left, title)?;
    let reading = format!(
        "The best way of each library to run it, over all lengths. What is slower than {SLOWEST}x is drawn at the lower edge."
    );
    canvas.text((12, 42), 12, GREY, Anchor::Left, &reading)?;
    canvas.text((i32::midpoint(left, right), bottom + 42), 12, GREY, Anchor::Middle, "elements")?;
    let x = LogScale::over(lines.iter().map(|(n, _)| *n), (left, right));
    let speed_ups = curves.iter().flat_map(|c| &c.points).map(|(_, s)| s.max(SLOWEST));
    let y = LogScale::over(speed_ups.chain([1.0]), (bottom, top));
    for tick in y.ticks() {
        canvas.path(vec![(left, y.at(tick)), (right, y.at(tick))], PALE, 1)?;
        let label = match tick {
            ..1.0 => format!("{} slower", times(1.0 / tick)),
            1.0 => continue,
            _ => format!("{} faster", times(tick)),
        };
        canvas.text((left - 8, y.at(tick)), 12, GREY, Anchor::Right, &label)?;
    }
    canvas.path(vec![(left, y.at(1.0)), (right, y.at(1.0))], BLACK, 2)?;
    canvas.text((left - 8, y.at(1.0)), 12, BLACK, Anchor::Right, "the plain loop")?;
    for (n, _) in lines {
        canvas.path(vec![(x.at(*n), bottom), (x.at(*n), bottom + 5)], GREY, 1)?;
        let label = grouped(*n as u64);
        canvas.text((x.at(*n), bottom + 16), 12, GREY, Anchor::Middle, &label)?;
    }
    let mut labels = Vec::new();
    // Ours lies above the others.
    let (ours, others): (Vec<&Curve>, Vec<&Curve>) = curves.iter().partition(|curve| curve.ours);
    for curve in others.into_iter().chain(ours) {
        let color = colors::of_peer(&curve.label);
        let points: Vec<_> = curve.points.iter().map(|(n, s)| (x.at(*n), y.at(*s))).collect();
        let end = *points.last().expect("curves have points");
        for point in &points {
            canvas.dot(*point, if curve.ours { 5 } else { 3 }, color)?;
        }
        canvas.path(points, color, if curve.ours { 4 } else { 2 })?;
        labels.push((end.1, color, curve));
    }
    label_ends(canvas, labels)
}

/// A factor, as short as it can be written.
fn times(factor: f64) -> String {
    let text = format!("{factor:.1}");
    format!("{}x", text.strip_suffix(".0").unwrap_or(&text))
}

/// A number with its thousands apart.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes each curve's name to the right, at its end or as near as there is room.
fn label_ends(canvas: &Canvas<'_>, mut labels: Vec<(i32, RGBColor, &Curve)>) -> Result<()> {
    let ((_, _), (right, _)) = PLOT;
    labels.sort_by_key(|(y, ..)| *y);
    let ends: Vec<i32> = labels.iter().map(|(y, ..)| *y).collect();
    for ((y, color, curve), at) in labels.into_iter().zip(apart(&ends, 17)) {
        canvas.path(vec![(right + 4, y), (right + 16, at)], color, 1)?;
        let beside = (right + 20, at);
        if curve.ours {
            canvas.bold(beside, 14, color, Anchor::Left, &curve.label)?;
        } else {
            canvas.text(beside, 13, color, Anchor::Left, &curve.label)?;
        }
    }
    Ok(())
}

/// The places nearest to `ends`, which ascend, that are at least `distance` apart: those that would be too near to each other
/// stand around their middle.
fn apart(ends: &[i32], distance: i32) -> Vec<i32> {
    // Runs of neighbours: how many, and the sum of where their first would best be for each of them.
    let mut runs: Vec<(i32, i32)> = Vec::new();
    for (k, end) in ends.iter().enumerate() {
        let mut run = (1, end - distance * k as i32);
        while let Some(&(count, sum)) = runs.last()
            && sum * run.0 >= run.1 * count
        {
            runs.pop();
            run = (run.0 + count, run.1 + sum);
        }
        runs.push(run);
    }
    let firsts = runs.iter().flat_map(|(count, sum)| (0..*count).map(move |_| sum / count));
    firsts.enumerate().map(|(k, first)| first + distance * k as i32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_curves_or_around_the_middle_of_a_crowd() {
        assert_eq!(apart(&[10, 40, 90], 20), [10, 40, 90]);
        assert_eq!(apart(&[50, 50, 50, 200], 20), [30, 50, 70, 200]);
        assert_eq!(apart(&[0, 18, 20, 100], 20), [-7, 13, 33, 100]);
        assert!(apart(&[], 20).is_empty());
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([1_000, 10_000_000, 17].map(grouped), ["1,000", "10,000,000", "17"]);
        assert_eq!([2.0, 1.5, 1.0 / 0.3].map(times), ["2x", "1.5x", "3.3x"]);
    }
}
