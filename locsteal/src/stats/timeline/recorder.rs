//! Where participants leave what they did while it is recorded.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use super::Origin;
use crate::pool::PerProcess;

/// A pool's recorder: off unless a recording is open.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// How many recordings are open.
    open: AtomicUsize,
    /// Tells loops apart that ran on their caller alone.
    alone: AtomicU64,
    /// The child of a fork has what it records itself: another thread may have been writing into the parent's.
    log: PerProcess<Mutex<Vec<Track>>>,
}

/// What one participant did in one loop. Times are in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    pub(crate) who: Who,
    pub(crate) of: LoopId,
    pub(crate) chunks: Vec<TrackChunk>,
    /// Told by the caller.
    pub(crate) launch: Option<Launch>,
}

/// A participant's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The worker of a seat.
    Worker(usize),
    /// A thread from elsewhere, near to a seat.
    Caller(ThreadId, usize),
}

/// Tells the loops of a pool apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopId {
    /// A number of its own among all that ran on their caller alone.
    Alone(u64),
    /// A lane's address, and the generation of the loop there.
    Shared(usize, u64),
}

#[derive(Clone, Debug)]
pub(crate) struct TrackChunk {
    pub(crate) iterations: Range<u64>,
    pub(crate) time: Range<u64>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// Empty: it has none.
    pub(crate) name: String,
    pub(crate) iterations: u64,
    pub(crate) width: usize,
    pub(crate) time: Range<u64>,
}

impl Recorder {
    /// Relaxed: whether a loop that is launched at the same time is recorded is anybody's guess.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn begin(&self) {
        let _log = self.log();
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a recording; what was kept of loops launched since then.
    pub(crate) fn end(&self, since: u64) -> Vec<Track> {
        let mut log = self.log();
        let was_last = self.open.fetch_sub(1, Ordering::Relaxed) == 1;
        let all = if was_last { std::mem::take(&mut *log) } else { log.clone() };
        let launched =
            |track: &Track| track.launch.as_ref().is_some_and(|at| at.time.start >= since);
        let loops: Vec<LoopId> =
            all.iter().filter(|track| launched(track)).map(|track| track.of).collect();
        all.into_iter().filter(|track| loops.contains(&track.of)).collect()
    }

    pub(crate) fn keep(&self, track: Track) {
        let mut log = self.log();
        if self.is_on() {
            log.push(track);
        }
    }

    pub(crate) fn next_alone(&self) -> LoopId {
        LoopId::Alone(self.alone.fetch_add(1, Ordering::Relaxed))
    }

    fn log(&self) -> MutexGuard<'_, Vec<Track>> {
        self.log.here().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Track {
    pub(crate) fn new(who: Who, of: LoopId) -> Self {
        Self { who, of, chunks: Vec::new(), launch: None }
    }

    /// A chunk begins.
    pub(crate) fn begins(&mut self, iterations: Range<u64>, origin: Origin, now: u64) {
        self.chunks.push(TrackChunk { iterations, time: now..now, origin });
    }

    /// The last chunk ends, if it has not ended yet.
    pub(crate) fn ends(&mut self, now: u64) {
        if let Some(chunk) = self.chunks.last_mut()
            && chunk.time.is_empty()
        {
            chunk.time.end = now.max(chunk.time.start + 1);
        }
    }
}
