//! What everything takes: the numbers that stand for the hardware and the kernel.
//!
//! `docs/simulator.md` says where each comes from, and which were fitted to published measurements.

use super::time::{Time, ns, us};

#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// A cache line that is in the own cache.
    pub(crate) hit: Time,
    /// A cache line from another core of the same last-level cache.
    pub(crate) line_llc: Time,
    /// From another cache of the same node.
    pub(crate) line_node: Time,
    /// From a node at distance 20; others in proportion.
    pub(crate) line_remote: Time,
    /// How many looks at other seats are under way at once: the next one does not wait for what the last one shows.
    pub(crate) overlap: Time,
    /// How long a read keeps a line from serving the next one who wants it.
    pub(crate) line_busy: Time,

    /// What it takes to ask for the next step and to take a chunk of the own block.
    pub(crate) step: Time,
    /// What a caller does before its loop is open.
    pub(crate) launch: Time,
    /// What a worker does between entering and its first chunk.
    pub(crate) join: Time,
    /// How often a spinning worker looks at the lane.
    pub(crate) watch: Time,
    /// What it takes to call a sleeper's wake-up.
    pub(crate) wake_call: Time,
    /// From there until the sleeper runs.
    pub(crate) wake_latency: Time,
    /// How long a caller asks again and again before it sleeps.
    pub(crate) caller_spin: Time,
    /// A pause between two questions; they double six times.
    pub(crate) pause: Time,
    /// Letting other threads run where there are none.
    pub(crate) yielding: Time,

    /// A byte of data that is in another core's private cache or in another last-level cache, beyond what it takes at
    /// home: with so many lines under way at once that this is a fraction of a line's latency.
    pub(crate) byte_llc: f64,
    pub(crate) byte_node: f64,
    /// At distance 20; others in proportion.
    pub(crate) byte_remote: f64,
    /// What data in another node's memory takes more than in the own one's, as a share of the iteration's memory time;
    /// at distance 20.
    pub(crate) memory_remote: f64,
    /// Bytes of data that a core's private cache holds, and its share of the last-level cache.
    pub(crate) private_bytes: f64,
    pub(crate) llc_bytes: f64,
    /// Bytes in a nanosecond: a core from its private cache, from the last-level cache; a whole node from memory.
    pub(crate) private_rate: f64,
    pub(crate) llc_rate: f64,
    pub(crate) node_rate: f64,

    /// How uneven cores are in one run of a loop: the deviation of the logarithm of their speeds.
    pub(crate) uneven: f64,
    /// The same where they share the bandwidth of a memory.
    pub(crate) uneven_memory: f64,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            hit: ns(1.5),
            line_llc: ns(45.0),
            line_node: ns(100.0),
            line_remote: ns(140.0),
            overlap: 4,
            line_busy: ns(5.0),
            step: ns(15.0),
            launch: ns(60.0),
            join: ns(40.0),
            watch: ns(30.0),
            wake_call: us(5.0),
            wake_latency: us(30.0),
            caller_spin: us(50.0),
            pause: ns(10.0),
            yielding: ns(300.0),
            byte_llc: 0.05,
            byte_node: 0.15,
            byte_remote: 0.25,
            memory_remote: 0.7,
            private_bytes: 1e6,
            llc_bytes: 1.5e6,
            private_rate: 60.0,
            llc_rate: 20.0,
            node_rate: 200.0,
            uneven: 0.05,
            uneven_memory: 0.1,
        }
    }
}

/// The distance that costs across nodes are given for.
pub(crate) const COSTS_AT_DISTANCE: f64 = 20.0;
