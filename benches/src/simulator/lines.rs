//! What it takes to reach for the cache lines that participants share, one line a seat, and how they queue for them.

use super::costs::Costs;
use super::machines::{Apart, Site};
use super::time::Time;

#[derive(Clone, Debug)]
struct Line {
    /// Who wrote it last.
    writer: usize,
    /// Goes up with each write.
    version: u32,
    /// Whether others have read it since.
    read: bool,
    /// Until when it is on its way to somebody.
    busy_until: Time,
}

/// Lines by number, as seen from every seat.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    /// Which version of each line each seat holds in its cache; by seat, then line.
    held: Vec<u32>,
}

impl Lines {
    /// One line for each seat, written by it, and one for all, written by seat 0.
    pub(crate) fn new(seats: usize) -> Self {
        let line = |writer| Line { writer, version: 1, read: false, busy_until: 0 };
        Self {
            lines: (0..seats).map(line).chain([line(0)]).collect(),
            held: vec![0; seats * (seats + 1)],
        }
    }

    /// The line that no seat owns.
    pub(crate) fn shared(&self) -> usize {
        self.lines.len() - 1
    }

    /// When a seat that reads a line from `now` on has it.
    pub(crate) fn read(
        &mut self,
        seat: usize,
        line: usize,
        now: Time,
        site: &Site,
        costs: &Costs,
    ) -> Time {
        let count = self.lines.len();
        let (state, held) = (&mut self.lines[line], &mut self.held[seat * count + line]);
        if state.writer == seat || *held == state.version {
            return now + costs.hit;
        }
        *held = state.version;
        state.read = true;
        let start = now.max(state.busy_until);
        state.busy_until = start + costs.line_busy;
        start + shared_out(transfer(site, costs, seat, state.writer), costs)
    }

    /// When a seat that writes a line from `now` on has done so.
    pub(crate) fn write(
        &mut self,
        seat: usize,
        line: usize,
        now: Time,
        site: &Site,
        costs: &Costs,
    ) -> Time {
        let state = &mut self.lines[line];
        let mine = state.writer == seat;
        state.version += 1;
        if mine && !state.read {
            return now + costs.hit;
        }
        let start = now.max(state.busy_until);
        // Copies must be taken back from those who have read it, or the line from who wrote it.
        let taken = if mine { costs.line_llc } else { transfer(site, costs, seat, state.writer) };
        (state.writer, state.read, state.busy_until) = (seat, false, start + taken);
        start + taken
    }
}

/// What is left of a look's latency where several are under way.
fn shared_out(latency: Time, costs: &Costs) -> Time {
    (latency as f64 / costs.overlap) as Time
}

pub(crate) fn transfer(site: &Site, costs: &Costs, to: usize, from: usize) -> Time {
    match site.apart(to, from) {
        Apart::Same => costs.hit,
        Apart::Cores => costs.line_llc,
        Apart::Caches => costs.line_node,
        Apart::Nodes(far) => (costs.line_remote as f64 * far) as Time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fetched_once_and_again_after_it_was_written() {
        let (site, costs) = (Site::regular(2, 1, 2), Costs::default());
        let mut lines = Lines::new(4);
        assert_eq!(
            lines.read(1, 0, 1000, &site, &costs),
            1000 + shared_out(costs.line_llc, &costs)
        );
        let again = 10_000_000;
        assert_eq!(lines.read(1, 0, again, &site, &costs), again + costs.hit);
        assert_eq!(lines.write(2, 0, again, &site, &costs), again + costs.line_remote);
        let later = 20_000_000;
        assert_eq!(
            lines.read(1, 0, later, &site, &costs),
            later + shared_out(costs.line_remote, &costs)
        );
        assert_eq!(lines.write(2, 2, later, &site, &costs), later + costs.hit, "its own");
    }

    #[test]
    fn writers_of_one_line_queue() {
        let (site, costs) = (Site::regular(1, 1, 8), Costs::default());
        let mut lines = Lines::new(8);
        let last = (1..8).map(|seat| lines.write(seat, 0, 0, &site, &costs)).max();
        assert_eq!(last, Some(7 * costs.line_llc));
    }
}
