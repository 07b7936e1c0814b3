//! What else the machine was doing.

use std::time::Duration;

use crate::arm::{cpu_time_of_ended_children, cpu_time_of_this_process};

/// Watches the CPU time that processes outside this run take, from its making to [`others`](Self::others).
pub(super) struct Watch {
    busy: Option<Duration>,
    all: Option<Duration>,
    own: Duration,
}

fn own() -> Duration {
    cpu_time_of_this_process() + cpu_time_of_ended_children()
}

impl Watch {
    /// To be made while no arm is alive.
    pub(super) fn start() -> Self {
        let (busy, all) = cpu_times().unzip();
        Self { busy, all, own: own() }
    }

    /// The share of the machine's CPU time that others took, from 0 to 1; to be asked when no arm is alive any more.
    /// Unknown where the system does not count it.
    pub(super) fn others(self) -> Option<f64> {
        let (busy, all) = cpu_times()?;
        let (busy, all) = (busy.checked_sub(self.busy?)?, all.checked_sub(self.all?)?);
        let own = own().saturating_sub(self.own);
        // The system counts in ticks of 10 ms, so a short watch may come out slightly below nothing.
        let others = busy.as_secs_f64() - own.as_secs_f64();
        Some((others / all.as_secs_f64().max(1e-9)).max(0.0))
    }
}

/// CPU time in use, stolen by other virtual machines included, and all CPU time, since the machine started.
fn cpu_times() -> Option<(Duration, Duration)> {
    parse(&std::fs::read_to_string("/proc/stat").ok()?)
}

fn parse(stat: &str) -> Option<(Duration, Duration)> {
    let ticks: Vec<u64> = stat
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|n| n.parse().ok())
        .take(8)
        .collect();
    let [user, nice, system, idle, waiting, irq, soft, steal] = ticks.try_into().ok()?;
    let tick = |n: u64| Duration::from_millis(10 * n);
    let busy = user + nice + system + irq + soft + steal;
    Some((tick(busy), tick(busy + idle + waiting)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_counts_everything_but_idling() {
        let stat = "cpu  100 1 20 1000 5 2 3 4 0 0\ncpu0 50 0 10 500 2 1 1 2 0 0\n";
        let (busy, all) = parse(stat).unwrap();
        assert_eq!(busy, Duration::from_millis(1_300));
        assert_eq!(all, Duration::from_millis(11_350));
        assert_eq!(parse("intr 1 2 3"), None);
        assert_eq!(parse("cpu  1 2 3\n"), None);
    }
}
