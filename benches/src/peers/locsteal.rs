//! locsteal: each line as a marked loop, under each schedule; and near jobs.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use ::locsteal::{Placement, Pool, par_for, spawn_near};
use anyhow::Result;

use super::{Caller, Offload, Peer, Setup, Sharing, answer};
use crate::kernels::{Kernel, SumKernel, TryKernel, churn};

fn pool(setup: &Setup) -> Result<Pool> {
    let mut builder = Pool::builder().threads(setup.width);
    if setup.pin {
        builder = builder.placement(Placement::Cpu);
    }
    Ok(builder.build()?)
}

/// A peer whose loops are marked with one schedule, written into the source as a user would.
macro_rules! under {
    ($peer:ident, $caller:ident, $schedule:tt) => {
        pub(crate) struct $peer {
            pool: Pool,
        }

        pub(crate) struct $caller<'p> {
            pool: &'p Pool,
        }

        impl Peer for $peer {
            type Caller<'p> = $caller<'p>;

            fn build(setup: &Setup) -> Result<Self> {
                Ok(Self { pool: pool(setup)? })
            }

            fn enter<'p, R: Send>(
                &'p self,
                _sharing: Sharing,
                f: impl FnOnce(&mut Self::Caller<'p>) -> R + Send,
            ) -> R {
                f(&mut $caller { pool: &self.pool })
            }
        }

        impl Caller for $caller<'_> {
            #[par_for(schedule = $schedule, pool = self.pool)]
            fn for_each<K: Kernel>(&mut self, kernel: &K) {
                for i in 0..kernel.len() {
                    // SAFETY: a marked loop runs each index once.
                    unsafe { kernel.one(i) };
                }
            }

            #[par_for(schedule = $schedule, pool = self.pool, reduce(+: sum))]
            fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
                let mut sum = 0;
                for i in 0..kernel.len() {
                    sum += kernel.one(i);
                }
                sum
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn try_for_each<K: TryKernel>(&mut self, kernel: &K) -> Result<(), usize> {
                for i in 0..kernel.len() {
                    // SAFETY: a marked loop runs each index at most once.
                    unsafe { kernel.one(i)? };
                }
                Ok(())
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn add_one(&mut self, out: &mut [u64], _grain: usize) {
                for i in 0..out.len() {
                    out[i] = out[i].wrapping_add(1);
                }
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn axpy(&mut self, a: f64, x: &[f64], y: &mut [f64]) {
                for i in 0..x.len() {
                    y[i] += a * x[i];
                }
            }

            #[par_for(schedule = $schedule, pool = self.pool, own(to.chunks(n)))]
            fn stencil(&mut self, n: usize, from: &[f64], to: &mut [f64]) {
                // A row is n cells; only rows of inner cells have inner neighbours.
                for row in 0..n * n {
                    let (j, k) = (row % n, row / n);
                    if !(1..n - 1).contains(&j) || !(1..n - 1).contains(&k) {
                        continue;
                    }
                    for c in row * n + 1..row * n + n - 1 {
                        let around = from[c - 1] + from[c + 1] + from[c - n] + from[c + n];
                        let around = around + from[c - n * n] + from[c + n * n];
                        to[c] = 0.4 * from[c] + 0.1 * around;
                    }
                }
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn triangular(&mut self, x: &[f64], y: &[f64], out: &mut [f64]) {
                for i in 0..x.len() {
                    out[i] = x[..=i].iter().zip(&y[..=i]).map(|(x, y)| x * y).sum();
                }
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn churn(&mut self, units: &[u32], out: &mut [u64]) {
                for i in 0..units.len() {
                    out[i] = churn(i as u64, units[i]);
                }
            }

            #[par_for(schedule = $schedule, pool = self.pool, reduce(+: sum))]
            fn sum(&mut self, x: &[u64]) -> u64 {
                let mut sum = 0;
                for i in 0..x.len() {
                    sum += x[i];
                }
                sum
            }

            #[par_for(schedule = $schedule, pool = self.pool, reduce(reproducible, +: sum))]
            fn reproducible_sum(&mut self, x: &[f64]) -> f64 {
                let mut sum = 0.0;
                for i in 0..x.len() {
                    sum += x[i];
                }
                sum
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn nested(&mut self, rows: usize, out: &mut [u64]) {
                let len = out.len() / rows;
                #[par_for(own(out.chunks(len)))]
                for r in 0..rows {
                    let row = &mut out[r * len..(r + 1) * len];
                    #[par_for]
                    for i in 0..len {
                        row[i] = churn(row[i] ^ i as u64, 2);
                    }
                }
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn checked(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), usize> {
                for i in 0..x.len() {
                    if x[i] < 0.0 {
                        return Err(i);
                    }
                    out[i] = x[i].sqrt();
                }
                Ok(())
            }

            #[par_for(schedule = $schedule, pool = self.pool)]
            fn mapped(&mut self, x: &[f64]) -> Vec<f64> {
                #[par_for]
                let values: Vec<f64> = for i in 0..x.len() {
                    x[i].sqrt() + 1.0
                };
                values
            }
        }
    };
}

under!(Auto, AutoCaller, auto);
under!(Static, StaticCaller, static);
under!(Steal, StealCaller, steal);
under!(Dynamic, DynamicCaller, dynamic);

/// How a job's answer comes back.
pub(crate) trait Way: Send + 'static {
    /// A round trip of `x`, through a job on this pool.
    fn round_trip(pool: &Pool, x: u64) -> u64;
}

/// Jobs near the submitter.
pub(crate) struct NearJobs<W> {
    pool: Pool,
    way: PhantomData<W>,
}

impl<W: Way> Offload for NearJobs<W> {
    fn build(setup: &Setup) -> Result<Self> {
        Ok(Self { pool: pool(setup)?, way: PhantomData })
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        W::round_trip(&self.pool, x)
    }
}

/// Where the call site finds best, which is in the submitter.
pub(crate) struct Adaptive;
/// Offloaded, and joined: the joiner runs it if no worker has begun it.
pub(crate) struct Joined;
/// Offloaded, and waited for: a worker runs it.
pub(crate) struct Waited;
/// Offloaded, and the answer comes through a channel, as from the peers' jobs: a worker runs it.
pub(crate) struct Answered;
/// Offloaded, and awaited by a thread that sleeps meanwhile: a worker runs it.
pub(crate) struct Awaited;

impl Way for Adaptive {
    fn round_trip(pool: &Pool, x: u64) -> u64 {
        spawn_near!(<pool = pool> move || answer(x)).join()
    }
}

impl Way for Joined {
    fn round_trip(pool: &Pool, x: u64) -> u64 {
        spawn_near!(<pool = pool, policy = offload> move || answer(x)).join()
    }
}

impl Way for Waited {
    fn round_trip(pool: &Pool, x: u64) -> u64 {
        let mut job = spawn_near!(<pool = pool, policy = offload> move || answer(x));
        job.wait();
        job.join()
    }
}

impl Way for Answered {
    fn round_trip(pool: &Pool, x: u64) -> u64 {
        let (send, receive) = mpsc::channel();
        spawn_near!(<pool = pool, policy = offload> move || {
            // The receiver waits below, so it is there.
            let _ = send.send(answer(x));
        });
        receive.recv().expect("the job sends before it ends")
    }
}

impl Way for Awaited {
    fn round_trip(pool: &Pool, x: u64) -> u64 {
        let mut job = pin!(spawn_near!(<pool = pool, policy = offload> move || answer(x)));
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            match job.as_mut().poll(&mut context) {
                Poll::Ready(answer) => return answer,
                Poll::Pending => thread::park(),
            }
        }
    }
}

/// Wakes the thread that polls.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
