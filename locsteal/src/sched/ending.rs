//! How far a loop still has to go: the place where early exits and panics tell the other participants.

use crate::sync::{AtomicU64, Ordering};

/// The bound above which nothing is started any more.
///
/// Relaxed throughout: the words only tell participants where to stop. The value that an exit carries, or a panic's
/// payload, is handed over under a lock or with the participant's leaving.
#[derive(Debug)]
pub(crate) struct Ending {
    bound: AtomicU64,
    exit: AtomicU64,
}

impl Ending {
    const OPEN: u64 = u64::MAX;

    pub(crate) fn new() -> Self {
        Self { bound: AtomicU64::new(Self::OPEN), exit: AtomicU64::new(Self::OPEN) }
    }

    /// Positions at or above it need not be started.
    #[inline]
    pub(crate) fn bound(&self) -> u64 {
        self.bound.load(Ordering::Relaxed)
    }

    /// The iteration at `position` leaves the loop; everything below still runs.
    pub(crate) fn exit_at(&self, position: u64) {
        self.exit.fetch_min(position, Ordering::Relaxed);
        self.bound.fetch_min(position, Ordering::Relaxed);
    }

    /// The lowest exit so far.
    pub(crate) fn exit(&self) -> Option<u64> {
        Some(self.exit.load(Ordering::Relaxed)).filter(|&at| at != Self::OPEN)
    }

    /// Nothing is started any more.
    pub(crate) fn stop(&self) {
        self.bound.store(0, Ordering::Relaxed);
    }

    /// Whether the loop was left early.
    pub(crate) fn is_early(&self) -> bool {
        self.bound() != Self::OPEN
    }

    /// Ready for the next loop; only while nobody else uses it.
    pub(crate) fn reset(&self) {
        self.bound.store(Self::OPEN, Ordering::Relaxed);
        self.exit.store(Self::OPEN, Ordering::Relaxed);
    }
}
