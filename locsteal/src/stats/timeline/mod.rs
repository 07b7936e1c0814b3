//! Who ran which iterations when: what a [`Recording`](crate::Recording) gives, and pictures of it.
//!
//! | file | holds |
//! | --- | --- |
//! | `recorder.rs` | where participants leave what they did while it is recorded |
//! | `svg.rs` | the picture |
//! | `trace.rs` | the form that trace viewers open |

mod recorder;
mod svg;
#[cfg(all(test, not(loom)))]
mod tests;
mod trace;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use super::Tier;
pub(crate) use recorder::{Launch, LoopId, Recorder, Track, Who};

/// Who ran which iterations when, and how far they had come; recorded by [`Pool::record`](crate::Pool::record).
///
/// `Display` sums it up in words. [`to_svg`](Self::to_svg) draws it; [`to_trace`](Self::to_trace) is for the trace
/// viewers of browsers.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    rows: Vec<Row>,
    loops: Vec<TimedLoop>,
    chunks: Vec<TimedChunk>,
}

/// A thread in a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The seat that it works at. A caller from outside the pool has no seat for good: this is one that is near to it.
    pub seat: usize,
    /// The last-level-cache domain and the NUMA node of the seat, as far as they are known: indices into those of the
    /// pool's topology.
    pub domain: Option<usize>,
    /// See `domain`.
    pub node: Option<usize>,
    /// Whether it is no thread of the pool: which of those that called it is, from 1 on.
    pub caller: Option<usize>,
}

/// A loop in a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimedLoop {
    /// Its name, or `loop` and its number in the order of launching.
    pub name: String,
    /// How many iterations it has.
    pub iterations: u64,
    /// How many seats it was shared out to; 1: it ran on its caller alone.
    pub width: usize,
    /// When it was launched, and when its caller had left it, counted from the start of the recording.
    pub time: Range<Duration>,
}

/// Iterations that a thread ran at a stretch, in a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimedChunk {
    /// The thread: an index into [`Timeline::rows`].
    pub row: usize,
    /// The loop: an index into [`Timeline::loops`].
    pub of: usize,
    /// The iterations, counted from 0.
    pub iterations: Range<u64>,
    /// When, counted from the start of the recording.
    pub time: Range<Duration>,
    /// Where they came from.
    pub origin: Origin,
}

/// Where iterations came from, seen from the thread that ran them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// From the block of its own seat.
    Own,
    /// From the block of another seat, so far away; stolen, or begun in place of an owner that had not come.
    Other(Tier),
    /// They belonged to no seat: they were taken from a counter that all share.
    Shared,
}

impl Origin {
    const ALL: [Self; 6] = [
        Self::Own,
        Self::Other(Tier::Llc),
        Self::Other(Tier::Node),
        Self::Other(Tier::Remote),
        Self::Other(Tier::Unknown),
        Self::Shared,
    ];

    /// In words.
    const fn name(self) -> &'static str {
        match self {
            Self::Own => "own block",
            Self::Other(Tier::Llc) => "same cache",
            Self::Other(Tier::Node) => "same node",
            Self::Other(Tier::Remote) => "another node",
            Self::Other(Tier::Unknown) => "another seat",
            Self::Shared => "shared counter",
        }
    }
}

impl Timeline {
    /// Puts together what was recorded. Times in `tracks` are ticks, counted from `since`; `place` tells the domain and
    /// node of a seat.
    pub(crate) fn new(
        tracks: Vec<Track>,
        seats: usize,
        place: impl Fn(usize) -> (Option<usize>, Option<usize>),
        time: impl Fn(u64) -> Duration,
    ) -> Self {
        let row = |seat: usize, caller: Option<usize>| {
            let (domain, node) = place(seat);
            Row { seat, domain, node, caller }
        };
        let mut rows: Vec<Row> = (0..seats).map(|seat| row(seat, None)).collect();
        let mut callers = Vec::new();
        for track in &tracks {
            if let Who::Caller(thread, near) = track.who
                && !callers.contains(&thread)
            {
                callers.push(thread);
                rows.push(row(near, Some(callers.len())));
            }
        }
        let last = |index: Option<usize>| index.unwrap_or(usize::MAX);
        rows.sort_by_key(|row| (last(row.node), last(row.domain), row.seat, row.caller));
        let row_of = |who: Who| {
            let (seat, caller) = match who {
                Who::Worker(seat) => (Some(seat), None),
                Who::Caller(thread, _) => {
                    (None, callers.iter().position(|&caller| caller == thread).map(|at| at + 1))
                }
            };
            let same = |row: &Row| row.caller == caller && seat.is_none_or(|seat| row.seat == seat);
            rows.iter().position(same).unwrap_or(0)
        };
        let mut launches: Vec<_> =
            tracks.iter().filter_map(|track| Some((track.of, track.launch.as_ref()?))).collect();
        launches.sort_by_key(|(_, launch)| launch.time.start);
        let loops = launches.iter().enumerate().map(|(index, (_, launch))| TimedLoop {
            name: if launch.name.is_empty() {
                format!("loop {}", index + 1)
            } else {
                launch.name.clone()
            },
            iterations: launch.iterations,
            width: launch.width,
            time: time(launch.time.start)..time(launch.time.end),
        });
        let loops = loops.collect();
        let mut chunks = Vec::new();
        for track in &tracks {
            // A loop that is not over has no caller's track yet.
            let Some(of) = launches.iter().position(|(of, _)| *of == track.of) else { continue };
            let row = row_of(track.who);
            chunks.extend(track.chunks.iter().map(|chunk| TimedChunk {
                row,
                of,
                iterations: chunk.iterations.clone(),
                time: time(chunk.time.start)..time(chunk.time.end),
                origin: chunk.origin,
            }));
        }
        chunks
            .sort_by_key(|chunk| (chunk.row, chunk.time.start, std::cmp::Reverse(chunk.time.end)));
        Self { rows, loops, chunks }
    }

    /// The threads: one for each seat of the pool, and one for each caller from outside; by node, domain and seat.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The loops that ended while it was recorded, in the order in which they were launched.
    pub fn loops(&self) -> &[TimedLoop] {
        &self.loops
    }

    /// The chunks of these loops, by row, and within a row by time.
    pub fn chunks(&self) -> &[TimedChunk] {
        &self.chunks
    }

    /// A picture for browsers and documents, in one file that needs no other: threads from top to bottom, grouped by
    /// node and cache; time from left to right; each chunk in the colour of its [`Origin`]. Pointing at one tells what
    /// it is.
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }

    /// The same for trace viewers, such as `chrome://tracing` and <https://ui.perfetto.dev>: JSON in the trace event
    /// format.
    pub fn to_trace(&self) -> String {
        trace::write(self)
    }

    /// How many iterations came from each origin.
    fn iterations_by_origin(&self) -> [u64; Origin::ALL.len()] {
        Origin::ALL.map(|origin| {
            let from = self.chunks.iter().filter(|chunk| chunk.origin == origin);
            from.map(|chunk| chunk.iterations.end - chunk.iterations.start).sum()
        })
    }

    fn end(&self) -> Duration {
        let chunks = self.chunks.iter().map(|chunk| chunk.time.end);
        chunks.chain(self.loops.iter().map(|timed| timed.time.end)).max().unwrap_or_default()
    }
}

impl Row {
    fn name(&self) -> String {
        match self.caller {
            None => format!("seat {}", self.seat),
            Some(1) => "caller".into(),
            Some(number) => format!("caller {number}"),
        }
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.iterations_by_origin().iter().sum();
        write!(
            f,
            "{} loops, {} chunks, {all} iterations in {:.1?}",
            self.loops.len(),
            self.chunks.len(),
            self.end()
        )?;
        for (origin, count) in Origin::ALL.iter().zip(self.iterations_by_origin()) {
            if count > 0 {
                let share = 100.0 * count as f64 / all as f64;
                write!(f, "\n{:>6.1} % from: {}", share, origin.name())?;
            }
        }
        Ok(())
    }
}
