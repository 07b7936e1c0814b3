//! The list of all lines.

use std::time::Duration;

use super::{Group, Line, Neighbour, Operation, Pace};

const MICRO: Duration = Duration::from_micros(1);

impl Line {
    fn new(name: &'static str, group: Group, operation: Operation, what: &'static str) -> Self {
        Self {
            name,
            group,
            what,
            operation,
            pace: Pace::Hot,
            callers: 1,
            seats: 1,
            neighbour: Neighbour::None,
        }
    }

    fn pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    fn callers(self, callers: usize) -> Self {
        Self { callers, ..self }
    }

    fn seats(self, seats: usize) -> Self {
        Self { seats, ..self }
    }

    fn neighbour(self, neighbour: Neighbour) -> Self {
        Self { neighbour, ..self }
    }
}

/// Every line, in the order of the table.
pub(crate) fn lines() -> Vec<Line> {
    let mut all = launch();
    all.extend(even());
    all.extend(uneven());
    all.extend(language());
    all.extend(company());
    all.extend(offload());
    all
}

fn launch() -> Vec<Line> {
    use Operation::AddOne;
    let line = |name, operation, what| Line::new(name, Group::Launch, operation, what);
    vec![
        line("launch-2", AddOne(2), "launch 2 trivial iterations, hot"),
        line("launch-1e3", AddOne(1_000), "launch 1,000 trivial iterations, hot"),
        line("launch-1e3-asleep", AddOne(1_000), "the same after the caller slept 200 us")
            .pace(Pace::Asleep(200 * MICRO)),
        line(
            "launch-1e3-busy",
            AddOne(1_000),
            "the same after the caller computed alone for 200 us",
        )
        .pace(Pace::Busy(200 * MICRO)),
    ]
}

fn even() -> Vec<Line> {
    use Operation::{Axpy, Mixed, Stencil};
    let line = |name, operation, what| Line::new(name, Group::Even, operation, what);
    vec![
        line("axpy-1e3", Axpy(1_000), "y[i] += a * x[i], 1,000 elements"),
        line("axpy-1e4", Axpy(10_000), "y[i] += a * x[i], 10,000 elements"),
        line("axpy-1e5", Axpy(100_000), "y[i] += a * x[i], 100,000 elements"),
        line("axpy-1e6", Axpy(1_000_000), "y[i] += a * x[i], 1,000,000 elements"),
        line("axpy-1e7", Axpy(10_000_000), "y[i] += a * x[i], 10,000,000 elements"),
        line("stencil-18", Stencil(18), "7-point stencil, 18 cubed"),
        line("stencil-34", Stencil(34), "7-point stencil, 34 cubed"),
        line("stencil-126", Stencil(126), "7-point stencil, 126 cubed"),
        line("stencil-128", Stencil(128), "7-point stencil, 128 cubed"),
        line(
            "mixed",
            Mixed,
            "32 axpys over prefixes of mixed lengths, 100 to 100,000, at one place",
        ),
    ]
}

fn uneven() -> Vec<Line> {
    use Operation::{HeavyTail, HotFront, Triangular};
    let line = |name, operation, what| Line::new(name, Group::Uneven, operation, what);
    vec![
        line(
            "triangular",
            Triangular(2_000),
            "2,000 iterations, the i-th a dot product of length i",
        ),
        line(
            "hot-front",
            HotFront(10_000),
            "10,000 iterations, nine tenths of the work in the first 500",
        ),
        line("heavy-tail", HeavyTail(10_000), "10,000 iterations of heavy-tailed cost, anywhere"),
    ]
}

fn language() -> Vec<Line> {
    use Operation::{Checked, Exit, Map, Nested, ReproducibleSum, Sum};
    let line = |name, operation, what| Line::new(name, Group::Language, operation, what);
    vec![
        line("sum-1e6", Sum(1_000_000), "sum of 1,000,000 integers"),
        line(
            "sum-reproducible",
            ReproducibleSum(1_000_000),
            "sum of 1,000,000 floats, bitwise reproducible",
        ),
        line("nested", Nested(8, 1_000), "8 iterations, each a loop of 1,000"),
        line("try", Checked(100_000), "100,000 iterations with `?`, none fails"),
        line("exit", Exit(1_000_000), "1,000,000 iterations with `?`, the 125,000th fails"),
        line("collect", Map(100_000), "a new array of 100,000 values"),
    ]
}

fn company() -> Vec<Line> {
    use Operation::{Axpy, Triangular};
    let line = |name, operation, what| Line::new(name, Group::Company, operation, what);
    vec![
        line("callers-2", Axpy(10_000), "axpy of 10,000 by 2 callers at once, time per loop of each").callers(2),
        line("callers-8", Axpy(10_000), "axpy of 10,000 by 8 callers at once, time per loop of each").callers(8),
        line("oversubscribed-even", Axpy(100_000), "axpy of 100,000 on 8 seats per CPU").seats(8),
        line("oversubscribed-uneven", Triangular(2_000), "the triangular loop on 8 seats per CPU").seats(8),
        line("disturbed-even", Axpy(100_000), "axpy of 100,000 while another process keeps one CPU busy")
            .neighbour(Neighbour::Disturbs),
        line("disturbed-uneven", Triangular(2_000), "the triangular loop while another process keeps one CPU busy")
            .neighbour(Neighbour::Disturbs),
        line("beside-idle", Axpy(100_000), "a unit of work of a process beside the idle pool")
            .neighbour(Neighbour::BesideIdle),
        line(
            "beside-loops",
            Axpy(100_000),
            "a unit of work of a process beside a program that runs an axpy of 100,000 each millisecond",
        )
        .neighbour(Neighbour::BesideLoops),
    ]
}

fn offload() -> Vec<Line> {
    let line = |name, what| Line::new(name, Group::Offload, Operation::RoundTrip, what);
    vec![
        line("offload-hot", "a closure's round trip, one after the other"),
        line("offload-asleep", "the same after the caller slept 200 us")
            .pace(Pace::Asleep(200 * MICRO)),
        line("offload-busy", "the same after the caller computed for 200 us")
            .pace(Pace::Busy(200 * MICRO)),
        line("offload-rare", "the same after the caller slept 5 ms: workers sleep, too")
            .pace(Pace::Asleep(5_000 * MICRO)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_no_name_hides_another() {
        let all = lines();
        let names: HashSet<_> = all.iter().map(|line| line.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(
            all.iter().all(|line| line.bytes() < 1 << 30 && line.callers > 0 && line.seats > 0)
        );
    }
}
