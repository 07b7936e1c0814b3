//! The clauses of a marked loop.

use crate::ahead::Ahead;
use crate::loops::auto::Decision;
use crate::loops::builder::Segments;
use crate::loops::launch::{Label, Plan, Settled, settle};
use crate::loops::progress::Progress;
use crate::loops::site::Site;
use crate::{Locality, Pool, Schedule, Stats};

/// The clauses of a marked loop: what the launcher is told, whatever the loop runs over.
pub(super) struct Clauses<'a> {
    pub(super) site: &'static Site,
    pub(super) schedule: Schedule,
    pub(super) locality: Locality,
    /// 0: the pool chooses.
    pub(super) grain: u64,
    /// 0: the pool's width.
    pub(super) threads: usize,
    /// `None`: the global pool.
    pub(super) pool: Option<&'a Pool>,
    pub(super) progress: Option<&'a dyn Progress>,
    pub(super) report: Option<&'a mut Stats>,
}

impl<'a> Clauses<'a> {
    #[inline]
    pub(super) fn new(site: &'static Site) -> Self {
        Self {
            site,
            schedule: Schedule::Auto,
            locality: Locality::Llc,
            grain: 0,
            threads: 0,
            pool: None,
            progress: None,
            report: None,
        }
    }

    /// Whether there may be nothing to launch.
    #[inline]
    pub(super) fn may_be_plain(&self) -> bool {
        self.progress.is_none() && self.report.is_none()
    }

    /// Settles a loop of `len` positions that [may be plain](Self::may_be_plain).
    // Compiled once, and called by each loop.
    pub(super) fn settle(&self, len: u64) -> Settled {
        let pool = self.pool.unwrap_or_else(|| Pool::global());
        settle(pool, self.schedule, self.site, len)
    }

    /// A launch, of which every participant will need what is `ahead`.
    pub(super) fn segments(self, decided: Option<Decision>, ahead: Ahead) -> Segments<'a> {
        let Self { site, schedule, locality, grain, threads, pool, progress, report } = self;
        let label = Label::Name(site.label());
        let plan = Plan {
            schedule,
            locality,
            grain,
            threads,
            label,
            site: Some(site),
            decided,
            ahead,
            ..Plan::default()
        };
        Segments { plan, pool, progress, report }
    }
}
