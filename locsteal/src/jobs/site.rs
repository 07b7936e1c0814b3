//! What the library keeps for each place in a program that submits jobs.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::policy::{BUDGET, Class, Decision, Knowledge, Side};
use crate::clock;
use crate::grown::Grown;
use crate::stats::sites::{self, CallSiteReport, Estimate, Listed, Place, SiteKind};

/// The state of one call site: a `static` in the expansion of `spawn_near!`, or an entry of a table for functions.
#[derive(Debug)]
pub struct JobSite {
    place: Place,
    name: Option<&'static str>,
    listed: AtomicBool,
    classes: [Grown<Class>; CLASSES],
}

/// One for weight 0 and for jobs without weight, one for each power of two.
const CLASSES: usize = usize::BITS as usize + 1;

impl JobSite {
    /// The site at this place of a source file.
    pub const fn new(
        file: &'static str,
        line: u32,
        column: u32,
        name: Option<&'static str>,
    ) -> Self {
        Self {
            place: Place::new(file, line, column),
            name,
            listed: AtomicBool::new(false),
            classes: [const { Grown::new() }; CLASSES],
        }
    }

    /// That of a function's caller. The macro's is found without looking it up.
    pub(super) fn of_caller(
        caller: &'static Location<'static>,
        name: Option<&'static str>,
    ) -> &'static Self {
        /// Few enough to look through: a place for each call of `spawn_near` functions in the program.
        static SITES: Grown<JobSite> = Grown::new();

        let place = Place::new(caller.file(), caller.line(), caller.column());
        let make = || Self::new(caller.file(), caller.line(), caller.column(), name);
        SITES.find_or_add(|site| site.place == place, make)
    }

    /// Decides about a job of this weight; the class is taught what comes of it.
    pub(super) fn decide(&'static self, weight: usize) -> (&'static Class, Decision) {
        if !self.listed.load(Ordering::Relaxed) && !self.listed.swap(true, Ordering::Relaxed) {
            sites::list(self);
        }
        let class = self.classes[class_of(weight)].newest_or_add(Class::default);
        (class, class.decide(clock::in_ticks(BUDGET)))
    }
}

fn class_of(weight: usize) -> usize {
    weight.checked_ilog2().map_or(0, |log| log as usize + 1)
}

impl Listed for JobSite {
    fn report(&self) -> Vec<CallSiteReport> {
        let classes = self.classes.iter().enumerate();
        classes
            .filter_map(|(index, class)| Some((index, class.newest()?.knowledge())))
            .map(|(index, knowledge)| {
                let Knowledge { inline_time, away_time, cost, inlined, offloaded, probes, .. } =
                    knowledge;
                let side = if knowledge.prefers_inline { Side::Inline } else { Side::Offload };
                let estimates = [
                    ("own time inline", inline_time),
                    ("own time offloaded", away_time),
                    ("cost of offloading", cost),
                ];
                CallSiteReport {
                    place: self.place,
                    kind: SiteKind::Job,
                    name: self.name,
                    size: index.checked_sub(1).map(|log| 1 << log),
                    decision: match side {
                        Side::Inline => "inline",
                        Side::Offload => "offload",
                    },
                    counts: vec![("inline", inlined), ("offloaded", offloaded), ("probes", probes)],
                    estimates: estimates
                        .into_iter()
                        .filter(|&(_, ticks)| ticks != 0)
                        .map(|(what, ticks)| {
                            Estimate::new(what, Duration::from_nanos(clock::in_ns(ticks)))
                        })
                        .collect(),
                }
            })
            .collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn weights_of_one_power_of_two_are_one_class() {
        assert_eq!(class_of(0), 0);
        assert_eq!(class_of(1), 1);
        assert_eq!((class_of(2), class_of(3), class_of(4)), (2, 2, 3));
        assert_eq!(class_of(usize::MAX), CLASSES - 1);
    }

    #[test]
    fn a_caller_has_one_site_however_often_it_is_looked_up() {
        #[track_caller]
        fn site() -> &'static JobSite {
            JobSite::of_caller(Location::caller(), None)
        }
        let sites: Vec<_> = (0..3).map(|_| site()).collect();
        assert!(sites.iter().all(|&found| std::ptr::eq(found, sites[0])));
        assert!(!std::ptr::eq(site(), sites[0]));
    }
}
