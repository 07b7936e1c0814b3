//! The scheduling core.

/// How a loop's iterations are dealt out to its participants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// Measure the call site and choose.
    #[default]
    Auto,
    /// One contiguous block per seat.
    Static,
    /// Chunks of this many iterations, dealt to the seats in turn.
    StaticChunk(u64),
    /// Contiguous blocks, balanced by stealing.
    Steal,
    /// Chunks of shrinking size, taken from one counter.
    Dynamic,
    /// Chunks of this many iterations, taken from one counter.
    DynamicChunk(u64),
    /// On the caller alone.
    Serial,
}

/// Which victims are tried before others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Locality {
    /// Same last-level cache, then the node, then farther nodes by distance.
    #[default]
    Llc,
    /// Same node, then farther nodes by distance.
    Node,
    /// All seats in a cycle.
    Flat,
}
