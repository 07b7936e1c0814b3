//! The call sites of a program: what the library has learnt at each, and what it decides there.
//!
//! Whoever keeps the state of a call site lists it here once. The list holds nothing but references.

use std::fmt;
use std::time::Duration;

use crate::grown::Grown;

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Place {
    /// The file, as the compiler was given it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Place {
    pub(crate) const fn new(file: &'static str, line: u32, column: u32) -> Self {
        Self { file, line, column }
    }

    /// Reads `file:line:column`; what is no number is 0.
    pub(crate) fn parse(text: &'static str) -> Self {
        let mut parts = text.rsplitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        let (column, line) = (number(), number());
        Self { file: parts.next().unwrap_or(text), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What a call site does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum SiteKind {
    /// It submits jobs.
    Job,
    /// It launches loops.
    Loop,
}

/// A time that is used to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Estimate {
    /// What takes that long.
    pub what: &'static str,
    /// The estimate, which follows what is measured.
    pub time: Duration,
}

impl Estimate {
    pub(crate) const fn new(what: &'static str, time: Duration) -> Self {
        Self { what, time }
    }
}

/// What is known of one call site, for one class of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CallSiteReport {
    /// Where it is.
    pub place: Place,
    /// What it does.
    pub kind: SiteKind,
    /// Its name, if it was given one.
    pub name: Option<&'static str>,
    /// The least size of the class: of a job's weight, which goes up to less than twice of it; or of a loop's
    /// iterations, which go up to less than four times of it. `None` where no size was given.
    pub size: Option<u64>,
    /// What is decided at present: for a job `inline` or `offload`; for a loop the schedule that `auto` has settled on,
    /// `serial`, `static` or `steal` (where loops are left early `dynamic` instead of `static`), or that it is
    /// `still trying`.
    pub decision: &'static str,
    /// How often each decision was taken, and other counts. Loops count nothing here, since that would cost time.
    pub counts: Vec<(&'static str, u64)>,
    /// The times that the decision is taken from, as far as they are known. For a loop: how long one of the class's
    /// least size takes under each schedule.
    pub estimates: Vec<Estimate>,
}

impl fmt::Display for CallSiteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            SiteKind::Job => "job",
            SiteKind::Loop => "loop",
        };
        write!(f, "{} {kind}", self.place)?;
        if let Some(name) = self.name {
            write!(f, " {name:?}")?;
        }
        if let Some(size) = self.size {
            write!(f, " of size {size}")?;
        }
        write!(f, ": {}", self.decision)?;
        for (index, (what, count)) in self.counts.iter().enumerate() {
            write!(f, "{}{count} {what}", if index == 0 { " (" } else { ", " })?;
        }
        f.write_str(if self.counts.is_empty() { "" } else { ")" })?;
        for Estimate { what, time } in &self.estimates {
            write!(f, "; {what} {time:.1?}")?;
        }
        Ok(())
    }
}

/// Call sites with what the library has learnt there, made by [`callsites`]. `Display` prints one a line; with the feature
/// `serde` they can be serialized.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CallSites(Vec<CallSiteReport>);

impl CallSites {
    /// The reports, sorted by place and size.
    pub fn iter(&self) -> std::slice::Iter<'_, CallSiteReport> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a CallSites {
    type Item = &'a CallSiteReport;
    type IntoIter = std::slice::Iter<'a, CallSiteReport>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for CallSites {
    type Item = CallSiteReport;
    type IntoIter = std::vec::IntoIter<CallSiteReport>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for CallSites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, site) in self.0.iter().enumerate() {
            write!(f, "{}{site}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

/// What keeps the state of a call site.
pub(crate) trait Listed: Sync {
    /// One report for each class of sizes that was met.
    fn report(&self) -> Vec<CallSiteReport>;
}

static SITES: Grown<&'static dyn Listed> = Grown::new();

/// Adds a call site to the list; to be called once for each, when it is first used.
pub(crate) fn list(site: &'static dyn Listed) {
    SITES.add(site);
}

/// What was decided at each call site so far, and from which estimates: where jobs run inline and where they are
/// offloaded, and which schedule marked loops under `auto` are run with. Call sites that leave the library no choice
/// tell nothing.
///
/// A snapshot; call sites that were not reached yet are not in it.
///
/// # Examples
///
/// ```
/// use locsteal::{Pool, spawn_near};
///
/// let pool = Pool::builder().threads(2).build()?;
/// spawn_near!(<name = "index", weight = 3, pool = &pool> || 3 * 3).join();
///
/// let sites = locsteal::callsites();
/// assert!(sites.iter().any(|site| site.name == Some("index") && site.size == Some(2)));
/// println!("{sites}");
/// # Ok::<(), locsteal::BuildError>(())
/// ```
pub fn callsites() -> CallSites {
    let mut reports: Vec<_> = SITES.iter().flat_map(|site| site.report()).collect();
    reports.sort_by_key(|report| (report.place, report.size));
    CallSites(reports)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn prints_what_a_reader_wants_to_know() {
        let report = CallSiteReport {
            place: Place::new("src/main.rs", 12, 5),
            kind: SiteKind::Loop,
            name: Some("rows"),
            size: Some(1024),
            decision: "steal",
            counts: vec![("serial", 2), ("steal", 40)],
            estimates: vec![Estimate::new("serial", Duration::from_micros(120))],
        };
        assert_eq!(
            CallSites(vec![report]).to_string(),
            "src/main.rs:12:5 loop \"rows\" of size 1024: steal (2 serial, 40 steal); serial 120.0µs"
        );
    }
}
