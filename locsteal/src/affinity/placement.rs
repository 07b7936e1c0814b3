//! How workers are tied to places, and what a seat's place is.

use std::fmt;

use crate::topology::CpuSet;

/// How tightly worker threads are tied to the places of their seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placement {
    /// Not at all: the operating system moves workers as it likes.
    Free,
    /// Each worker stays on the allowed CPUs of one LLC domain, and is free among them.
    Llc,
    /// Each worker stays on one CPU of its own.
    ///
    /// For machines that run nothing else: two programs that do so on one machine are stuck to the
    /// same CPUs, while others idle.
    Cpu,
}

impl Placement {
    /// As the environment variable `LOCSTEAL_PLACEMENT` names it: `free`, `llc` or `cpu`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Llc => "llc",
            Self::Cpu => "cpu",
        }
    }
}

/// The [name](Placement::name).
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which places a pool takes that is narrower than the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// As few domains and nodes as possible, beginning near the pool's creator.
    ///
    /// The default: launching and stealing then stay in one cache, data that the creator made is
    /// near, and several narrow pools made in different places leave each other alone.
    #[default]
    Compact,
    /// The same number of seats in each node and domain, as far as there are CPUs.
    ///
    /// For loops that are bound by memory bandwidth, or need more cache than one domain has.
    Spread,
}

/// Where a seat is, as indices into its
/// [`Topology`](crate::Topology), and where its worker may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Home {
    /// The domain that holds every CPU that the worker may run on, if there is one.
    pub domain: Option<usize>,
    /// The node that holds every CPU that the worker may run on, if there is one.
    pub node: Option<usize>,
    /// The CPU that the seat stands for. No other seat has it unless there are more seats than
    /// CPUs. With [`Placement::Free`], and where CPUs are unknown, there is none.
    pub cpu: Option<usize>,
    /// The mask for the worker; `None` leaves it all CPUs that the process may use.
    pub mask: Option<CpuSet>,
}
