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
}

impl Deal {
    /// The longest loop, in positions. Sums of a few of them do not wrap.
    pub(crate) const MAX_LEN: u64 = 1 << 62;

    /// `unit` is what chunks must be multiples of (0 counts as 1); it is doubled until the units fit a packed block.
    pub(crate) fn new(len: u64, unit: u64, width: usize) -> Self {
        debug_assert!(len <= Self::MAX_LEN && width >= 1);
        let mut unit = unit.clamp(1, Self::MAX_LEN);
        while len.div_ceil(unit) > u64::from(u32::MAX) {
            unit = unit.saturating_mul(2);
        }
        Self { len, unit, units: len.div_ceil(unit) as u32, width: width as u32 }
    }

    pub(crate) const fn units(&self) -> u32 {
        self.units
    }

    pub(crate) const fn width(&self) -> usize {
        self.width as usize
    }

    /// The block of `seat`, in units; blocks differ in length by at most one unit.
    pub(crate) fn block(&self, seat: usize) -> Span {
        let edge = |seat: u64| (seat * u64::from(self.units) / u64::from(self.width)) as u32;
        Span::new(edge(seat as u64), edge(seat as u64 + 1))
    }

    /// The seat whose block holds `unit`.
    pub(crate) fn seat_of(&self, unit: u32) -> usize {
        // The last seat whose block begins at or before the unit.
        let (unit, width, units) = (u64::from(unit), u64::from(self.width), u64::from(self.units));
        (((unit + 1) * width - 1) / units) as usize
    }

    /// The first position of `unit`.
    pub(crate) fn position(&self, unit: u64) -> u64 {
        unit.saturating_mul(self.unit).min(self.len)
    }

    /// The positions of a range of units.
    pub(crate) fn positions(&self, lo: u64, hi: u64) -> Range<u64> {
        self.position(lo)..self.position(hi)
    }

    /// The unit that holds `position`.
    pub(crate) const fn unit_of(&self, position: u64) -> u32 {
        (position / self.unit) as u32
    }

    /// How many units hold the positions below `bound`.
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
        for len in [0, 1, 2, 3, 7, 8, 9, 64, 1000, 1 << 33, Deal::MAX_LEN] {
            for unit in [0, 1, 3, 64] {
                for width in [1, 2, 3, 7, 8, 64] {
                    let deal = Deal::new(len, unit, width);
                    let mut next = 0;
                    let (mut least, mut most) = (u32::MAX, 0);
                    for seat in 0..width {
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
                    assert!(most - least <= 1);
                    assert_eq!(deal.positions(0, u64::from(next)), 0..len);
                }
            }
        }
    }

    #[test]
    fn units_below_a_bound() {
        let deal = Deal::new(10, 4, 2);
        let below: Vec<u32> = (0..=11).map(|bound| deal.units_below(bound)).collect();
        assert_eq!(below, [0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]);
    }
}
