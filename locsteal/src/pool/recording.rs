//! Recording who runs which iterations when.

use std::time::Duration;

use super::Pool;
use crate::clock;
use crate::stats::timeline::Timeline;

/// Records the loops of a pool until it is [finished](Self::finish); made by [`Pool::record`].
#[derive(Debug)]
#[must_use = "what is recorded comes out of `finish`"]
pub struct Recording<'p> {
    pool: &'p Pool,
    since: u64,
    open: bool,
}

impl<'p> Recording<'p> {
    pub(super) fn new(pool: &'p Pool) -> Self {
        pool.shared.recorder.begin();
        Self { pool, since: clock::ticks(), open: true }
    }

    /// Ends the recording: what happened in the loops that were launched on the pool since it began and have ended.
    pub fn finish(mut self) -> Timeline {
        self.open = false;
        let shared = &self.pool.shared;
        let place = |seat: usize| shared.seats.arrangement().spot(seat);
        let time =
            |ticks: u64| Duration::from_nanos(clock::in_ns(ticks.saturating_sub(self.since)));
        Timeline::new(shared.recorder.end(self.since), shared.seats.count(), place, time)
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if self.open {
            self.pool.shared.recorder.end(self.since);
        }
    }
}
