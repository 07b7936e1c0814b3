//! Medians, and how sure one may be of them.
//!
//! Times come in rounds (a set of processes each) of repetitions. Arms are compared by the ratio of their times within
//! one repetition, which were taken one shortly after the other, so that a slow change of the machine cancels out. The
//! interval is a bootstrap that draws rounds first and repetitions within them second: what is decided once per process
//! (addresses, the layout of its memory) is then not taken for many independent observations.

/// Middle value; the mean of the two middle ones of an even number.
///
/// # Panics
///
/// If there is none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    assert!(!values.is_empty(), "the median of nothing");
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if even {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        f64::midpoint(lower, *upper)
    } else {
        *upper
    }
}

/// A median and the interval that holds it with 95 per cent confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Estimate {
    /// Whether `bound` lies in the interval.
    pub(crate) fn contains(&self, bound: f64) -> bool {
        self.low <= bound && bound <= self.high
    }
}

const RESAMPLES: usize = 1_000;

/// The median over all rounds and repetitions, with its interval. Rounds without a value are left out; with no value
/// at all there is no estimate.
pub(crate) fn estimate(rounds: &[Vec<f64>]) -> Option<Estimate> {
    let rounds: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).filter(|r| !r.is_empty()).collect();
    let mut all: Vec<f64> = rounds.concat();
    if all.is_empty() {
        return None;
    }
    let value = median(&mut all);
    let mut random = fastrand::Rng::with_seed(1);
    let mut drawn = Vec::with_capacity(all.len());
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            drawn.clear();
            for _ in 0..rounds.len() {
                let round = rounds[random.usize(..rounds.len())];
                drawn.extend((0..round.len()).map(|_| round[random.usize(..round.len())]));
            }
            median(&mut drawn)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    let at = |share: f64| medians[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some(Estimate { value, low: at(0.025).min(value), high: at(0.975).max(value) })
}

/// The ratios of `arm` to `base`, repetition by repetition. A repetition that lacks either is left out.
pub(crate) fn ratios(arm: &[Vec<f64>], base: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let pairs = |(arm, base): (&Vec<f64>, &Vec<f64>)| {
        arm.iter().zip(base).map(|(arm, base)| arm / base).filter(|r| r.is_finite()).collect()
    };
    arm.iter().zip(base).map(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0]).to_bits(), 3.0f64.to_bits());
        assert_eq!(median(&mut [3.0, 1.0]).to_bits(), 2.0f64.to_bits());
        assert_eq!(median(&mut [9.0, 1.0, 5.0]).to_bits(), 5.0f64.to_bits());
        assert_eq!(median(&mut [4.0, 9.0, 1.0, 2.0]).to_bits(), 3.0f64.to_bits());
    }

    #[test]
    fn an_interval_holds_the_value_and_narrows_with_agreement() {
        let spread = |width: f64| {
            let mut random = fastrand::Rng::with_seed(3);
            let round = |_| (0..20).map(|_| 1.0 + width * (random.f64() - 0.5)).collect();
            let rounds: Vec<Vec<f64>> = (0..5).map(round).collect();
            estimate(&rounds).unwrap()
        };
        let (tight, loose) = (spread(0.01), spread(0.5));
        assert!(tight.contains(tight.value) && loose.contains(loose.value));
        assert!(tight.high - tight.low < loose.high - loose.low);
    }

    #[test]
    fn rounds_that_disagree_widen_the_interval_however_many_repetitions_they_hold() {
        let rounds = [vec![1.0; 500], vec![2.0; 500], vec![1.0; 500]];
        let estimate = estimate(&rounds).unwrap();
        assert!(estimate.contains(1.0) && estimate.contains(2.0));
    }

    #[test]
    fn nothing_gives_no_estimate() {
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[vec![]]), None);
    }

    #[test]
    fn ratios_are_paired_and_gaps_are_left_out() {
        let arm = [vec![2.0, f64::NAN, 9.0], vec![1.0]];
        let base = [vec![1.0, 1.0, 3.0], vec![4.0]];
        assert_eq!(ratios(&arm, &base), [vec![2.0, 3.0], vec![0.25]]);
    }
}
