//! Loops that ran on their caller alone: how many, and whose.
//!
//! They are the cheapest of loops, and this count is the only line that each of them writes. So callers at once add to lines of
//! their own.

use std::cell::Cell;

use crossbeam_utils::CachePadded;

use crate::clock::ticks;
use crate::sync::{AtomicU64, Ordering, each_alone_on_its_lines};

/// How many lines there are for callers, and how many for workers.
const STRIPES: usize = 8;

/// The counts.
#[derive(Debug)]
pub(super) struct Alone {
    /// First those of threads that are nobody's workers, then those of workers, which are mostly at work on somebody's loop.
    loops: [CachePadded<AtomicU64>; 2 * STRIPES],
}

each_alone_on_its_lines!(Alone: loops);

/// What a thread saw of other callers the last time that it asked.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The address of the [`Alone`].
    of: usize,
    /// When, in ticks.
    at: u64,
    /// How many loops callers had run.
    loops: [u64; STRIPES],
    /// How many others were busy.
    others: usize,
}

thread_local! {
    static STRIPE: Cell<usize> = const { Cell::new(NO_STRIPE) };
    static SEEN: Cell<Option<Seen>> = const { Cell::new(None) };
}

const NO_STRIPE: usize = usize::MAX;

/// Which lines the calling thread adds to: one after the other, as threads come here first. (A hash of where the thread's
/// memory lies gives threads that were started in turn the same one.)
#[inline]
fn own_stripe() -> usize {
    match STRIPE.get() {
        NO_STRIPE => next_stripe(),
        stripe => stripe,
    }
}

#[cold]
fn next_stripe() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let stripe = NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES;
    STRIPE.set(stripe);
    stripe
}

impl Alone {
    pub(super) fn new() -> Self {
        Self { loops: std::array::from_fn(|_| CachePadded::new(AtomicU64::new(0))) }
    }

    /// The calling thread, which is a worker or not, runs a loop alone.
    #[inline]
    pub(super) fn count(&self, is_worker: bool) {
        let stripe = if is_worker { STRIPES + own_stripe() } else { own_stripe() };
        self.loops[stripe].fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were.
    pub(super) fn total(&self) -> u64 {
        self.loops.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// How many other callers have been busy with such loops since the calling thread asked the last time, if one takes
    /// about `took` ticks: for at least a quarter of the time. Within `fresh` ticks it says what it has said; the first
    /// time it knows of none.
    pub(super) fn others(&self, took: u64, fresh: u64) -> usize {
        let (now, of) = (ticks(), std::ptr::from_ref(self).addr());
        let loops = std::array::from_fn(|it| self.loops[it].load(Ordering::Relaxed));
        let others = match SEEN.get().filter(|seen| seen.of == of) {
            None => 0,
            Some(seen) => {
                let span = now.saturating_sub(seen.at);
                if span < fresh {
                    return seen.others;
                }
                let others = (0..STRIPES).filter(|&it| it != own_stripe());
                others
                    .filter(|&it| are_busy(loops[it].saturating_sub(seen.loops[it]), took, span))
                    .count()
            }
        };
        SEEN.set(Some(Seen { of, at: now, loops, others }));
        others
    }

    /// Where what is, in words, for who counts accesses.
    #[cfg(feature = "simulator")]
    pub(super) fn parts(&self, parts: &mut crate::sync::counted::Parts) {
        self.loops.iter().for_each(|count| parts.add("count of serial loops", &**count));
    }
}

/// Whether so many loops of `took` ticks are at least a quarter of the time.
fn are_busy(loops: u64, took: u64, span: u64) -> bool {
    loops != 0 && loops.saturating_mul(took) >= span / 4
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::Topology;
    use crate::affinity::{Placement, Seating};
    use crate::pool::{Seats, Shared};

    /// Runs it on as many threads at once as it takes for one not to add to the calling thread's count.
    fn on_another_thread(work: impl Fn() + Sync) {
        let (own, all_there) = (own_stripe(), Barrier::new(32));
        thread::scope(|scope| {
            for _ in 0..32 {
                scope.spawn(|| {
                    all_there.wait();
                    if own_stripe() == (own + 1) % STRIPES {
                        work();
                    }
                });
            }
        });
    }

    #[test]
    fn callers_that_run_loops_alone_are_seen() {
        let alone = Alone::new();
        let (short, long) = (0, u64::MAX);
        assert_eq!(alone.others(long, 0), 0, "nothing is known");
        alone.count(false);
        assert_eq!(alone.others(long, 0), 0, "its own loops");
        on_another_thread(|| alone.count(true));
        assert_eq!(alone.others(long, 0), 0, "workers run what is inside of loops");
        on_another_thread(|| alone.count(false));
        assert_eq!(alone.others(long, 0), 1);
        assert_eq!(alone.others(long, 0), 0, "it is gone");
        on_another_thread(|| alone.count(false));
        assert_eq!(alone.others(short, 0), 0, "it does next to nothing");
        on_another_thread(|| alone.count(false));
        assert_eq!(alone.others(long, 0), 1);
        assert_eq!(alone.others(short, u64::MAX), 1, "as a moment ago");
        assert_eq!(Alone::new().others(long, u64::MAX), 0, "those of another pool");
    }

    #[test]
    fn others_are_company_where_they_need_half_of_the_cpus() {
        for (width, company) in [(2, true), (3, false), (4, false)] {
            let machine = Topology::regular(1, 1, width);
            let homes = Seating::new(&machine, width).placement(Placement::Free).homes();
            let seats = Seats::new(machine, Placement::Free, homes);
            let mut shared = Shared::new(seats, Duration::ZERO);
            shared.engage(shared.crew(), width);
            // It looks each time.
            shared.patience = 0;
            assert!(!shared.has_company(u64::MAX), "nothing is known");
            on_another_thread(|| shared.count_serial());
            assert_eq!(shared.has_company(u64::MAX), company, "{width} seats");
        }
    }

    #[test]
    fn a_quarter_of_the_time_is_busy() {
        assert!(are_busy(1, 25, 100) && are_busy(5, 5, 100) && are_busy(u64::MAX, 2, u64::MAX));
        assert!(!are_busy(1, 24, 100) && !are_busy(0, u64::MAX, 0));
    }

    #[test]
    fn callers_that_come_one_after_the_other_count_apart() {
        // Other tests' threads may come between, but not each time.
        let apart = (0..100).any(|_| {
            let stripe = || thread::spawn(own_stripe).join().unwrap();
            let stripes: Vec<usize> = (0..STRIPES).map(|_| stripe()).collect();
            (0..STRIPES).all(|it| stripes.contains(&it))
        });
        assert!(apart && own_stripe() == own_stripe());
    }
}
