//! One square for each line and arm: how many times slower than the fastest library of the line.

use anyhow::Result;
use plotters::style::RGBColor;

use super::canvas::{Anchor, BLACK, Canvas, GREY, OURS, svg};
use crate::report::summary::{LineSummary, Summary, family};
use crate::report::table::digits;

const CELL: (i32, i32) = (40, 22);
/// Between groups of lines.
const GAP: i32 = 8;
const LEFT: i32 = 190;
const TOP: i32 = 170;

/// Colours of the multiples 1, 2 and 8: blue, white, orange. Told apart by eyes of every kind.
const COLORS: [(f64, [f64; 3]); 3] =
    [(1.0, [70.0, 130.0, 200.0]), (2.0, [255.0, 255.0, 255.0]), (8.0, [235.0, 120.0, 30.0])];

fn color(multiple: f64) -> RGBColor {
    let m = multiple.clamp(COLORS[0].0, COLORS[2].0);
    let k = usize::from(m > COLORS[1].0);
    let ((from, a), (to, b)) = (COLORS[k], COLORS[k + 1]);
    let share = (m / from).ln() / (to / from).ln();
    let mix = |c: usize| (a[c] + share * (b[c] - a[c])).round() as u8;
    RGBColor(mix(0), mix(1), mix(2))
}

/// The multiples of one line, by peer name.
fn multiples(line: &LineSummary) -> impl Fn(&str) -> Option<f64> + '_ {
    let fastest = line.fastest(|_| true).map(|arm| arm.ratio.value);
    move |peer| Some(line.arm(peer)?.ratio.value / fastest?)
}

pub(super) fn draw(summary: &Summary) -> Result<String> {
    let peers: Vec<&str> = summary.peers.iter().map(|peer| peer.name.as_str()).collect();
    let width = LEFT + CELL.0 * peers.len() as i32 + 20;
    let height = top(&summary.lines, summary.lines.len()) + 60;
    svg((width, height), |canvas| {
        let title = "Time as a multiple of the fastest library's, line by line";
        canvas.text((12, 16), 16, BLACK, Anchor::Left, title)?;
        for (k, peer) in peers.iter().enumerate() {
            let x = LEFT + CELL.0 * k as i32 + CELL.0 / 2;
            let ours = family(peer) == "locsteal";
            canvas.text_upwards((x, TOP - 6), 13, if ours { OURS } else { BLACK }, peer)?;
        }
        for (r, line) in summary.lines.iter().enumerate() {
            let y = top(&summary.lines, r);
            let name = line.line.name;
            canvas.text((LEFT - 8, y + CELL.1 / 2), 13, BLACK, Anchor::Right, name)?;
            let multiple = multiples(line);
            for (k, peer) in peers.iter().enumerate() {
                let x = LEFT + CELL.0 * k as i32;
                if let Some(multiple) = multiple(peer) {
                    square(canvas, (x, y), multiple)?;
                }
            }
        }
        legend(canvas, height - 34)
    })
}

/// Where the `r`-th row begins.
fn top(lines: &[LineSummary], r: usize) -> i32 {
    let gaps =
        lines[..lines.len().min(r + 1)].windows(2).filter(|w| w[0].line.group != w[1].line.group);
    TOP + CELL.1 * r as i32 + GAP * gaps.count() as i32
}

fn square(canvas: &Canvas<'_>, (x, y): (i32, i32), multiple: f64) -> Result<()> {
    canvas.rectangle((x + 1, y + 1), (x + CELL.0 - 1, y + CELL.1 - 1), color(multiple))?;
    let text = if multiple < 99.5 { short(multiple) } else { ">99".to_owned() };
    canvas.text((x + CELL.0 / 2, y + CELL.1 / 2), 12, BLACK, Anchor::Middle, &text)
}

fn short(multiple: f64) -> String {
    let text = digits(multiple);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn legend(canvas: &Canvas<'_>, y: i32) -> Result<()> {
    let mut x = LEFT;
    for multiple in [1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0] {
        square(canvas, (x, y), multiple)?;
        x += CELL.0;
    }
    let text = "1 is the fastest library; serial and floor may be below; empty: does not apply";
    canvas.text((x + 8, y + CELL.1 / 2), 12, GREY, Anchor::Left, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_blue_over_white_to_orange() {
        assert_eq!(color(0.5), color(1.0));
        assert_eq!(color(2.0), RGBColor(255, 255, 255));
        assert_eq!(color(100.0), color(8.0));
        assert!(color(1.2).2 > color(1.2).0 && color(5.0).0 > color(5.0).2);
    }
}
