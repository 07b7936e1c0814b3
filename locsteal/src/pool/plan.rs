//! What a pool would be, told without starting a thread.

use super::locality::LocalityReport;
use super::seats::Seats;
use crate::affinity::{Home, Placement};
use crate::sched::{Locality, Thief};
use crate::stats::Tier;
use crate::topology::Topology;

/// The seats that a pool would have, where they would be, and whom each would steal from.
///
/// Made by [`PoolBuilder::plan`](super::PoolBuilder::plan). With a topology that was read from a snapshot or made up it
/// shows what a pool would do on a machine that is not at hand.
///
/// # Examples
///
/// ```
/// use locsteal::{Locality, Pool, Tier, Topology};
///
/// let plan = Pool::builder().threads(8).topology(Topology::regular(2, 2, 2)).plan()?;
/// let victims = plan.victims(5, Locality::Llc);
/// assert_eq!(victims[..3], [(4, Tier::Llc), (6, Tier::Node), (7, Tier::Node)]);
/// # Ok::<(), locsteal::BuildError>(())
/// ```
#[derive(Debug)]
pub struct PoolPlan {
    seats: Seats,
}

impl PoolPlan {
    pub(super) fn new(seats: Seats) -> Self {
        Self { seats }
    }

    /// The machine.
    pub fn topology(&self) -> &Topology {
        self.seats.topology()
    }

    /// How workers would be placed.
    pub fn placement(&self) -> Placement {
        self.seats.placement()
    }

    /// How many seats there would be.
    pub fn threads(&self) -> usize {
        self.seats.count()
    }

    /// Where a seat would be.
    ///
    /// # Panics
    ///
    /// If there is no such seat.
    pub fn home(&self, seat: usize) -> &Home {
        self.seats.home(seat)
    }

    /// The other seats in the order in which the worker of `seat` would try to steal from them, and how far they are.
    ///
    /// # Panics
    ///
    /// If there is no such seat.
    pub fn victims(&self, seat: usize, locality: Locality) -> Vec<(usize, Tier)> {
        assert!(seat < self.threads(), "seat {seat} of a pool of {}", self.threads());
        let (orders, thief) = (self.seats.orders(), Thief { seat, near: seat });
        let local = orders.local(thief, locality, self.threads());
        let remote = orders.remote(thief, locality, self.threads());
        local.chain(remote).map(|victim| (victim, orders.tier(seat, victim))).collect()
    }

    /// Whether near seats would be tried first, and if not, why. Print it.
    pub fn locality(&self) -> LocalityReport {
        LocalityReport::new(&self.seats, self.seats.arrangement(), Vec::new())
    }
}
