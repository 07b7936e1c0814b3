//! A cheap clock: the processor's time-stamp counter where there is one.
//!
//! Its readings decide how long to wait, never what is right: a counter that jumps costs time, not correctness.

use std::time::{Duration, Instant};

use crate::grown::Grown;

/// The time now, in ticks, never 0.
#[inline]
pub(crate) fn ticks() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    // SAFETY: the instruction is part of every x86-64 processor and touches no memory.
    return unsafe { std::arch::x86_64::_rdtsc() } | 1;
    #[cfg(loom)]
    return 1;
    #[cfg(not(any(all(target_arch = "x86_64", not(miri)), loom)))]
    return since_start().as_nanos() as u64 | 1;
}

#[cfg(not(any(all(target_arch = "x86_64", not(miri)), loom)))]
fn since_start() -> Duration {
    static START: Grown<Instant> = Grown::new();
    START.newest_or_add(Instant::now).elapsed()
}

/// How many ticks `duration` lasts.
pub(crate) fn in_ticks(duration: Duration) -> u64 {
    let ticks = duration.as_nanos().saturating_mul(ticks_per_ms().into()) / 1_000_000;
    ticks.try_into().unwrap_or(u64::MAX)
}

/// How many nanoseconds `ticks` last.
pub(crate) fn in_ns(ticks: u64) -> u64 {
    (u128::from(ticks) * 1_000_000 / u128::from(ticks_per_ms())).try_into().unwrap_or(u64::MAX)
}

/// Measured once, over a few tenths of a millisecond.
fn ticks_per_ms() -> u64 {
    static RATE: Grown<u64> = Grown::new();
    *RATE.newest_or_add(|| {
        let (start, from) = (Instant::now(), ticks());
        loop {
            let elapsed = start.elapsed();
            if elapsed >= Duration::from_micros(300) {
                let ticks = ticks().saturating_sub(from);
                return (u128::from(ticks) * 1_000_000 / elapsed.as_nanos()).max(1) as u64;
            }
            std::hint::spin_loop();
        }
    })
}
