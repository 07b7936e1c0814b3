//! The machine to show: this one, a folder, or a snapshot.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use locsteal::{CpuSet, Topology, TopologySnapshot};

pub(crate) enum Machine {
    /// This one, all that the process may use.
    This,
    Folder {
        root: PathBuf,
        allowed: Option<CpuSet>,
    },
    Snapshot(TopologySnapshot),
}

impl Machine {
    pub(crate) fn open(
        root: Option<&Path>,
        allowed: Option<CpuSet>,
    ) -> Result<Self, Box<dyn Error>> {
        let Some(root) = root else {
            return Ok(match allowed {
                None => Self::This,
                allowed => Self::Folder { root: "/sys".into(), allowed },
            });
        };
        if root.is_dir() {
            return Ok(Self::Folder { root: root.into(), allowed });
        }
        let text = fs::read_to_string(root)
            .map_err(|error| format!("{} cannot be read: {error}", root.display()))?;
        let snapshot: TopologySnapshot =
            text.parse().map_err(|error| format!("{}: {error}", root.display()))?;
        Ok(Self::Snapshot(match allowed {
            Some(allowed) => snapshot.with_allowed(allowed),
            None => snapshot,
        }))
    }

    /// The topology files of it.
    pub(crate) fn snapshot(&self) -> TopologySnapshot {
        match self {
            Self::This => {
                let allowed = Topology::detect().cpus().clone();
                TopologySnapshot::capture("/sys", Some(allowed).filter(|cpus| !cpus.is_empty()))
            }
            Self::Folder { root, allowed } => TopologySnapshot::capture(root, allowed.clone()),
            Self::Snapshot(snapshot) => snapshot.clone(),
        }
    }

    /// The topology; `None`: that which a pool finds by itself.
    pub(crate) fn topology(&self) -> Option<Topology> {
        match self {
            Self::This => None,
            Self::Folder { root, allowed: Some(allowed) } => Some(Topology::read(root, allowed)),
            Self::Folder { .. } | Self::Snapshot(_) => Some(self.snapshot().topology()),
        }
    }
}
