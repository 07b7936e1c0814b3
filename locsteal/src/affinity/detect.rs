//! The machine that this process runs on.

use std::path::Path;

use super::mask;
use crate::topology::Topology;

impl Topology {
    /// The part of this machine that the calling thread may use: what its affinity mask allows.
    ///
    /// Takes about a millisecond, and never fails: see [`Topology::read`]. Off Linux nothing is
    /// known, and the [notes](Topology::notes) say so.
    pub fn detect() -> Self {
        if !cfg!(any(target_os = "linux", target_os = "android")) || cfg!(miri) {
            return Self::unknown("topology is read on Linux alone: it is unknown here".into());
        }
        let root = Path::new("/sys");
        match mask::current() {
            // The kernel leaves offline CPUs out of the mask that it reports.
            Ok(allowed) => Self::read_usable(root, allowed),
            Err(error) => Self::read_online(root).with_note(format!(
                "the affinity mask cannot be read ({error}): all online CPUs are taken as allowed"
            )),
        }
    }
}
