//! How many seats a pool has by default.

use std::fmt;
use std::path::Path;
use std::thread;

use super::quota::Quota;
use crate::topology::CpuSet;

/// A number of seats, and what set it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Width {
    /// At least 1.
    pub(crate) seats: usize,
    pub(crate) cause: Cause,
}

/// What set a width.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cause {
    /// `LOCSTEAL_THREADS`.
    Environment,
    /// The affinity mask allows so many CPUs.
    Cpus,
    /// The container's CPU quota, rounded up.
    Quota(Quota),
    /// Affinity is unknown here, and this is what the standard library says.
    StandardLibrary,
}

/// The number of seats for a pool that is not told how many: what the environment asks for, else
/// what the allowed CPUs and the quota allow.
///
/// `root` is `/`, except in tests; `cpus` is empty where it is unknown.
pub(crate) fn default_width(asked_for: Option<usize>, cpus: &CpuSet, root: &Path) -> Width {
    if let Some(seats) = asked_for {
        return Width { seats, cause: Cause::Environment };
    }
    if cpus.is_empty() {
        let seats = thread::available_parallelism().map_or(1, usize::from);
        return Width { seats, cause: Cause::StandardLibrary };
    }
    match Quota::read(root) {
        Some(quota) if quota.cpus() < cpus.len() => {
            Width { seats: quota.cpus(), cause: Cause::Quota(quota) }
        }
        _ => Width { seats: cpus.len(), cause: Cause::Cpus },
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seats = self.seats;
        let plural = if seats == 1 { "" } else { "s" };
        write!(f, "{seats} seat{plural}, ")?;
        match &self.cause {
            Cause::Environment => write!(f, "as LOCSTEAL_THREADS asks for"),
            Cause::Cpus => write!(f, "one for each allowed CPU"),
            Cause::Quota(quota) => write!(f, "as the {quota} allows"),
            Cause::StandardLibrary => write!(f, "as many as the standard library suggests"),
        }
    }
}
