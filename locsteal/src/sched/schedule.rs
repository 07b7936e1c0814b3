//! The names that users choose from.

/// How a loop's iterations are dealt out to its participants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// Choose for me.
    #[default]
    Auto,
    /// One contiguous block a seat, the same seat for the same block in every loop of the same length, so that data
    /// stays where it was first touched. Nothing is balanced; only a block whose worker never comes is run by another.
    Static,
    /// Chunks of this many iterations, dealt to the seats in turn: chunk `k` of a loop of width `w` belongs to seat
    /// `k % w`. Zero counts as one.
    StaticChunk(u64),
    /// The blocks of [`Static`](Self::Static), balanced: who runs out of work steals a quarter of what is left in
    /// another's block, from the nearest first.
    Steal,
    /// Chunks taken from one shared counter, each a fixed share of what is left.
    Dynamic,
    /// Chunks of this many iterations, taken from one shared counter. Zero counts as one.
    DynamicChunk(u64),
    /// All iterations in order, on the calling thread.
    Serial,
}

/// Which victims a thief tries before others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Locality {
    /// Those that share the thief's last-level cache, then the rest of its NUMA node, then other nodes by distance.
    #[default]
    Llc,
    /// Those of the thief's NUMA node, then other nodes by distance.
    Node,
    /// All seats in a cycle, near or far.
    Flat,
}

/// What the step function distinguishes: a [`Schedule`] whose choices have been made. Chunks are in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Static,
    StaticChunk(u32),
    Steal,
    Dynamic,
    DynamicChunk(u32),
    /// As [`Dynamic`](Self::Dynamic), but what is taken at once is small at the front and grows: for loops that may end anywhere.
    Growing,
}

impl Kind {
    /// Whether participants publish blocks that others may steal from.
    pub(crate) const fn publishes(self) -> bool {
        matches!(self, Self::Steal)
    }

    /// Whether each seat has work of its own, which somebody must begin.
    pub(crate) const fn has_blocks(self) -> bool {
        matches!(self, Self::Static | Self::StaticChunk(_) | Self::Steal)
    }
}
