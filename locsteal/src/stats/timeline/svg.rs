//! A timeline as a picture.

use std::fmt::Write;
use std::time::Duration;

use super::{Origin, Row, TimedChunk, Timeline};
use crate::stats::Tier;

const PLOT: f64 = 1200.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 58.0;
/// Rows share about this height, within what can be told apart and what is a waste of paper.
const HEIGHT: f64 = 900.0;
const ROW: std::ops::RangeInclusive<f64> = 4.0..=18.0;
const CACHE_GAP: f64 = 3.0;
const NODE_GAP: f64 = 10.0;
const BAND: f64 = 15.0;
/// At most so many bands of loops that overlap in time.
const BANDS: usize = 4;
/// Chunks that are too narrow to be told apart are drawn as one.
const NARROWEST: f64 = 0.6;

/// Told apart also by those who see fewer colours, and in grey.
fn colour(origin: Origin) -> &'static str {
    match origin {
        Origin::Own => "#4477aa",
        Origin::Other(Tier::Llc) => "#66ccee",
        Origin::Other(Tier::Node) => "#ccbb44",
        Origin::Other(Tier::Remote) => "#ee6677",
        Origin::Other(Tier::Unknown) => "#888888",
        Origin::Shared => "#228833",
    }
}

pub(super) fn draw(timeline: &Timeline) -> String {
    Picture::new(timeline).draw()
}

struct Picture<'a> {
    timeline: &'a Timeline,
    row: f64,
    /// The top of each row.
    tops: Vec<f64>,
    bottom: f64,
    /// Pixels in a nanosecond.
    scale: f64,
    out: String,
}

impl<'a> Picture<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        let count = timeline.rows.len().max(1) as f64;
        let row = (HEIGHT / count).clamp(*ROW.start(), *ROW.end()).floor();
        let bands = bands(timeline).into_iter().max().map_or(0, |band| band + 1) as f64;
        let mut tops = Vec::new();
        let mut at = TOP + bands * BAND + 4.0;
        let mut above: Option<&Row> = None;
        for this in &timeline.rows {
            at += match above {
                Some(above) if above.node != this.node => NODE_GAP,
                Some(above) if above.domain != this.domain => CACHE_GAP,
                _ => 0.0,
            };
            tops.push(at);
            at += row;
            above = Some(this);
        }
        let scale = PLOT / timeline.end().as_nanos().max(1) as f64;
        Self { timeline, row, tops, bottom: at, scale, out: String::new() }
    }

    fn x(&self, time: Duration) -> f64 {
        LEFT + time.as_nanos() as f64 * self.scale
    }

    fn draw(mut self) -> String {
        let (width, height) = (LEFT + PLOT + RIGHT, self.bottom + 40.0);
        self.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" font-family=\"system-ui, sans-serif\" font-size=\"11\" fill=\"#222222\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
        ));
        self.legend();
        self.axis();
        self.loops();
        self.groups();
        self.chunks();
        self.out.push_str("</svg>\n");
        self.out
    }

    fn put(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.out.write_fmt(line);
        self.out.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = escaped(text);
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// What the colours mean, and how many iterations are of each.
    fn legend(&mut self) {
        let counts = self.timeline.iterations_by_origin();
        let all: u64 = counts.iter().sum();
        let heading = format!(
            "{} iterations in {} chunks: who ran them, and from whose block they came",
            all,
            self.timeline.chunks.len()
        );
        self.text(LEFT, 16.0, "start", &heading);
        let mut x = LEFT;
        for (origin, count) in Origin::ALL.into_iter().zip(counts) {
            if count == 0 {
                continue;
            }
            let fill = colour(origin);
            let label = format!("{} {:.1} %", origin.name(), 100.0 * count as f64 / all as f64);
            self.put(format_args!(
                "<rect x=\"{x:.1}\" y=\"26\" width=\"11\" height=\"11\" fill=\"{fill}\"/>"
            ));
            self.text(x + 16.0, 36.0, "start", &label);
            x += 40.0 + 6.2 * label.len() as f64;
        }
    }

    fn axis(&mut self) {
        let end = self.timeline.end().as_nanos() as f64;
        let (unit, name) = match end {
            1e9.. => (1e9, "s"),
            1e6.. => (1e6, "ms"),
            1e3.. => (1e3, "µs"),
            _ => (1.0, "ns"),
        };
        let step = nice_step(end / unit / 8.0);
        let (top, bottom) = (TOP, self.bottom + 4.0);
        let mut tick = 0.0;
        while tick * unit <= end {
            let x = LEFT + tick * unit * self.scale;
            self.put(format_args!(
                "<path d=\"M{x:.1} {top:.1}V{bottom:.1}\" stroke=\"#dddddd\" fill=\"none\"/>"
            ));
            let digits = if step < 1.0 { (-step.log10()).ceil() as usize } else { 0 };
            self.text(x, bottom + 14.0, "middle", &format!("{tick:.digits$} {name}"));
            tick += step;
        }
    }

    /// A bracket over the time of each loop.
    fn loops(&mut self) {
        for (timed, band) in self.timeline.loops.iter().zip(bands(self.timeline)) {
            let (from, to) = (self.x(timed.time.start), self.x(timed.time.end));
            let (y, width) = (TOP + band as f64 * BAND, (to - from).max(1.0));
            let title = escaped(&format!(
                "{}: {} iterations over {} seats, {:.2?}",
                timed.name,
                timed.iterations,
                timed.width,
                timed.time.end.saturating_sub(timed.time.start)
            ));
            self.put(format_args!(
                "<g><title>{title}</title><rect x=\"{from:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" \
                 fill=\"#eeeeee\" stroke=\"#bbbbbb\" stroke-width=\"0.5\"/></g>",
                BAND - 2.0
            ));
            if width > 6.5 * timed.name.chars().count() as f64 + 6.0 {
                self.text(from + 4.0, y + 10.0, "start", &timed.name);
            }
        }
    }

    /// Rows with their names, grouped by node and cache.
    fn groups(&mut self) {
        let (row, plot) = (self.row, PLOT);
        let rows = &self.timeline.rows;
        for (index, this) in rows.iter().enumerate() {
            let top = self.tops[index];
            self.put(format_args!(
                "<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{plot}\" height=\"{:.1}\" fill=\"#f6f6f6\"/>",
                row - 1.0
            ));
            if row >= 9.0 {
                self.text(LEFT - 8.0, top + row / 2.0 + 3.5, "end", &this.name());
            }
        }
        self.brackets(60.0, "node", |row| row.node, |row| (row.node, None));
        self.brackets(LEFT - 64.0, "cache", |row| row.domain, |row| (row.node, row.domain));
    }

    /// A bracket beside each group of rows that are alike by `key`.
    fn brackets(
        &mut self,
        x: f64,
        what: &str,
        number: impl Fn(&Row) -> Option<usize>,
        key: impl Fn(&Row) -> (Option<usize>, Option<usize>),
    ) {
        let rows = &self.timeline.rows;
        let mut first = 0;
        for index in 1..=rows.len() {
            if rows.get(index).is_some_and(|row| key(row) == key(&rows[first])) {
                continue;
            }
            let (from, to) = (self.tops[first], self.tops[index - 1] + self.row - 1.0);
            if let Some(number) = number(&rows[first]) {
                self.put(format_args!(
                    "<path d=\"M{x:.1} {from:.1}h-3V{to:.1}h3\" stroke=\"#888888\" fill=\"none\"/>"
                ));
                let middle = f64::midpoint(from, to) + 3.5;
                self.text(x - 7.0, middle, "end", &format!("{what} {number}"));
            }
            first = index;
        }
    }

    fn chunks(&mut self) {
        let chunks = &self.timeline.chunks;
        let mut index = 0;
        let mut outer: Vec<Duration> = Vec::new();
        let mut row = usize::MAX;
        while let Some(chunk) = chunks.get(index) {
            if row != chunk.row {
                row = chunk.row;
                outer.clear();
            }
            // What a thread runs inside an iteration of another loop is drawn into that one, a little lower.
            outer.retain(|&end| end > chunk.time.start);
            let depth = outer.len();
            outer.push(chunk.time.end);
            let (from, mut to) = (self.x(chunk.time.start), self.x(chunk.time.end));
            let first = index;
            index += 1;
            while let Some(next) = chunks.get(index)
                && self.blends(chunk, next)
                && self.x(next.time.start) - to < NARROWEST
                && (to - from < NARROWEST || self.x(next.time.end) - to < NARROWEST)
            {
                to = self.x(next.time.end);
                outer.pop();
                outer.push(next.time.end);
                index += 1;
            }
            self.chunk(&chunks[first..index], from, to, depth);
        }
    }

    /// Whether two chunks look alike.
    fn blends(&self, a: &TimedChunk, b: &TimedChunk) -> bool {
        (a.row, a.of, a.origin) == (b.row, b.of, b.origin)
    }

    fn chunk(&mut self, chunks: &[TimedChunk], from: f64, to: f64, depth: usize) {
        let Some((first, last)) = chunks.first().zip(chunks.last()) else { return };
        let inset = (depth as f64 * self.row / 4.0).min(self.row / 2.0);
        let (top, height) = (self.tops[first.row] + inset, self.row - 1.0 - inset);
        let what = match chunks.len() {
            1 => format!("{}..{}", first.iterations.start, first.iterations.end),
            many => {
                let count: u64 = chunks.iter().map(|c| c.iterations.end - c.iterations.start).sum();
                format!("{many} chunks, {count} iterations")
            }
        };
        let title = escaped(&format!(
            "{}, {}: {what} from {}, {:.2?} at {:.2?}",
            self.timeline.rows[first.row].name(),
            self.timeline.loops[first.of].name,
            first.origin.name(),
            last.time.end.saturating_sub(first.time.start),
            first.time.start,
        ));
        let fill = colour(first.origin);
        let width = (to - from).max(NARROWEST);
        // A thin edge tells neighbours apart where there is room for it.
        let edge = if width > 3.0 { " stroke=\"#ffffff\" stroke-width=\"0.5\"" } else { "" };
        self.put(format_args!(
            "<g><title>{title}</title><rect x=\"{from:.2}\" y=\"{top:.1}\" width=\"{width:.2}\" \
             height=\"{height:.1}\" fill=\"{fill}\"{edge}/></g>"
        ));
    }
}

/// In which band each loop is drawn, so that those that overlap in time do not overlap in the picture.
fn bands(timeline: &Timeline) -> Vec<usize> {
    let mut free = [Duration::ZERO; BANDS];
    let loops = timeline.loops.iter();
    loops
        .map(|timed| {
            let band = free.iter().position(|&from| from <= timed.time.start);
            let band = band.unwrap_or(BANDS - 1);
            free[band] = timed.time.end;
            band
        })
        .collect()
}

/// The smallest of 1, 2, 5, 10, .. that is no less.
fn nice_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|&step| step >= least * 0.999).unwrap_or(steps[3])
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
