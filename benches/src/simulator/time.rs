//! Virtual time, and numbers that look random.

/// A point in virtual time, or a length of it, in picoseconds.
pub(crate) type Time = u64;

pub(crate) fn ns(nanoseconds: f64) -> Time {
    (nanoseconds * 1e3).round() as Time
}

pub(crate) fn in_ns(time: Time) -> f64 {
    time as f64 / 1e3
}

/// Rolls the same numbers for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Seeds that differ a little give sequences that have nothing in common.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        dice.next();
        dice
    }

    /// splitmix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Between 0 and 1, neither of them.
    pub(crate) fn fraction(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Normally distributed around 0, with deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.fraction(), self.fraction());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut dice = Dice::new(7);
        let rolls: Vec<f64> = (0..20_000).map(|_| dice.normal()).collect();
        let mean = rolls.iter().sum::<f64>() / rolls.len() as f64;
        let square = rolls.iter().map(|roll| roll * roll).sum::<f64>() / rolls.len() as f64;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05, "{mean}, {square}");
    }
}
