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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::test_folder::TestFolder;

    fn width(asked_for: Option<usize>, cpus: &str, quota: Option<&str>) -> String {
        let root = TestFolder::new("width");
        if let Some(quota) = quota {
            root.write("proc/self/cgroup", "0::/\n");
            root.write("sys/fs/cgroup/cpu.max", quota);
        }
        default_width(asked_for, &cpus.parse().unwrap(), root.path()).to_string()
    }

    #[test]
    fn the_least_of_cpus_and_quota_counts() {
        for (cpus, quota, expected) in [
            ("0-7", None, "8 seats, one for each allowed CPU"),
            ("0-7", Some("max 100000"), "8 seats, one for each allowed CPU"),
            ("0-7", Some("800000 100000"), "8 seats, one for each allowed CPU"),
            ("0-7", Some("150000 100000"), "2 seats, as the CPU quota of 150 % of a CPU allows"),
            ("0-7", Some("1000 100000"), "1 seat, as the CPU quota of 1 % of a CPU allows"),
            ("1,1500", Some("400000 100000"), "2 seats, one for each allowed CPU"),
            ("5", None, "1 seat, one for each allowed CPU"),
        ] {
            assert_eq!(width(None, cpus, quota), expected);
        }
    }

    #[test]
    fn the_environment_has_the_last_word() {
        let expected = "16 seats, as LOCSTEAL_THREADS asks for";
        assert_eq!(width(Some(16), "0-7", Some("150000 100000")), expected);
    }

    #[test]
    fn where_cpus_are_unknown_the_standard_library_is_asked() {
        let width = default_width(None, &CpuSet::new(), Path::new("/nowhere"));
        assert_eq!(width.cause, Cause::StandardLibrary);
        assert_eq!(width.seats, thread::available_parallelism().unwrap().get());
    }
}
