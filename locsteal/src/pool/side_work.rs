//! Work besides loops that a pool's workers do: what the pool asks whoever has some.

use std::any::Any;
use std::fmt::Debug;

use super::shared::Shared;

/// Work besides loops. The module that has some implements this and puts it into the pool when the first piece comes;
/// until then it costs the workers one load at each turn, and those who launch loops nothing.
///
/// A worker calls these functions for its own seat alone, [`arrive`](Self::arrive) first and [`depart`](Self::depart)
/// last.
pub(crate) trait SideWork: Any + Debug + Send + Sync {
    /// The worker of `seat` begins to look for side work.
    fn arrive(&self, seat: usize);

    /// The worker is idle: does one piece of work, if there is any for it; gives back whether there was. `turn` counts
    /// these calls.
    fn look(&self, shared: &Shared, seat: usize, turn: u32) -> bool;

    /// The worker is about to join a loop or to sleep, and will not look for a while: does what it has been promised to
    /// do meanwhile; gives back whether there was anything.
    fn turn_away(&self, shared: &Shared, seat: usize) -> bool;

    /// The worker joins a loop: if side work waits, another one is woken for it.
    fn hand_over(&self, shared: &Shared);

    /// Whether any work waits. A worker that has announced its sleep looks here once more; who makes work calls
    /// [`Sleepers::published`](super::sleep::Sleepers::published) and then wakes a sleeper.
    fn waits(&self) -> bool;

    /// The worker ends, as its crew has been dismissed: does all work that waits.
    fn depart(&self, shared: &Shared, seat: usize);
}
