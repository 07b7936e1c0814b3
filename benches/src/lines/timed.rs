//! A prepared operation that can be timed, with the peer's and the line's types behind one interface.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Pace;
use super::work::Work;
use crate::kernels::churn;
use crate::peers::{Offload, Peer, Sharing, answer};

/// An operation that can be timed.
pub(crate) trait Timed {
    /// Runs the operation once on fresh data and compares what it did with a plain loop.
    fn check(&mut self) -> Result<()>;

    /// The time that `count` operations take, pauses not counted.
    fn sample(&mut self, count: u64, pace: Pace) -> Duration;

    /// How long a sample must be for its own overhead to vanish.
    fn shortest_sample(&self) -> Duration {
        Duration::from_micros(50)
    }
}

/// `count` times `operate`, at `pace`.
#[inline(always)]
fn time(count: u64, pace: Pace, mut operate: impl FnMut()) -> Duration {
    if pace == Pace::Hot {
        let start = Instant::now();
        for _ in 0..count {
            operate();
        }
        return start.elapsed();
    }
    let mut total = Duration::ZERO;
    for _ in 0..count {
        match pace {
            Pace::Hot => unreachable!("handled above"),
            Pace::Asleep(pause) => thread::sleep(pause),
            Pace::Busy(pause) => compute(pause),
        }
        let start = Instant::now();
        operate();
        total += start.elapsed();
    }
    total
}

/// Keeps this thread's CPU busy with arithmetic for `pause`.
pub(crate) fn compute(pause: Duration) {
    let start = Instant::now();
    let mut x = 1;
    while start.elapsed() < pause {
        x = churn(black_box(x), 500);
    }
    black_box(x);
}

/// One caller's loops, or those of several callers.
pub(super) fn loops<P: Peer, W: Work + 'static>(
    peer: P,
    callers: usize,
    work: impl Fn() -> W,
) -> Box<dyn Timed> {
    if callers == 1 {
        Box::new(Alone { peer, work: work() })
    } else {
        Box::new(Several { peer, works: (0..callers).map(|_| work()).collect() })
    }
}

struct Alone<P, W> {
    peer: P,
    work: W,
}

impl<P: Peer, W: Work> Timed for Alone<P, W> {
    fn check(&mut self) -> Result<()> {
        let work = &mut self.work;
        self.peer.enter(Sharing::Alone, |caller| {
            work.start(caller);
            work.operate(caller);
        });
        work.check()
    }

    fn sample(&mut self, count: u64, pace: Pace) -> Duration {
        let work = &mut self.work;
        self.peer.enter(Sharing::Alone, |caller| {
            time(count, pace, || black_box(&mut *work).operate(caller))
        })
    }
}

struct Several<P, W> {
    peer: P,
    works: Vec<W>,
}

impl<P: Peer, W: Work> Timed for Several<P, W> {
    fn check(&mut self) -> Result<()> {
        let peer = &self.peer;
        thread::scope(|scope| {
            let callers = self.works.iter_mut().map(|work| {
                scope.spawn(move || {
                    peer.enter(Sharing::Several, |caller| {
                        work.start(caller);
                        work.operate(caller);
                    });
                    work.check()
                })
            });
            let callers = callers.collect::<Vec<_>>();
            callers.into_iter().try_for_each(|caller| caller.join().expect("a caller panicked"))
        })
    }

    /// From the moment when all callers stand ready to the moment when the last is done.
    fn sample(&mut self, count: u64, pace: Pace) -> Duration {
        let (peer, all) = (&self.peer, self.works.len());
        let ready = &AtomicUsize::new(0);
        thread::scope(|scope| {
            let callers = self.works.iter_mut().map(|work| {
                scope.spawn(move || {
                    peer.enter(Sharing::Several, |caller| {
                        // Each arrival is seen by all who leave: the last one starts everybody.
                        ready.fetch_add(1, AcqRel);
                        while ready.load(Acquire) < all {
                            if all > 2 {
                                thread::yield_now();
                            }
                            spin_loop();
                        }
                        let start = Instant::now();
                        time(count, pace, || black_box(&mut *work).operate(caller));
                        (start, Instant::now())
                    })
                })
            });
            let callers = callers.collect::<Vec<_>>();
            let times: Vec<_> = callers
                .into_iter()
                .map(|caller| caller.join().expect("a caller panicked"))
                .collect();
            let start = times.iter().map(|(start, _)| *start).min().expect("there are callers");
            let end = times.iter().map(|(_, end)| *end).max().expect("there are callers");
            end - start
        })
    }

    fn shortest_sample(&self) -> Duration {
        // Long beside the spread of the starts, which is that of waking threads.
        Duration::from_millis(4)
    }
}

/// Round trips through an executor.
pub(super) fn round_trips<O: Offload>(executor: O) -> Box<dyn Timed> {
    Box::new(RoundTrips { executor })
}

struct RoundTrips<O> {
    executor: O,
}

impl<O: Offload> Timed for RoundTrips<O> {
    fn check(&mut self) -> Result<()> {
        let got = self.executor.round_trip(14);
        ensure!(got == answer(14), "a round trip of 14 came back as {got}");
        Ok(())
    }

    fn sample(&mut self, count: u64, pace: Pace) -> Duration {
        let mut x = 1;
        let total = time(count, pace, || x = self.executor.round_trip(x));
        black_box(x);
        total
    }
}
