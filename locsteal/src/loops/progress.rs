//! Telling someone how far a loop has come.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Someone who is told how far a loop has come: a closure `Fn(u64) + Sync`, or a progress bar.
///
/// The participant that tells is kept from its work meanwhile, the others are not: what they have to tell is told later. Telling
/// takes at most about a tenth of one participant's time, so a slow listener is told less often.
///
/// # Examples
///
/// ```
/// use locsteal::Progress;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[derive(Default)]
/// struct Bar(AtomicU64);
///
/// impl Progress for &Bar {
///     fn progress(&self, done: u64) {
///         self.0.store(done, Ordering::Relaxed);
///     }
/// }
///
/// let bar = Bar::default();
/// locsteal::range(0..10_000).progress(&bar).for_each(|i| {
///     std::hint::black_box(i);
/// });
/// assert_eq!(bar.0.into_inner(), 10_000);
/// ```
pub trait Progress: Sync {
    /// So many iterations have ended.
    ///
    /// The numbers grow from call to call, and no two calls for a loop run at the same time. When the loop has run to its end, the
    /// last call tells the number of all its iterations (`u64::MAX` if there are more); when it was left early, or by a panic,
    /// there is no such call.
    ///
    /// A panic in here is a panic of the loop.
    fn progress(&self, done: u64);
}

impl<F: Fn(u64) + Sync> Progress for F {
    fn progress(&self, done: u64) {
        self(done);
    }
}

/// How many times a listener is told at most.
const REPORTS: u64 = 1024;

/// How much longer than it takes to tell the listener it is left alone.
const PAUSE: u32 = 9;

/// Counts the iterations of a loop that have ended.
pub(crate) struct Meter<'a> {
    listener: &'a dyn Progress,
    total: u64,
    done: AtomicU64,
    told: Mutex<Told>,
}

struct Told {
    done: u64,
    /// Not to be told again before this time.
    until: Option<Instant>,
}

impl<'a> Meter<'a> {
    /// For a loop of `total` iterations.
    pub(crate) fn new(listener: &'a dyn Progress, total: u64) -> Self {
        let told = Mutex::new(Told { done: 0, until: None });
        Self { listener, total, done: AtomicU64::new(0), told }
    }

    /// After how many iterations to call [`add`](Self::add): a multiple of `unit`.
    pub(crate) fn step(&self, unit: u64) -> u64 {
        let step = self.total.div_ceil(REPORTS).max(1);
        step.checked_next_multiple_of(unit.max(1)).unwrap_or(u64::MAX)
    }

    /// `count` more iterations have ended. May tell the listener.
    pub(crate) fn add(&self, count: u64) {
        // The counter guards nothing: whoever holds the lock reads a value that is at least its own.
        self.done.fetch_add(count, Relaxed);
        // If someone is telling the listener just now, or the listener has panicked, nothing is told.
        let Ok(mut told) = self.told.try_lock() else { return };
        let done = self.done.load(Relaxed);
        if done <= told.done || done >= self.total {
            return;
        }
        let begin = Instant::now();
        if told.until.is_some_and(|until| begin < until) {
            return;
        }
        told.done = done;
        self.listener.progress(done);
        let end = Instant::now();
        told.until = Some(end + (end - begin) * PAUSE);
    }

    /// All iterations have ended, and nobody uses `self` any more.
    pub(crate) fn finish(self) {
        self.listener.progress(self.total);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::thread;

    use super::*;

    #[test]
    fn numbers_grow_and_end_with_the_total() {
        for total in [0, 1, 5, 10_000] {
            let told = Mutex::new(Vec::new());
            let listener = |done| told.lock().unwrap().push(done);
            let meter = Meter::new(&listener, total);
            let step = meter.step(1);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        for _ in 0..total / step / 2 {
                            meter.add(step);
                        }
                    });
                }
            });
            meter.finish();
            let told = told.into_inner().unwrap();
            assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
            assert_eq!(told.last(), Some(&total));
        }
    }

    #[test]
    fn nothing_is_told_twice() {
        let told = Mutex::new(Vec::new());
        let listener = |done| told.lock().unwrap().push(done);
        let meter = Meter::new(&listener, 100);
        meter.add(3);
        let until = meter.told.lock().unwrap().until.unwrap();
        while Instant::now() <= until {
            std::hint::spin_loop();
        }
        // As by a participant whose share has already been told by another one.
        meter.add(0);
        assert_eq!(*told.lock().unwrap(), [3]);
        meter.add(1);
        assert_eq!(*told.lock().unwrap(), [3, 4]);
    }

    #[test]
    fn nobody_waits_for_a_listener_that_is_being_told() {
        let counted = Mutex::new(0);
        let meter_of_listener: Mutex<Option<&Meter<'_>>> = Mutex::new(None);
        let listener = |_| {
            *counted.lock().unwrap() += 1;
            // As another participant would, while the listener has not returned yet.
            if let Some(meter) = *meter_of_listener.lock().unwrap() {
                thread::scope(|scope| scope.spawn(|| meter.add(1)).join().unwrap());
            }
        };
        let meter = Meter::new(&listener, 100);
        *meter_of_listener.lock().unwrap() = Some(&meter);
        meter.add(1);
        assert_eq!(*counted.lock().unwrap(), 1);
        assert_eq!(meter.done.load(Relaxed), 2);
    }

    #[test]
    fn a_listener_that_panics_is_not_told_again_before_the_end() {
        let listener = |_| panic!("no");
        let meter = Meter::new(&listener, 100);
        assert!(catch_unwind(AssertUnwindSafe(|| meter.add(1))).is_err());
        meter.add(1);
    }

    #[test]
    fn steps_are_multiples_of_the_unit() {
        let listener = |_| {};
        assert_eq!(Meter::new(&listener, 1 << 20).step(1), 1 << 10);
        assert_eq!(Meter::new(&listener, 1 << 20).step(300), 1200);
        assert_eq!(Meter::new(&listener, 7).step(0), 1);
        assert_eq!(Meter::new(&listener, u64::MAX).step(u64::MAX - 1), u64::MAX - 1);
    }
}
