//! One square for each line and arm: how many times slower than the fastest library of the line.

use anyhow::Result;
use plotters::style::RGBColor;

use super::canvas::{Anchor, BLACK, Canvas, GREY, OURS, svg};
use crate::lines::Group;
use crate::report::summary::{LineSummary, Summary, family};
use crate::report::table::digits;

const CELL: (i32, i32) = (40, 22);
/// Of what a line is, and of its name.
const WORDS: i32 = 345;
const LEFT: i32 = WORDS + 150;
/// The sheet's title and legend.
const TITLE: i32 = 76;
/// Names of peers, which read upwards.
const NAMES: i32 = 130;
/// A group's title.
const HEADING: i32 = 26;
/// The longest text that has room where a line is told in words, in characters.
const MOST_WORDS: usize = 72;

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

/// Lines that the same peers can run: loops, or offloading.
struct Block<'a> {
    peers: Vec<&'a str>,
    lines: Vec<&'a LineSummary>,
}

impl<'a> Block<'a> {
    /// None if there is nothing to show.
    fn of(summary: &'a Summary, offload: bool) -> Option<Self> {
        let of_kind = |line: &&LineSummary| line.line.is_offload() == offload;
        let lines: Vec<_> = summary.lines.iter().filter(of_kind).collect();
        let names = summary.peers.iter().map(|peer| peer.name.as_str());
        let peers =
            names.filter(|peer| lines.iter().any(|line| line.arm(peer).is_some())).collect();
        (!lines.is_empty()).then_some(Self { peers, lines })
    }

    fn groups(&self) -> impl Iterator<Item = (Group, Vec<&'a LineSummary>)> + '_ {
        let of = |group| self.lines.iter().copied().filter(move |line| line.line.group == group);
        let all = Group::ALL.into_iter().map(move |group| (group, of(group).collect::<Vec<_>>()));
        all.filter(|(_, lines)| !lines.is_empty())
    }

    fn height(&self) -> i32 {
        NAMES + self.groups().count() as i32 * HEADING + self.lines.len() as i32 * CELL.1
    }

    fn draw(&self, canvas: &Canvas<'_>, top: i32) -> Result<()> {
        for (k, peer) in self.peers.iter().enumerate() {
            let at = (LEFT + CELL.0 * k as i32 + CELL.0 / 2, top + NAMES - 2);
            let ours = family(peer) == "locsteal";
            canvas.text_upwards(at, 13, if ours { OURS } else { BLACK }, peer)?;
        }
        let mut y = top + NAMES;
        for (group, lines) in self.groups() {
            canvas.bold((12, y + HEADING / 2 + 2), 13, BLACK, Anchor::Left, group.title())?;
            y += HEADING;
            for line in lines {
                self.row(canvas, y, line)?;
                y += CELL.1;
            }
        }
        let ours: Vec<_> =
            (0..self.peers.len()).filter(|&k| family(self.peers[k]) == "locsteal").collect();
        if let (Some(first), Some(last)) = (ours.first(), ours.last()) {
            let x = |k: usize| LEFT + CELL.0 * k as i32;
            canvas.frame((x(*first), top + NAMES + HEADING - 1), (x(last + 1), y + 1), OURS, 2)?;
        }
        Ok(())
    }

    fn row(&self, canvas: &Canvas<'_>, y: i32, line: &LineSummary) -> Result<()> {
        let middle = y + CELL.1 / 2;
        let words = shortened(line.line.what);
        canvas.text((12, middle), 11, GREY, Anchor::Left, &words)?;
        canvas.text((LEFT - 8, middle), 12, BLACK, Anchor::Right, line.line.name)?;
        let multiple = multiples(line);
        for (k, peer) in self.peers.iter().enumerate() {
            if let Some(multiple) = multiple(peer) {
                square(canvas, (LEFT + CELL.0 * k as i32, y), multiple)?;
            }
        }
        Ok(())
    }
}

/// What there is room for.
fn shortened(words: &str) -> String {
    if words.chars().count() <= MOST_WORDS {
        return words.to_owned();
    }
    let kept: String = words.chars().take(MOST_WORDS).collect();
    let end = kept.rfind(' ').unwrap_or(kept.len());
    format!("{} ..", &kept[..end])
}

pub(super) fn draw(summary: &Summary) -> Result<String> {
    let blocks: Vec<_> =
        [false, true].into_iter().filter_map(|offload| Block::of(summary, offload)).collect();
    let columns = blocks.iter().map(|block| block.peers.len()).max().unwrap_or(0);
    let width = (LEFT + CELL.0 * columns as i32 + 20).max(LEFT + 700);
    let height = TITLE + blocks.iter().map(Block::height).sum::<i32>() + 16;
    svg((width, height), |canvas| {
        let title = "Time as a multiple of the fastest library's, line by line: blue is fast, orange is slow";
        canvas.bold((12, 18), 17, BLACK, Anchor::Left, title)?;
        legend(canvas, 36)?;
        let mut y = TITLE;
        for block in &blocks {
            block.draw(canvas, y)?;
            y += block.height();
        }
        Ok(())
    })
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
    let mut x = 12;
    for multiple in [1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0] {
        square(canvas, (x, y), multiple)?;
        x += CELL.0;
    }
    let text = "1: the fastest library; 2: twice its time. The plain loop (serial) and the hand-written floor may be below 1. \
                Empty: does not apply. Framed: locsteal.";
    canvas.text((x + 8, y + CELL.1 / 2), 12, GREY, Anchor::Left, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_between_two() {
        assert_eq!(shortened("short"), "short");
        let long = "a unit of work of a process beside a program that runs an axpy of 100,000 each millisecond";
        let cut = shortened(long);
        assert!(cut.ends_with(" ..") && long.starts_with(cut.trim_end_matches(" ..")), "{cut}");
    }

    #[test]
    fn colours_go_from_blue_over_white_to_orange() {
        assert_eq!(color(0.5), color(1.0));
        assert_eq!(color(2.0), RGBColor(255, 255, 255));
        assert_eq!(color(100.0), color(8.0));
        assert!(color(1.2).2 > color(1.2).0 && color(5.0).0 > color(5.0).2);
    }
}
