//! What a pool has counted: how its loops were shared out, and how far iterations moved.

mod counters;
pub(crate) mod sites;
pub mod timeline;

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

pub(crate) use counters::Counters;

/// How far apart two seats are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// They share the last-level cache within a NUMA node.
    Llc,
    /// They share the node.
    Node,
    /// They are on different nodes.
    Remote,
    /// Nobody knows.
    Unknown,
}

/// Counts by how far apart two seats are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct ByTier {
    /// Within one last-level-cache domain.
    pub llc: u64,
    /// Between two domains of one NUMA node.
    pub node: u64,
    /// Between two NUMA nodes.
    pub remote: u64,
    /// Between seats whose homes are not known.
    pub unknown: u64,
}

impl ByTier {
    /// The sum over all tiers.
    pub const fn total(&self) -> u64 {
        self.llc.saturating_add(self.node).saturating_add(self.remote).saturating_add(self.unknown)
    }

    /// The count of one tier.
    pub(crate) fn at(&mut self, tier: Tier) -> &mut u64 {
        match tier {
            Tier::Llc => &mut self.llc,
            Tier::Node => &mut self.node,
            Tier::Remote => &mut self.remote,
            Tier::Unknown => &mut self.unknown,
        }
    }
}

/// What has been counted since the pool was made.
///
/// Counters of one loop are added when a participant leaves it, so a snapshot taken while loops run lags behind. What is
/// counted in one loop alone: [`Loop::report`](crate::Loop::report); in several, the snapshot after them minus the one
/// before.
///
/// With the feature `serde` it can be serialized and deserialized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Stats {
    /// Loops launched that other threads could take part in.
    pub loops: u64,
    /// Loops that the calling thread ran alone.
    pub serial_loops: u64,
    /// Times that a worker took part in a loop.
    pub joins: u64,
    /// Chunks run in shared loops.
    pub chunks: u64,
    /// Iterations run in shared loops.
    pub iterations: u64,
    /// Successful steals, by the distance from the thief to the victim.
    pub steals: ByTier,
    /// Iterations that ran elsewhere than at the seat whose block they belong to, by the distance between the two.
    pub moved: ByTier,
    /// Blocks that another participant began, since their worker had not come.
    pub rescues: u64,
    /// Times that a block was left alone since its worker still had a fair chance to begin it.
    pub protected_skips: u64,
    /// Looks at victims on other nodes, after a look at the own node had found nothing.
    pub remote_passes: u64,
    /// Times that a worker went to sleep.
    pub parks: u64,
    /// Workers woken for a loop.
    pub wakes: u64,
    /// Times that a worker moved to another CPU, since it found the caller of a loop on its own.
    pub steps_aside: u64,
    /// Jobs that workers ran, by the distance from the domain that they belong near to to the CPU that they began on.
    pub jobs: ByTier,
    /// Those of them for which the worker was pinned to their domain.
    pub jobs_pinned: u64,
    /// Jobs that ran in their submitter when they were submitted.
    pub jobs_inline: u64,
}

impl Stats {
    /// The share of iterations that left the last-level cache of their block, 0 to 1; unknown homes are not counted.
    pub fn share_leaving_cache(&self) -> f64 {
        share(self.moved.node + self.moved.remote, self.iterations)
    }

    /// The share of jobs that workers ran in the last-level cache that the jobs belong near to, 0 to 1; unknown places
    /// are not counted.
    pub fn share_of_jobs_near(&self) -> f64 {
        share(self.jobs.llc, self.jobs.total() - self.jobs.unknown)
    }

    /// The share of iterations that left the NUMA node of their block, 0 to 1; unknown homes are not counted.
    pub fn share_leaving_node(&self) -> f64 {
        share(self.moved.remote, self.iterations)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Implements field-by-field arithmetic, which stops at zero and at the largest number: a few loops over all values of `u64`
/// are enough to come there.
macro_rules! fieldwise {
    ($type:ident, $($field:ident: $kind:tt),+) => {
        impl Add for $type {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self { $($field: fieldwise!(@add $kind self.$field, other.$field)),+ }
            }
        }
        impl Sub for $type {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self { $($field: fieldwise!(@sub $kind self.$field, other.$field)),+ }
            }
        }
        impl AddAssign for $type {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
    };
    (@add count $a:expr, $b:expr) => { $a.saturating_add($b) };
    (@add tiers $a:expr, $b:expr) => { $a + $b };
    (@sub count $a:expr, $b:expr) => { $a.saturating_sub($b) };
    (@sub tiers $a:expr, $b:expr) => { $a - $b };
}

fieldwise!(ByTier, llc: count, node: count, remote: count, unknown: count);
fieldwise!(
    Stats, loops: count, serial_loops: count, joins: count, chunks: count, iterations: count,
    steals: tiers, moved: tiers, rescues: count, protected_skips: count, remote_passes: count,
    parks: count, wakes: count, steps_aside: count, jobs: tiers, jobs_pinned: count, jobs_inline: count
);

impl fmt::Display for ByTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in the cache, {} in the node, {} across nodes",
            self.llc, self.node, self.remote
        )?;
        if self.unknown > 0 {
            write!(f, ", {} between unknown places", self.unknown)?;
        }
        Ok(())
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "loops: {} shared, {} on the caller alone", self.loops, self.serial_loops)?;
        writeln!(f, "workers joining: {}", self.joins)?;
        writeln!(f, "iterations: {} in {} chunks", self.iterations, self.chunks)?;
        writeln!(f, "steals: {}", self.steals)?;
        writeln!(f, "iterations moved: {}", self.moved)?;
        writeln!(
            f,
            "blocks rescued: {}, left alone for a while: {}",
            self.rescues, self.protected_skips
        )?;
        writeln!(f, "looks at other nodes: {}", self.remote_passes)?;
        writeln!(f, "workers asleep: {} times, woken: {} times", self.parks, self.wakes)?;
        writeln!(f, "workers stepping aside for their callers: {} times", self.steps_aside)?;
        write!(
            f,
            "jobs on workers: {}; {} with the worker pinned, {} in the submitter instead",
            self.jobs, self.jobs_pinned, self.jobs_inline
        )
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn differences_count_one_loop() {
        let before =
            Stats { loops: 3, steals: ByTier { llc: 2, ..ByTier::default() }, ..Stats::default() };
        let mut after = before;
        after += Stats {
            loops: 1,
            iterations: 10,
            moved: ByTier { node: 3, remote: 1, ..ByTier::default() },
            ..Stats::default()
        };
        let one = after - before;
        assert_eq!((one.loops, one.steals.total(), one.moved.total()), (1, 0, 4));
        assert!((one.share_leaving_cache() - 0.4).abs() < 1e-12);
        assert!((one.share_leaving_node() - 0.1).abs() < 1e-12);
    }
}
