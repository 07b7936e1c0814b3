//! What conductor and arm say to each other: one JSON value a line.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// To an arm.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Run the operation for `warm_up`, then time it for `budget`.
    Measure { warm_up: Duration, budget: Duration },
    /// Run the operation for `warm_up`, then time it `count` times one by one.
    Spread { warm_up: Duration, count: usize },
    /// Run the operation after pauses of `gap` in which the caller computes, until the pool has got used to them; then time
    /// `count` of them.
    Gaps { gap: Duration, count: u32 },
    /// Run the operation once, or again after each `gap`, for `time`.
    Live { time: Duration, gap: Option<Duration> },
}

/// From an arm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The operation did what a plain loop does.
    Ready,
    /// The peer is missing, cannot run this line, or ran it wrongly; in words.
    Failed(String),
    Sample(Sample),
    Spread(Spread),
    Gapped(Gapped),
    Lived,
}

/// What one batch of operations cost.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Median time of an operation, in nanoseconds.
    pub(crate) ns: f64,
    /// CPUs that the process kept busy on average, pauses included.
    pub(crate) cpus: f64,
    /// How often the system took a CPU from one of its threads.
    pub(crate) preemptions: i64,
}

/// How single operations scattered.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// Nanoseconds that the shares [`SHARES`](super::SHARES) of the operations took at most, one clock read included.
    pub(crate) ns: [f64; 7],
    /// CPU time of all threads together, per operation; pauses between operations included.
    pub(crate) cpu_ns: f64,
    /// How often a thread went to sleep, per operation.
    pub(crate) sleeps: f64,
    /// How often a thread lost its CPU to another, per operation.
    pub(crate) preemptions: f64,
}

/// What operations after pauses cost.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Gapped {
    /// Median time of the operation after a pause, in nanoseconds.
    pub(crate) ns: f64,
    /// CPUs that threads other than the caller kept busy during the pauses.
    pub(crate) burnt: f64,
}
