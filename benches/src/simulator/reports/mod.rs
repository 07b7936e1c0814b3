//! What is printed.

pub(crate) mod attempts;
pub(crate) mod contention;
pub(crate) mod growth;
pub(crate) mod guard;
pub(crate) mod launch;
pub(crate) mod machines;
pub(crate) mod published;
pub(crate) mod scale;
pub(crate) mod timeline;
pub(crate) mod trouble;
pub(crate) mod variants;

use crate::costs::Costs;
use crate::engine::Trouble;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::trial::Trial;

/// How much is simulated, and with which numbers.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) costs: Costs,
    pub(crate) seeds: u64,
    pub(crate) runs: u64,
}

impl Setting {
    pub(crate) fn trial<'a>(&'a self, site: &'a Site, kernel: &'a Kernel) -> Trial<'a> {
        let Self { costs, seeds, runs } = self;
        Trial { site, kernel, costs, trouble: Trouble::default(), seeds: *seeds, runs: *runs }
    }
}
