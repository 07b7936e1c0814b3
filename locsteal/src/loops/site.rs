//! A place in the source that launches loops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::auto::{Choice, Known, Memory, Sample};
use crate::stats::sites::{self, CallSiteReport, Estimate, Listed, Place, SiteKind};

/// What is known of a marked loop before it is run: the macro makes one of these for each, in a `static`.
#[derive(Debug)]
pub struct Site {
    name: Option<&'static str>,
    /// `file:line:column`
    place: &'static str,
    memory: Memory,
    listed: AtomicBool,
}

impl Site {
    /// A loop at this place, `file:line:column`.
    pub const fn new(name: Option<&'static str>, place: &'static str) -> Self {
        Self { name, place, memory: Memory::new(), listed: AtomicBool::new(false) }
    }

    /// The name, or the place.
    pub(crate) fn label(&self) -> &'static str {
        self.name.unwrap_or(self.place)
    }

    /// What the loop has learned about schedules.
    pub(crate) const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// See [`Memory::learn`]. From the first lesson on, the loop is among the [call sites](crate::callsites).
    pub(crate) fn learn(&'static self, len: u64, sample: Sample) {
        self.memory.learn(len, sample);
        if !self.listed.load(Ordering::Relaxed) && !self.listed.swap(true, Ordering::Relaxed) {
            sites::list(self);
        }
    }
}

impl Listed for Site {
    fn report(&self) -> Vec<CallSiteReport> {
        let report = |Known { least: size, left, settled, costs }: Known| {
            let estimate = |(choice, cost): (Choice, Option<f32>)| {
                // Of a loop of the class's least length.
                let time = Duration::try_from_secs_f32(cost? * size as f32 / 1e9).ok()?;
                Some(Estimate::new(choice.word(left), time))
            };
            CallSiteReport {
                place: Place::parse(self.place),
                kind: SiteKind::Loop,
                name: self.name,
                size: Some(size),
                decision: settled.map_or("still trying", |choice| choice.word(left)),
                counts: Vec::new(),
                estimates: costs.into_iter().filter_map(estimate).collect(),
            }
        };
        self.memory.known().map(report).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::loops::auto::FIRST;

    #[test]
    fn tells_what_it_has_learned_for_each_class() {
        static SITE: Site = Site::new(Some("rows"), "src/a:b.rs:12:5");
        assert_eq!(SITE.report(), []);
        for choice in FIRST {
            let ns = match choice {
                Choice::Serial => 500,
                Choice::Static => 2_000,
                Choice::Steal => 4_000,
            };
            SITE.learn(100, Sample { choice, ns, left_after: None, in_company: false });
        }
        SITE.learn(
            2_000,
            Sample { choice: Choice::Steal, ns: 9_000, left_after: None, in_company: false },
        );
        let told: Vec<String> = SITE.report().iter().map(ToString::to_string).collect();
        assert_eq!(
            told[0],
            "src/a:b.rs:12:5 loop \"rows\" of size 64: serial; serial 320.0ns; static 1.3µs; steal 2.6µs"
        );
        assert!(told[1].contains("of size 1024: still trying; steal 4.6"), "{}", told[1]);
        let sites = crate::callsites();
        assert_eq!(sites.iter().filter(|site| site.name == Some("rows")).count(), 2, "listed once");
    }
}
