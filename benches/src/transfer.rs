//! What launching is made of: how long a cache line takes from one CPU to another, and what a nanosecond is in cycles.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
#[cfg(target_arch = "x86_64")]
use std::time::Duration;
use std::time::Instant;

/// A word on lines of its own.
#[repr(align(128))]
struct Ball(AtomicU64);

/// Nanoseconds that a line takes from one CPU to another: half of what it takes there and back between two threads that wait for
/// it in turn.
pub(crate) fn line_ns() -> f64 {
    const ROUNDS: u64 = 10_000;
    // The least of some: whatever disturbs, adds.
    let times = (0..15).map(|_| {
        let ball = Ball(AtomicU64::new(0));
        let pass = |mine: u64| {
            for round in 0..ROUNDS {
                // Each sees what the other has stored, and nothing else is handed over.
                while ball.0.load(Ordering::Relaxed) != 2 * round + mine {
                    spin_loop();
                }
                ball.0.store(2 * round + mine + 1, Ordering::Relaxed);
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| pass(1));
            let start = Instant::now();
            pass(0);
            start.elapsed().as_nanos() as f64 / (2 * ROUNDS) as f64
        })
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Ticks of the processor's time-stamp counter in a nanosecond: cycles at its nominal clock.
#[cfg(target_arch = "x86_64")]
pub(crate) fn ticks_per_ns() -> f64 {
    // SAFETY: the instruction is part of every x86-64 processor and touches no memory.
    let ticks = || unsafe { std::arch::x86_64::_rdtsc() };
    let (start, from) = (Instant::now(), ticks());
    while start.elapsed() < Duration::from_millis(5) {
        spin_loop();
    }
    let passed = ticks().saturating_sub(from);
    passed as f64 / start.elapsed().as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_arrives() {
        assert!(line_ns() > 0.0);
        #[cfg(target_arch = "x86_64")]
        assert!(ticks_per_ns() > 0.1);
    }
}
