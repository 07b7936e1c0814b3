//! Parallel loops that steal from near cores first.
//!
//! See the [repository](https://github.com/locsteal/locsteal) for a guide.
//!
//! # Features
//!
//! None of them is on by default.
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `ndarray` | loops over arrays of the `ndarray` crate, version 0.17, and `a[[i, j]]` owned by row |
//! | `serde` | serialization of [`Stats`], [`LocalityReport`] and [`CallSites`] |

#[cfg(feature = "simulator")]
#[doc(hidden)]
pub mod __simulator;
mod affinity;
mod ahead;
mod clock;
mod grown;
mod jobs;
mod loops;
mod panics;
mod pool;
mod sched;
mod stats;
mod sync;
mod topology;

/// What the macros expand to, and nobody should call.
#[doc(hidden)]
pub mod __private {
    pub use crate::__to_borrow_spawn_the_job_in_a_scope as to_borrow_spawn_the_job_in_a_scope;
    pub use crate::jobs::JobSite;
    pub use crate::loops::support::*;
}

pub use affinity::{Home, Layout, Near, NearGuard, Placement, Seating, Unpinned, unpinned};
pub use jobs::{JobBuilder, JobHandle, Policy, Scope, job, scope, spawn_near};
/// Runs `for` loops of a function in parallel: those that are marked with `#[par_for(..)]`, or, if none is, its one outermost
/// loop.
///
/// The attribute stands on a function, or on an `impl` block, a `trait` or a `mod` whose functions hold marked loops. A loop can
/// run over everything that is an [`IntoParallelSource`]: integer ranges, slices, vectors, and `.rev()`, `.zip(..)`,
/// `.enumerate()` and the like of these. Its body stays ordinary safe Rust. `y[i]` can be written where `i` is the loop's index;
/// `break`, `return` and `?` leave the loop with the value of the lowest iteration that does.
///
/// | clause | value | default |
/// | --- | --- | --- |
/// | `own(y)`, `own(c.chunks(m))` | the arrays of which iteration `i` owns `y[i]`, or `c[i * m..(i + 1) * m]` | inferred from `y[i] = ..` |
/// | `own(a.rows())` | the arrays of several axes of which it owns `a[[i, j]]` for any `j`, with the feature `ndarray` | inferred from `a[[i, j]] = ..` |
/// | `reduce(+: sum, max: top)` | what iterations accumulate into; the operators are `+`, `*`, `&`, `\|`, `^`, `&&`, `\|\|`, `min`, `max` | |
/// | `reduce(max: (top, at))` | the same for a least or greatest value and what goes along with it | |
/// | `reduce(histogram)` | the same with what the type offers that implements [`Reduce`] | |
/// | `reduce(reproducible, +: sum)` | the same with the same bits in each run | |
/// | `local(buffer = Vec::new())` | a variable of each participant's own | |
/// | `schedule` | `auto`, `static`, `static(n)`, `steal`, `dynamic`, `dynamic(n)`, `serial`, or a [`Schedule`] in parentheses | `auto` |
/// | `locality` | `llc`, `node`, `flat`, or a [`Locality`] in parentheses | `llc` |
/// | `grain` | a `usize`, the smallest number of iterations worth handing over | from the pool |
/// | `threads` | a `usize`, at most this many participants | the pool's width |
/// | `pool` | a `&`[`Pool`] | the global pool |
/// | `collapse` | how many nested loops become one | 1 |
/// | `name` | a string literal, for messages | file, line and column |
/// | `progress` | a closure `Fn(u64)` that gets how many iterations are done, or a [`Progress`] | none |
/// | `crate` | the path of this library | the dependency in the manifest |
///
/// Clauses take their values with `=`, each stands once, and they are evaluated once, after what the loop runs over.
///
/// The [language page](https://github.com/locsteal/locsteal/blob/main/docs/language.md) tells the rest.
///
/// # Panics
///
/// With the panic of an iteration, in the thread that runs the loop: the lowest one's that was caught. Where an index is out of
/// bounds, as the serial loop does.
///
/// # Examples
///
/// ```
/// use locsteal::par_for;
///
/// #[par_for]
/// fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
///     for i in 0..x.len() {
///         y[i] += a * x[i];
///     }
/// }
///
/// #[par_for]
/// fn mean(values: &[f64]) -> Option<f64> {
///     let mut sum = 0.0;
///     #[par_for(reduce(+: sum))]
///     for value in values {
///         if value.is_nan() {
///             return None;
///         }
///         sum += value;
///     }
///     (!values.is_empty()).then(|| sum / values.len() as f64)
/// }
///
/// let mut y = [1.0, 2.0];
/// axpy(2.0, &[10.0, 20.0], &mut y);
/// assert_eq!(y, [21.0, 42.0]);
/// assert_eq!(mean(&y), Some(31.5));
/// assert_eq!(mean(&[0.5, f64::NAN]), None);
/// ```
pub use locsteal_macros::par_for;
/// Submits a job to a worker near to the calling thread, and gives its [`JobHandle`].
///
/// `spawn_near!(move || work())` runs the closure on a worker of the [global pool](Pool::global), in the
/// last-level-cache domain that the calling thread is running in, where the data that it has just touched is. An idle
/// worker of that domain gets the job first, then near ones. A worker of another domain is confined to the job's
/// domain for its time if it may run there, as by a [`Near`] guard. Small jobs run in the submitter: each call site
/// learns which of the two is better, see [`Policy::Adaptive`] and [`callsites`].
///
/// Options stand in `<..>` in front of the closure, each once:
///
/// | option | value | default |
/// | --- | --- | --- |
/// | `weight` | a `usize`, how much work it is in whatever unit: jobs between the same powers of two are judged together | 0 |
/// | `policy` | `adaptive`, `offload` (to a worker) or `inline` (in the submitter) | `adaptive` |
/// | `near` | a [`Near`], where the job belongs near to | where the calling thread runs |
/// | `pool` | a `&`[`Pool`], whose workers run it | the global pool |
/// | `scope` | a `&`[`Scope`], so that the closure may borrow | none: it owns what it uses |
/// | `name` | a string literal, for [`callsites`] | none |
///
/// The closure takes no parameters. What it captures, and what it gives back, must be `Send`. A comparison in an option
/// must stand in parentheses.
///
/// Where no worker can be had (on a pool of one, in the child of a fork, while the pool shuts down), a job runs before
/// `spawn_near!` returns.
///
/// # Examples
///
/// ```
/// use locsteal::{Near, Pool, spawn_near};
///
/// let batch: Vec<u64> = (0..1000).collect();
/// let sum = spawn_near!(<weight = batch.len(), name = "sum"> move || batch.iter().sum::<u64>());
/// assert_eq!(sum.join(), 499_500);
///
/// let mut parts = vec![1, 2, 3];
/// locsteal::scope(|s| {
///     for part in &mut parts {
///         spawn_near!(<scope = s, policy = offload> || *part *= 10);
///     }
/// });
/// assert_eq!(parts, [10, 20, 30]);
///
/// let pool = Pool::builder().threads(2).build()?;
/// let here = Near::here();
/// let job = spawn_near!(<pool = &pool, near = here> || "ran near here");
/// assert_eq!(job.join(), "ran near here");
/// # Ok::<(), locsteal::BuildError>(())
/// ```
pub use locsteal_macros::spawn_near;
pub use loops::builder::{Attempt, Loop, Parallel, range, source};
pub use loops::first_touch::{FirstTouch, first_touch};
pub use loops::own::ParallelArray;
pub use loops::progress::Progress;
pub use loops::reduce::{self, Reduce};
pub use loops::source::{
    self, DetachedSource, IndexedSource, IntoParallelSource, Length, ParallelSource,
    RepeatableSource,
};
pub use pool::{BuildError, LocalityReport, Pool, PoolBuilder, PoolPlan, Recording, shutdown};
pub use sched::{Locality, Schedule};
pub use stats::sites::{CallSiteReport, CallSites, Estimate, Place, SiteKind, callsites};
pub use stats::timeline::{self, Timeline};
pub use stats::{ByTier, Stats, Tier};
pub use topology::{
    CpuIds, CpuSet, Domain, Node, ParseCpuListError, ParseSnapshotError, Topology, TopologyBuilder,
    TopologyError, TopologySnapshot,
};
