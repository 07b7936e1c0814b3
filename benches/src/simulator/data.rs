//! Where a loop's data is, and what it takes to work on it from elsewhere.
//!
//! Data that fits the caches is where it was last touched: in the private cache of a core, or in a last-level cache.
//! It moves there in full with the first iteration that runs elsewhere, and the next loop finds it there. Data that
//! does not fit lies in the memory of the node whose seat has it in its block, where a first loop would have put it,
//! and stays there.

use std::collections::BTreeMap;
use std::ops::Range;

use super::costs::Costs;
use super::kernels::Kernel;
use super::machines::{Apart, Site};

/// Where the data fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    Private,
    Llc,
    Memory,
}

#[derive(Debug)]
pub(crate) struct Data {
    fit: Fit,
    /// Which seat touched the iterations from here on last; in memory, whose block they are of.
    touched: BTreeMap<u64, usize>,
    /// Nanoseconds that an iteration's data takes at home.
    each: f64,
    len: u64,
}

impl Data {
    /// All at home: `block(seat)` for each seat below `width`.
    pub(crate) fn new(
        kernel: &Kernel,
        site: &Site,
        costs: &Costs,
        width: usize,
        block: impl Fn(usize) -> Range<u64>,
    ) -> Self {
        let share = kernel.bytes * kernel.len as f64 / width as f64;
        let fit = if share <= costs.private_bytes {
            Fit::Private
        } else if share <= costs.llc_bytes {
            Fit::Llc
        } else {
            Fit::Memory
        };
        let in_node = (0..width).map(|seat| site.seats_in_node(seat).min(width)).max().unwrap_or(1);
        let rate = match fit {
            Fit::Private => costs.private_rate,
            Fit::Llc => costs.llc_rate,
            Fit::Memory => costs.node_rate / in_node as f64,
        };
        let blocks = (0..width).map(|seat| (block(seat), seat));
        Self {
            fit,
            touched: blocks
                .filter(|(block, _)| !block.is_empty())
                .map(|(block, seat)| (block.start, seat))
                .collect(),
            each: kernel.bytes * kernel.traffic / rate,
            len: kernel.len,
        }
    }

    pub(crate) fn fit(&self) -> Fit {
        self.fit
    }

    /// Nanoseconds that the data of these iterations takes where it is at home.
    pub(crate) fn at_home(&self, range: &Range<u64>) -> f64 {
        self.each * (range.end - range.start) as f64
    }

    /// Nanoseconds beyond that, for a seat that works on it now; the data moves to it where it moves at all.
    pub(crate) fn touch(
        &mut self,
        range: &Range<u64>,
        seat: usize,
        bytes: f64,
        site: &Site,
        costs: &Costs,
    ) -> f64 {
        let mut extra = 0.0;
        let mut at = range.start;
        while at < range.end {
            let (_, &from) =
                self.touched.range(..=at).next_back().expect("every iteration is somewhere");
            let next = self.touched.range(at + 1..).next().map_or(self.len, |(&next, _)| next);
            let until = next.min(range.end);
            let each = match (self.fit, site.apart(seat, from)) {
                (_, Apart::Same)
                | (Fit::Llc, Apart::Cores)
                | (Fit::Memory, Apart::Cores | Apart::Caches) => 0.0,
                (Fit::Memory, Apart::Nodes(far)) => self.each * costs.memory_remote * far,
                (Fit::Private, Apart::Cores) => bytes * costs.byte_llc,
                (_, Apart::Caches) => bytes * costs.byte_node,
                (_, Apart::Nodes(far)) => bytes * costs.byte_remote * far,
            };
            extra += each * (until - at) as f64;
            at = until;
        }
        if self.fit != Fit::Memory {
            self.move_to(range, seat);
        }
        extra
    }

    fn move_to(&mut self, range: &Range<u64>, seat: usize) {
        let (_, &last) =
            self.touched.range(..range.end).next_back().expect("every iteration is somewhere");
        let inside: Vec<u64> = self.touched.range(range.clone()).map(|(&start, _)| start).collect();
        for start in inside {
            self.touched.remove(&start);
        }
        self.touched.insert(range.start, seat);
        if range.end < self.len {
            self.touched.entry(range.end).or_insert(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(len: u64, width: usize) -> (Data, Site, Costs) {
        let (site, costs) = (Site::regular(2, 1, width / 2), Costs::default());
        let kernel = Kernel::axpy(len);
        let block = len / width as u64;
        let block = |seat: usize| seat as u64 * block..(seat as u64 + 1) * block;
        (Data::new(&kernel, &site, &costs, width, block), site, costs)
    }

    #[test]
    fn small_data_moves_to_who_touched_it_last() {
        let (mut data, site, costs) = data(400, 4);
        assert_eq!(data.fit(), Fit::Private);
        let mut touch = |range: Range<u64>, seat| data.touch(&range, seat, 1.0, &site, &costs);
        assert_eq!(touch(0..100, 0), 0.0);
        let moved = touch(50..150, 1);
        assert!((moved - 50.0 * costs.byte_llc).abs() < 1e-9);
        assert_eq!(touch(50..200, 1), 0.0);
        let back = touch(0..100, 0);
        assert!((back - 50.0 * costs.byte_llc).abs() < 1e-9);
        let far = touch(0..400, 2);
        assert!((far - 200.0 * costs.byte_remote - 100.0 * costs.byte_llc).abs() < 1e-9);
        assert_eq!(touch(0..400, 2), 0.0);
    }

    #[test]
    fn large_data_stays() {
        let (mut data, site, costs) = data(40_000_000, 4);
        assert_eq!(data.fit(), Fit::Memory);
        let range = 0..100;
        for _ in 0..2 {
            assert_eq!(data.touch(&range, 1, 16.0, &site, &costs), 0.0, "the same node");
            let far = data.touch(&range, 2, 16.0, &site, &costs);
            assert!((far - data.at_home(&range) * costs.memory_remote).abs() < 1e-9);
        }
    }
}
