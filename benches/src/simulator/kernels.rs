//! The loops that are simulated: what each iteration costs, and how much data it touches.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::time::Dice;

/// A loop's iterations.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) len: u64,
    /// Nanoseconds of computing that are not bound by data.
    work: Work,
    /// Bytes that each iteration touches, and that stay where they were touched.
    pub(crate) bytes: f64,
    /// How many times an iteration moves its bytes: read, written, written back.
    pub(crate) traffic: f64,
}

#[derive(Clone, Debug)]
enum Work {
    Uniform(f64),
    /// From twice the mean at the front down to nothing.
    Triangular(f64),
    /// A share of the loop, at the front, costs so many times as much as the rest.
    Hot {
        rest: f64,
        until: u64,
        times: f64,
    },
    /// The sums of all costs before each iteration.
    Listed(Arc<[f64]>),
}

impl Kernel {
    /// Iterations that only compute, so many nanoseconds each.
    pub(crate) fn even(len: u64, each: f64) -> Self {
        Self { name: "even".into(), len, work: Work::Uniform(each), bytes: 0.0, traffic: 0.0 }
    }

    /// One iteration in the middle takes this long, all others next to nothing.
    pub(crate) fn one_long(len: u64, long: f64) -> Self {
        let cost = |i| if i == len / 2 { long } else { 1.0 };
        Self { bytes: 0.0, ..Self::listed("one long".into(), (0..len).map(cost).collect()) }
    }

    /// `y[i] += a * x[i]`.
    pub(crate) fn axpy(len: u64) -> Self {
        let name = format!("axpy 1e{}", len.ilog10());
        Self { name, len, work: Work::Uniform(0.05), bytes: 16.0, traffic: 1.5 }
    }

    /// A 7-point stencil from one cube to another, over all cells of `side`³.
    pub(crate) fn stencil(side: u64) -> Self {
        let name = format!("stencil {side}³");
        Self { name, len: side.pow(3), work: Work::Uniform(0.4), bytes: 16.0, traffic: 1.5 }
    }

    /// The rows of a triangle.
    pub(crate) fn triangular(rows: u64) -> Self {
        Self {
            name: format!("triangular {rows}"),
            len: rows,
            work: Work::Triangular(rows as f64 * 0.25),
            bytes: 64.0,
            traffic: 1.0,
        }
    }

    /// A sixteenth of the iterations, at the front, takes half of the time.
    pub(crate) fn hot_front(len: u64) -> Self {
        let work = Work::Hot { rest: 20.0, until: len / 16, times: 16.0 };
        Self { name: "hot front".into(), len, work, bytes: 16.0, traffic: 1.0 }
    }

    /// The last 64 iterations take a hundred times as long as all others together.
    pub(crate) fn hot_end(len: u64) -> Self {
        let each = 20.0;
        let hot = each * len as f64 * 100.0 / 64.0;
        let cost = |i| if i + 64 < len { each } else { hot };
        Self::listed("hot end".into(), (0..len).map(cost).collect())
    }

    /// Independent costs, most of them small and a few very large (Pareto, exponent 1.5, mean 60 ns).
    pub(crate) fn heavy_tail(len: u64, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let costs = (0..len).map(|_| 20.0 / dice.fraction().powf(1.0 / 1.5));
        Self::listed("heavy tail".into(), costs.collect())
    }

    /// Given as its name and, after a colon, its size: `axpy:1e6`, `stencil:126`, `triangular:4000`, `hot:100000`,
    /// `tail:100000`, or `file:PATH`.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{name}` is no loop: write axpy:1e6, stencil:126, triangular:4000, hot:1e5, tail:1e5, or file:PATH"
            )
        };
        let (kind, size) = name.split_once(':').ok_or_else(bad)?;
        if kind == "file" {
            return Self::recorded(Path::new(size));
        }
        let size = size.parse::<f64>().ok().filter(|&size| (1.0..=1e12).contains(&size));
        let size = size.ok_or_else(bad)? as u64;
        Ok(match kind {
            "axpy" => Self::axpy(size),
            "stencil" => Self::stencil(size),
            "triangular" => Self::triangular(size),
            "hot" => Self::hot_front(size),
            "end" => Self::hot_end(size),
            "tail" => Self::heavy_tail(size, 1),
            _ => return Err(bad()),
        })
    }

    /// What the library is judged by.
    pub(crate) fn all() -> Vec<Self> {
        vec![
            Self::axpy(100_000),
            Self::axpy(1_000_000),
            Self::axpy(10_000_000),
            Self::stencil(126),
            Self::stencil(128),
            Self::triangular(4_000),
            Self::hot_front(100_000),
            Self::heavy_tail(100_000, 1),
        ]
    }

    /// Costs from a file: nanoseconds, one iteration a line.
    pub(crate) fn recorded(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        let mut costs = Vec::new();
        for (line, number) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            match number.trim().parse::<f64>() {
                Ok(cost) if cost >= 0.0 && cost.is_finite() => costs.push(cost),
                _ => {
                    return Err(format!(
                        "{shown}, line {line}: `{number}` is no cost of an iteration: write nanoseconds, one \
                         iteration a line"
                    ));
                }
            }
        }
        if costs.is_empty() {
            return Err(format!("{shown} holds no costs: write nanoseconds, one iteration a line"));
        }
        let name = path.file_stem().map_or("recorded".into(), |stem| stem.to_string_lossy().into());
        Ok(Self::listed(name, costs))
    }

    fn listed(name: String, costs: Vec<f64>) -> Self {
        let len = costs.len() as u64;
        let mut sum = 0.0;
        let mut sums = vec![0.0];
        sums.extend(costs.into_iter().map(|cost| {
            sum += cost;
            sum
        }));
        Self { name, len, work: Work::Listed(sums.into()), bytes: 16.0, traffic: 1.0 }
    }

    /// Nanoseconds that these iterations compute.
    pub(crate) fn work(&self, range: &Range<u64>) -> f64 {
        let (lo, hi) = (range.start as f64, range.end as f64);
        match &self.work {
            Work::Uniform(each) => each * (hi - lo),
            Work::Triangular(mean) => {
                let n = self.len as f64;
                let before = |i: f64| i - i * i / (2.0 * n);
                2.0 * mean * (before(hi) - before(lo))
            }
            Work::Hot { rest, until, times } => {
                let hot = range.end.min(*until).saturating_sub(range.start) as f64;
                rest * (hi - lo + hot * (times - 1.0))
            }
            Work::Listed(sums) => sums[range.end as usize] - sums[range.start as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_parts_adds_up() {
        let kernels = [
            Kernel::axpy(1000),
            Kernel::triangular(1000),
            Kernel::hot_front(1000),
            Kernel::heavy_tail(1000, 3),
        ];
        for kernel in kernels {
            let whole = kernel.work(&(0..1000));
            let parts: f64 = [0..1, 1..62, 62..63, 63..500, 500..1000]
                .iter()
                .map(|part| kernel.work(part))
                .sum();
            assert!(whole > 0.0 && (whole - parts).abs() < 1e-6 * whole, "{}", kernel.name);
        }
        let triangle = Kernel::triangular(1000);
        assert!(triangle.work(&(0..10)) > 100.0 * triangle.work(&(990..1000)));
    }
}
