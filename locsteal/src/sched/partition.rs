//! How a loop's positions are dealt to its seats: a fixed map for a given length and width.

use std::ops::Range;

use super::block::Span;

/// The positions `0..len` as at most `u32::MAX` units of equal size (the last may be shorter), shared out among
/// `width` seats. Chunks begin and end between units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deal {
    len: u64,
    unit: u64,
    units: u32,
    width: u32,
    /// Units in each block at least; the first blocks have one more.
    share: u32,
    longer: u32,
    /// Inner edges are multiples of this power of two.
    edge: u32,
    /// Whether the first seat has the first block.
    from_front: bool,
}

/// Blocks of so many iterations at least begin and end at multiples of so many, so that where an element is 8 bytes two seats
/// write no cache line in common, no pair of lines, or no page, if the array begins at an edge of such a thing. At most
/// 3 % of a block is dealt to its neighbour for it.
const EDGES: [(u32, u32); 3] = [(131_072, 512), (1024, 16), (256, 8)];

impl Deal {
    /// The longest loop, in positions. Sums of a few of them do not wrap.
    pub(crate) const MAX_LEN: u64 = 1 << 62;

    /// `unit` is what chunks must be multiples of (0 counts as 1); it is doubled until the units fit a packed block.
    pub(crate) fn new(len: u64, unit: u64, width: usize) -> Self {
        debug_assert!(len <= Self::MAX_LEN && width >= 1);
        let mut unit = unit.clamp(1, Self::MAX_LEN);
        // Nearly every loop: no division.
        let mut units = if unit == 1 { len } else { len.div_ceil(unit) };
        while units > u64::from(u32::MAX) {
            unit = unit.saturating_mul(2);
            units = len.div_ceil(unit);
        }
        let (units, width) = (units as u32, width as u32);
        // A division is among the longest that a launch does.
        let share = if width.is_power_of_two() { units >> width.ilog2() } else { units / width };
        let edge = EDGES.iter().find(|(least, _)| unit == 1 && share >= *least);
        let edge = edge.map_or(1, |(_, edge)| *edge);
        Self {
            len,
            unit,
            units,
            width,
            share,
            longer: units - share * width,
            edge,
            from_front: false,
        }
    }

    /// Deals from the front, if told so: for loops that may be left, of which only what lies in front may have to be run. The caller is
    /// there at once.
    pub(crate) fn dealt_from_front(self, from_front: bool) -> Self {
        Self { from_front, ..self }
    }

    /// The block of a seat, or the seat of a block, as numbers.
    #[inline]
    fn partner(&self, number: u32) -> u32 {
        if self.from_front { number } else { self.width - 1 - number }
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) const fn units(&self) -> u32 {
        self.units
    }

    pub(crate) const fn width(&self) -> usize {
        self.width as usize
    }

    /// Where the block with this number from the front begins.
    #[inline]
    fn edge(&self, block: u32) -> u32 {
        let edge = block * self.share + block.min(self.longer);
        if block == self.width { edge } else { edge & !(self.edge - 1) }
    }

    /// The block of `seat`, in units: the first seat has the last one, and so on, unless dealt [from the front](Self::dealt_from_front). Blocks differ in length by at most one unit, or by what
    /// it takes to have them begin at multiples of [`EDGES`].
    ///
    /// From the back, because a processor that has streamed through a block fetches the first lines of the next one as well, and
    /// their owner must fetch them back when the next loop begins. So that falls on who sits in front, callers first, who begin
    /// early and wait in the end.
    #[inline]
    pub(crate) fn block(&self, seat: usize) -> Span {
        let block = self.partner(seat as u32);
        Span::new(self.edge(block), self.edge(block + 1))
    }

    /// The seat whose block holds `unit`.
    pub(crate) fn seat_of(&self, unit: u32) -> usize {
        let in_longer = u64::from(self.longer) * (u64::from(self.share) + 1);
        let block = if u64::from(unit) < in_longer {
            u64::from(unit) / (u64::from(self.share) + 1)
        } else {
            u64::from(self.longer) + (u64::from(unit) - in_longer) / u64::from(self.share)
        };
        // Edges only move down.
        let next = block as u32 + 1;
        let moved = next < self.width && unit >= self.edge(next);
        self.partner(if moved { next } else { block as u32 }) as usize
    }

    /// The units of the shortest block.
    pub(crate) const fn share(&self) -> u32 {
        self.share
    }

    /// The first position of `unit`.
    #[inline]
    pub(crate) fn position(&self, unit: u64) -> u64 {
        unit.saturating_mul(self.unit).min(self.len)
    }

    /// The positions of a range of units.
    #[inline]
    pub(crate) fn positions(&self, lo: u64, hi: u64) -> Range<u64> {
        self.position(lo)..self.position(hi)
    }

    /// The unit that holds `position`.
    pub(crate) const fn unit_of(&self, position: u64) -> u32 {
        (position / self.unit) as u32
    }

    /// How many units hold the positions below `bound`.
    #[inline]
    pub(crate) fn units_below(&self, bound: u64) -> u32 {
        if bound >= self.len { self.units } else { bound.div_ceil(self.unit) as u32 }
    }

    /// `n` iterations in units, at least one.
    pub(crate) fn in_units(&self, n: u64) -> u64 {
        n.div_ceil(self.unit).max(1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_everything_in_order() {
        for len in [0, 1, 2, 3, 7, 8, 9, 64, 1000, 10_001, 3_333_333, 1 << 33, Deal::MAX_LEN] {
            for unit in [0, 1, 3, 64] {
                for width in [1, 2, 3, 7, 8, 64] {
                    for from_front in [false, true] {
                        let deal = Deal::new(len, unit, width).dealt_from_front(from_front);
                        let mut next = 0;
                        let (mut least, mut most) = (u32::MAX, 0);
                        for at in 0..width {
                            let seat = if from_front { at } else { width - 1 - at };
                            let block = deal.block(seat);
                            if !block.is_empty() {
                                assert_eq!(block.lo, next);
                                next = block.hi;
                                assert_eq!(deal.seat_of(block.lo), seat);
                                assert_eq!(deal.seat_of(block.hi - 1), seat);
                            }
                            (least, most) = (least.min(block.len()), most.max(block.len()));
                        }
                        assert_eq!(next, deal.units());
                        let edge = deal.edge;
                        assert!(most - least <= 1.max(2 * edge), "{len} {unit} {width}");
                        assert!(edge == 1 || edge <= least / 31, "{len} {unit} {width}");
                        assert_eq!(deal.positions(0, u64::from(next)), 0..len);
                    }
                }
            }
        }
    }

    #[test]
    fn long_blocks_begin_at_lines_and_pages() {
        for (len, edge) in [(1000, 8), (10_000, 16), (1_000_000, 512)] {
            let deal = Deal::new(len, 1, 3);
            for seat in 0..2 {
                assert_eq!(deal.block(seat).lo % edge, 0, "{len}");
            }
            assert_eq!(u64::from(deal.block(0).hi), len);
        }
    }

    #[test]
    fn units_below_a_bound() {
        let deal = Deal::new(10, 4, 2);
        let below: Vec<u32> = (0..=11).map(|bound| deal.units_below(bound)).collect();
        assert_eq!(below, [0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]);
    }
}
