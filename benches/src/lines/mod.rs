//! The lines of the table: which loop, how long, launched how often, by how many, next to what.

mod table;
mod timed;
mod work;

use std::time::Duration;

use anyhow::Result;

use crate::peers::{Offload, Peer, Setup};

pub(crate) use table::lines;
pub(crate) use timed::{Timed, compute};

/// Lines that are shown together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Launch,
    Even,
    Uneven,
    Language,
    Company,
    Offload,
}

impl Group {
    pub(crate) const ALL: [Self; 6] =
        [Self::Launch, Self::Even, Self::Uneven, Self::Language, Self::Company, Self::Offload];

    /// The file that its plot is written to, without the ending.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Even => "even",
            Self::Uneven => "uneven",
            Self::Language => "language",
            Self::Company => "company",
            Self::Offload => "offload",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Launch => "Launching a loop",
            Self::Even => "Loops of equal iterations",
            Self::Uneven => "Loops of unequal iterations",
            Self::Language => "Reductions, nests, exits and yielding loops",
            Self::Company => "In company: several callers, more seats than CPUs, a busy neighbour",
            Self::Offload => "Handing one closure to another thread and back",
        }
    }
}

/// What happens between two timed operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Nothing: operations follow each other, and many are timed at once.
    Hot,
    /// The caller sleeps.
    Asleep(Duration),
    /// The caller computes something of its own.
    Busy(Duration),
}

/// Another process that works at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbour {
    None,
    /// One thread of it computes without pause; the peer's loop is timed.
    Disturbs,
    /// A thread of it per CPU computes without pause and is timed, while the peer's caller sleeps after one loop.
    BesideIdle,
    /// The same, while the caller runs a loop once a millisecond.
    BesideLoops,
}

impl Neighbour {
    /// Whether it is the neighbour's time that is measured.
    pub(crate) fn is_measured(self) -> bool {
        matches!(self, Self::BesideIdle | Self::BesideLoops)
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    AddOne(usize),
    Axpy(usize),
    Stencil(usize),
    Triangular(usize),
    HotFront(usize),
    HeavyTail(usize),
    Sum(usize),
    ReproducibleSum(usize),
    Nested(usize, usize),
    Mixed,
    Checked(usize),
    Exit(usize),
    Map(usize),
    RoundTrip,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// What one timed operation is, in a few words.
    pub(crate) what: &'static str,
    pub(crate) operation: Operation,
    pub(crate) pace: Pace,
    /// Threads that launch the operation at the same time, each on data of its own.
    pub(crate) callers: usize,
    /// Seats per CPU.
    pub(crate) seats: usize,
    pub(crate) neighbour: Neighbour,
}

impl Line {
    pub(crate) fn is_offload(&self) -> bool {
        self.operation == Operation::RoundTrip
    }

    /// What the array data of one process of this line takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let each = match self.operation {
            Operation::AddOne(n) | Operation::Sum(n) | Operation::ReproducibleSum(n) => 8 * n,
            Operation::Axpy(n) | Operation::Checked(n) | Operation::Exit(n) | Operation::Map(n) => {
                16 * n
            }
            Operation::Stencil(n) => 16 * n * n * n,
            Operation::Triangular(n) => 24 * n,
            Operation::HotFront(n) | Operation::HeavyTail(n) => 12 * n,
            Operation::Nested(rows, len) => 8 * rows * len,
            Operation::Mixed => 16 * work::MIXED_LONGEST,
            Operation::RoundTrip => 0,
        };
        each * self.callers
    }
}

/// A peer with a pool of its own, ready to run the loops of `line`.
pub(crate) fn prepare_loops<P: Peer>(setup: &Setup, line: &Line) -> Result<Box<dyn Timed>> {
    use work::{
        AddOne, Axpy, Checked, Churn, Map, Mixed, Nested, ReproducibleSum, Stencil, Sum, Triangular,
    };
    let peer = P::build(setup)?;
    let callers = line.callers;
    Ok(match line.operation {
        Operation::AddOne(n) => timed::loops(peer, callers, || AddOne::new(n)),
        Operation::Axpy(n) => timed::loops(peer, callers, || Axpy::new(n)),
        Operation::Stencil(n) => timed::loops(peer, callers, || Stencil::new(n)),
        Operation::Triangular(n) => timed::loops(peer, callers, || Triangular::new(n)),
        Operation::HotFront(n) => timed::loops(peer, callers, || Churn::hot_front(n)),
        Operation::HeavyTail(n) => timed::loops(peer, callers, || Churn::heavy_tail(n)),
        Operation::Sum(n) => timed::loops(peer, callers, || Sum::new(n)),
        Operation::ReproducibleSum(n) => timed::loops(peer, callers, || ReproducibleSum::new(n)),
        Operation::Nested(rows, len) => timed::loops(peer, callers, || Nested::new(rows, len)),
        Operation::Mixed => timed::loops(peer, callers, Mixed::new),
        Operation::Checked(n) => timed::loops(peer, callers, || Checked::new(n, None)),
        Operation::Exit(n) => timed::loops(peer, callers, || Checked::new(n, Some(n / 8))),
        Operation::Map(n) => timed::loops(peer, callers, || Map::new(n)),
        Operation::RoundTrip => unreachable!("an offload line is prepared by `prepare_offload`"),
    })
}

/// An executor, ready for the round trips of `line`.
pub(crate) fn prepare_offload<O: Offload>(setup: &Setup, line: &Line) -> Result<Box<dyn Timed>> {
    assert!(line.is_offload());
    Ok(timed::round_trips(O::build(setup)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::entries;

    /// Longer ones are checked too, each time that they are measured.
    const SMALL: usize = 10 << 20;

    #[test]
    fn every_peer_that_is_there_does_on_every_line_what_a_plain_loop_does() {
        let setup = Setup { width: 2, pin: false };
        let (mut seen, mut checked) = (Vec::new(), 0);
        for line in lines().iter().filter(|line| line.bytes() < SMALL) {
            // Lines that differ only in pace, seats or neighbour do the same.
            let what = (line.operation, line.callers);
            if seen.contains(&what) {
                continue;
            }
            seen.push(what);
            for entry in entries().iter().filter(|entry| entry.version().is_ok()) {
                let Some(prepare) = entry.prepare(line) else { continue };
                // A pool that is wider than the machine, and that the peer therefore refuses, is not made here.
                let Ok(mut timed) = prepare(&setup, line) else { continue };
                if let Err(error) = timed.check() {
                    panic!("{} on {}: {error:#}", entry.name, line.name);
                }
                timed.sample(2, line.pace);
                checked += 1;
            }
        }
        assert!(checked >= 2 * seen.len(), "only {checked} pairs of peer and line were checked");
    }
}
