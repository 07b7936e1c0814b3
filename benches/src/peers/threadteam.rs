//! threadteam (tensor4all): `for_ranges` with a token of a pool, or of a team whose members are reserved for one leader.
//! A loop shorter than the grain runs on the caller, as its documentation advises to arrange.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ::threadteam::{Exec, Pool, Team};
use anyhow::{Result, anyhow};

use super::{Caller, Peer, Setup, Sharing, pinning};
use crate::kernels::{Kernel, Nested, SumKernel};

pub(crate) enum ThreadTeam<const TEAM: bool> {
    Pool(Pool),
    Team(Team),
}

pub(crate) struct ThreadTeamCaller<'p> {
    from: From<'p>,
}

/// Where a token for the next loop comes from.
enum From<'p> {
    /// A plain token costs next to nothing to make.
    Pool(&'p Pool),
    /// The one leader keeps its token.
    Lead(Exec<'p>),
    /// One of several leaders, who take turns.
    Turns(&'p Team),
}

impl<const TEAM: bool> Peer for ThreadTeam<TEAM> {
    type Caller<'p> = ThreadTeamCaller<'p>;

    fn build(setup: &Setup) -> Result<Self> {
        let mut builder = Pool::builder().threads(setup.width);
        if setup.pin {
            builder = builder.on_start(pinning::pin_to);
        }
        if !TEAM {
            return Ok(Self::Pool(builder.build()?));
        }
        let pool = builder.acquire_timeout(Duration::from_secs(5)).build()?;
        let team = pool
            .into_team(setup.width)
            .map_err(|e| anyhow!("threadteam reserved no team: {}", e.reason()))?;
        Ok(Self::Team(team))
    }

    fn enter<'p, R: Send>(
        &'p self,
        sharing: Sharing,
        f: impl FnOnce(&mut ThreadTeamCaller<'p>) -> R + Send,
    ) -> R {
        let from = match (self, sharing) {
            (Self::Pool(pool), _) => From::Pool(pool),
            (Self::Team(team), Sharing::Alone) => From::Lead(team.exec(team.size().get())),
            (Self::Team(team), Sharing::Several) => From::Turns(team),
        };
        f(&mut ThreadTeamCaller { from })
    }
}

fn token(pool: &Pool) -> Exec<'_> {
    Exec::new(pool, pool.width().get()).expect("a pool's width is not zero")
}

impl ThreadTeamCaller<'_> {
    #[inline]
    fn with<R>(&mut self, f: impl FnOnce(Exec<'_>) -> R) -> R {
        match &mut self.from {
            From::Pool(pool) => f(token(pool)),
            From::Lead(exec) => f(exec.reborrow()),
            From::Turns(team) => f(team.exec(team.size().get())),
        }
    }
}

fn grain(grain: usize) -> NonZeroUsize {
    NonZeroUsize::new(grain).expect("a grain is at least 1")
}

fn run<K: Kernel>(exec: Exec<'_>, kernel: &K) {
    exec.for_ranges(kernel.len(), grain(kernel.grain()), |range| {
        // SAFETY: threadteam's ranges are disjoint and together the whole loop.
        unsafe { kernel.chunk(range) };
    });
}

impl Caller for ThreadTeamCaller<'_> {
    fn for_each<K: Kernel>(&mut self, kernel: &K) {
        self.with(|exec| run(exec, kernel));
    }

    fn sum_of<K: SumKernel>(&mut self, kernel: &K) -> u64 {
        self.with(|exec| {
            let total = AtomicU64::new(0);
            exec.for_ranges(kernel.len(), grain(kernel.grain()), |range| {
                total.fetch_add(kernel.chunk(range), Relaxed);
            });
            total.into_inner()
        })
    }

    fn nest<N: Nested>(&mut self, nest: &N) {
        self.with(|exec| {
            exec.fork(nest.rows(), |r, child| {
                // SAFETY: each job runs once, and its row's indices once.
                let row = unsafe { nest.row(r) };
                run(child, &row);
            });
        });
    }
}
