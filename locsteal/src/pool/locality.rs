//! What a pool says of itself in words.

use std::fmt;

use super::seats::{Arrangement, Seats};
use crate::affinity::Placement;

/// Whether near seats are tried first on a pool, how its workers are placed, and what went wrong, if anything.
///
/// `Display` gives it in words, one sentence a line. With the feature `serde` it can be serialized.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LocalityReport {
    on: bool,
    lines: Vec<String>,
}

impl LocalityReport {
    pub(super) fn new(seats: &Seats, found: &Arrangement, problems: Vec<String>) -> Self {
        let topology = seats.topology();
        let on = !found.is_cyclic();
        let (domains, nodes) = (topology.domains().len(), topology.nodes().len().max(1));
        let mut lines = Vec::new();
        lines.push(if on {
            match (domains, nodes) {
                (0, 1) => "locality is on: all seats are in one node whose caches are unknown, so every victim is \
                           equally near"
                    .into(),
                (1, 1) => {
                    "locality is on: all seats share one last-level cache, so every victim is near".into()
                }
                _ if found.roamers().len() == seats.count() => format!(
                    "locality is on: victims are tried in the thief's node first, then in other nodes by distance \
                     ({nodes} nodes); which last-level cache of its node a worker runs in is not known"
                ),
                _ => format!(
                    "locality is on: victims are tried in the thief's last-level cache first, then in its node, then \
                     in other nodes by distance ({domains} caches in {nodes} {})",
                    if nodes == 1 { "node" } else { "nodes" }
                ),
            }
        } else if !found.moved().is_empty() {
            format!(
                "locality is off, victims are tried in a cycle: the workers of seats {} are not where they were put, and \
                 not each of them is known to stay within one last-level cache or node",
                found.moved()
            )
        } else if domains == 0 && topology.nodes().is_empty() {
            "locality is off, victims are tried in a cycle: the system tells nothing of caches and nodes".into()
        } else {
            format!(
                "locality is off, victims are tried in a cycle: workers may run in more than one of the {domains} \
                 last-level caches; build the pool with `Placement::Llc` or set LOCSTEAL_PLACEMENT=llc to confine \
                 each to one"
            )
        });
        lines.push(
            match seats.placement() {
                _ if topology.cpus().is_empty() => "workers run wherever the system puts them: CPUs are unknown",
                Placement::Free => "workers run on any CPU that the process may use",
                Placement::Llc if (0..seats.count()).all(|seat| seats.home(seat).domain.is_some()) => {
                    "each worker is confined to the allowed CPUs of one last-level cache"
                }
                Placement::Llc => {
                    "each worker is confined to the allowed CPUs of one last-level cache, or of its node where its \
                     cache is unknown or has no other CPU"
                }
                Placement::Cpu => "each worker is confined to one CPU of its own",
            }
            .into(),
        );
        if on && !found.moved().is_empty() {
            lines.push(format!(
                "the workers of seats {} were given other masks before the first loop, and are taken to be there",
                found.moved()
            ));
        }
        let roamers = found.roamers();
        if on && domains > 1 && !roamers.is_empty() && roamers.len() < seats.count() {
            lines.push(format!(
                "the workers of seats {roamers} may run in more than one last-level cache of their node, and are near to \
                 none of it more than to another"
            ));
        }
        lines.extend(problems);
        lines.extend(topology.notes().iter().cloned());
        Self { on, lines }
    }

    /// Whether near seats are tried first.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The report, one sentence each.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl fmt::Display for LocalityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}
