//! What the example programs share: reading a schedule, made-up input, timing one form of a loop against another, and
//! checking that both give the same.

/// The code in the README, which must run too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

use std::fmt;
use std::time::{Duration, Instant};

use locsteal::Schedule;

/// How long the serial and the parallel form of some work take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Median time of the serial form.
    pub serial: Duration,
    /// Median time of the parallel form.
    pub parallel: Duration,
}

impl Times {
    /// Runs both forms `repeat` times, but at least once, in turn.
    ///
    /// # Examples
    ///
    /// ```
    /// use locsteal_examples::Times;
    ///
    /// let (mut serial, mut parallel) = (0, 0);
    /// Times::measure(3, || serial += 1, || parallel += 1);
    /// assert_eq!((serial, parallel), (3, 3));
    /// ```
    pub fn measure(repeat: usize, mut serial: impl FnMut(), mut parallel: impl FnMut()) -> Self {
        let repeat = repeat.max(1);
        let rounds = (0..repeat).map(|_| (time(&mut serial), time(&mut parallel)));
        let (serial, parallel): (Vec<_>, Vec<_>) = rounds.unzip();
        Self { serial: median(serial), parallel: median(parallel) }
    }

    /// How many times as fast as the serial form the parallel one is.
    pub fn speed_up(&self) -> f64 {
        self.serial.as_secs_f64() / self.parallel.as_secs_f64()
    }
}

/// Three columns: serial time, parallel time, speed-up.
impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (serial, parallel) = (format!("{:.3?}", self.serial), format!("{:.3?}", self.parallel));
        write!(f, "{serial:>10} {parallel:>10} {:>9.2}", self.speed_up())
    }
}

impl Times {
    /// The heads of the columns that [`Times`] prints.
    pub const HEADS: &str = "    serial   parallel  speed-up";
}

/// How long one run of `work` takes.
pub fn time(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The middle of `times`; of an even number of them, the smaller one of the two in the middle.
///
/// # Panics
///
/// If there are none.
pub fn median(mut times: Vec<Duration>) -> Duration {
    let middle = (times.len() - 1) / 2;
    *times.select_nth_unstable(middle).1
}

/// The parallel form of some work gave another result than the serial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What was computed.
    pub what: &'static str,
    /// The first element in which the results differ; the length of the shorter one if it is part of the longer one.
    pub element: usize,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, element } = self;
        write!(f, "{what}: the parallel result is not the serial one, first in element {element}")
    }
}

impl std::error::Error for Mismatch {}

/// Checks that two results are the same bit for bit; `bits` gives the bits of an element.
///
/// # Errors
///
/// [`Mismatch`] if they are not.
///
/// # Examples
///
/// ```
/// use locsteal_examples::{Mismatch, same_bits};
///
/// assert_eq!(same_bits("demo", &[f32::NAN], &[f32::NAN], f32::to_bits), Ok(()));
/// let differ = same_bits("demo", &[1.0, 0.0], &[1.0, -0.0], f32::to_bits);
/// assert_eq!(differ, Err(Mismatch { what: "demo", element: 1 }));
/// ```
pub fn same_bits<T: Copy, B: PartialEq>(
    what: &'static str,
    serial: &[T],
    parallel: &[T],
    bits: impl Fn(T) -> B,
) -> Result<(), Mismatch> {
    let differ = serial.iter().zip(parallel).position(|(a, b)| bits(*a) != bits(*b));
    let shorter = serial.len().min(parallel.len());
    match differ.or((serial.len() != parallel.len()).then_some(shorter)) {
        None => Ok(()),
        Some(element) => Err(Mismatch { what, element }),
    }
}

/// Reads a schedule, spelled as in the clause `schedule` of `#[par_for]`: `steal`, `static(64)`.
///
/// # Errors
///
/// What may be written, if it is something else.
///
/// # Examples
///
/// ```
/// use locsteal::Schedule;
/// use locsteal_examples::schedule;
///
/// assert_eq!(schedule("steal"), Ok(Schedule::Steal));
/// assert_eq!(schedule("dynamic(16)"), Ok(Schedule::DynamicChunk(16)));
/// assert!(schedule("static(0)").is_err());
/// ```
pub fn schedule(text: &str) -> Result<Schedule, String> {
    let chunk = text.strip_suffix(')').and_then(|text| {
        let (kind, chunk) = text.split_once('(')?;
        Some((kind, chunk.parse().ok().filter(|chunk| *chunk > 0)?))
    });
    match (text, chunk) {
        ("auto", _) => Ok(Schedule::Auto),
        ("static", _) => Ok(Schedule::Static),
        ("steal", _) => Ok(Schedule::Steal),
        ("dynamic", _) => Ok(Schedule::Dynamic),
        ("serial", _) => Ok(Schedule::Serial),
        (_, Some(("static", chunk))) => Ok(Schedule::StaticChunk(chunk)),
        (_, Some(("dynamic", chunk))) => Ok(Schedule::DynamicChunk(chunk)),
        _ => {
            Err("choose from auto, static, static(N), steal, dynamic, dynamic(N), serial, with a \
                  chunk of N iterations"
                .to_owned())
        }
    }
}

/// How [`schedule`] spells a schedule.
pub fn schedule_name(schedule: Schedule) -> String {
    match schedule {
        Schedule::StaticChunk(chunk) => format!("static({chunk})"),
        Schedule::DynamicChunk(chunk) => format!("dynamic({chunk})"),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// A number from 0 to below 1 that looks random and depends on `seed` alone.
///
/// The mixing steps are those of `SplitMix64`: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014.
pub fn noise(seed: usize) -> f64 {
    let mut bits = (seed as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_fills_its_range_evenly() {
        let numbers: Vec<f64> = (0..10_000).map(noise).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn the_median_is_one_of_the_times() {
        let seconds = |times: &[u64]| times.iter().copied().map(Duration::from_secs).collect();
        assert_eq!(median(seconds(&[9])), Duration::from_secs(9));
        assert_eq!(median(seconds(&[9, 2, 5])), Duration::from_secs(5));
        assert_eq!(median(seconds(&[9, 2, 5, 1])), Duration::from_secs(2));
    }

    #[test]
    fn schedules_are_spelled_as_in_the_clause() {
        for (text, expected) in [
            ("auto", Schedule::Auto),
            ("static", Schedule::Static),
            ("static(1)", Schedule::StaticChunk(1)),
            ("steal", Schedule::Steal),
            ("dynamic", Schedule::Dynamic),
            ("dynamic(64)", Schedule::DynamicChunk(64)),
            ("serial", Schedule::Serial),
        ] {
            assert_eq!(schedule(text), Ok(expected));
            assert_eq!(schedule_name(expected), text);
        }
        for text in ["", "steel", "steal(4)", "static()", "static(-1)", "static(4", "dynamic(1)(2)"]
        {
            assert!(schedule(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lengths_are_compared_too() {
        let element = |a: &[f32], b: &[f32]| same_bits("", a, b, f32::to_bits).unwrap_err().element;
        assert_eq!(element(&[1.0, 2.0], &[1.0]), 1);
        assert_eq!(element(&[], &[1.0]), 0);
    }
}
