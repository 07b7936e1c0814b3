//! locsteal: each line as a marked loop, under each schedule; and near jobs.

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

/// Jobs near the submitter: where its call site finds best, or always on a worker.
pub(crate) struct NearJobs<const OFFLOAD: bool> {
    pool: Pool,
}

impl<const OFFLOAD: bool> Offload for NearJobs<OFFLOAD> {
    fn build(setup: &Setup) -> Result<Self> {
        Ok(Self { pool: pool(setup)? })
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        let pool = &self.pool;
        let job = if OFFLOAD {
            spawn_near!(<pool = pool, policy = offload> move || answer(x))
        } else {
            spawn_near!(<pool = pool> move || answer(x))
        };
        job.join()
    }
}
