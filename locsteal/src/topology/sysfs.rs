//! What the kernel's files claim about a machine.
//!
//! Read from `devices/system/cpu` and `devices/system/node` below the folder that is mounted at
//! `/sys`: few files, since each costs microseconds. Nothing here fails: a file that is missing or
//! damaged is noted, and what depended on it stays unknown.

use std::fmt::Display;
use std::path::Path;

use super::assemble::{Claims, NodeClaim};
use super::kernel_files::{FileProblem, KernelFiles};
use super::{CpuSet, Topology, caches};

/// As many nodes as any kernel can have.
const MAX_NODES: usize = 1024;

impl Topology {
    /// Reads the topology from a folder laid out as the kernel's `/sys`, as far as `allowed` goes.
    ///
    /// `root` is the folder that stands for `/sys`, or one that holds such a folder named `sys`.
    /// Only CPUs that are online and in `allowed` have a part in the result. Where none of the
    /// allowed CPUs is said to be online, as some container runtimes present it, all of them are
    /// taken.
    ///
    /// This never fails. A missing or damaged file costs what depended on it, and
    /// [`Topology::notes`] says what that was. In the worst case no domain and no node is known.
    ///
    /// # Examples
    ///
    /// ```
    /// use locsteal::Topology;
    ///
    /// let machine = Topology::read("/sys", &"0-1023".parse()?);
    /// println!("{machine}");
    /// # Ok::<(), locsteal::ParseCpuListError>(())
    /// ```
    pub fn read(root: impl AsRef<Path>, allowed: &CpuSet) -> Self {
        Reader::new(in_root(root.as_ref())).read_allowed(allowed)
    }

    /// As [`Topology::read`], from these files; where it is not known which CPUs are allowed, all
    /// that are online.
    pub(super) fn read_from(files: KernelFiles<'_>, allowed: Option<&CpuSet>) -> Self {
        let reader = Reader::new(files);
        match allowed {
            Some(allowed) => reader.read_allowed(allowed),
            None => reader.read_online(),
        }
    }

    /// As [`Topology::read`], where it is known that these CPUs are online and allowed.
    pub(crate) fn read_usable(root: &Path, cpus: CpuSet) -> Self {
        Reader::new(in_root(root)).read(cpus)
    }

    /// As [`Topology::read`], where it is not known which CPUs are allowed: all that are online.
    pub(crate) fn read_online(root: &Path) -> Self {
        Reader::new(in_root(root)).read_online()
    }

    /// A topology of which nothing is known, for this reason.
    pub(crate) fn unknown(reason: String) -> Self {
        Self { notes: vec![reason], ..Self::default() }
    }

    /// Adds to the notes.
    pub(crate) fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }
}

/// The files below a folder that stands for `/sys`, or holds one that does.
pub(super) fn in_root(root: &Path) -> KernelFiles<'static> {
    let system = root.join("devices/system");
    let nested = root.join("sys/devices/system");
    KernelFiles::in_folder(if !system.is_dir() && nested.is_dir() { nested } else { system })
}

/// CPUs, or nodes, of which something could not be read, and why for the first of them: many tend to
/// lack the same file.
#[derive(Default)]
pub(super) struct Losses {
    ids: CpuSet,
    first: String,
}

impl Losses {
    pub(super) fn add(&mut self, id: usize, problem: &FileProblem) {
        if self.ids.is_empty() {
            self.first = problem.to_string();
        }
        self.ids.insert(id);
    }

    /// Who lost something, and why the first of them did.
    pub(super) fn found(&self) -> Option<(&CpuSet, &str)> {
        (!self.ids.is_empty()).then_some((&self.ids, &self.first))
    }
}

struct Reader<'a> {
    files: KernelFiles<'a>,
    claims: Claims,
}

impl<'a> Reader<'a> {
    fn new(files: KernelFiles<'a>) -> Self {
        Self { files, claims: Claims::default() }
    }

    fn note(&mut self, text: impl Display) {
        self.claims.notes.push(text.to_string());
    }

    fn read_allowed(mut self, allowed: &CpuSet) -> Topology {
        let usable = match self.files.list("cpu/online") {
            Ok(online) => {
                let usable = online.intersection(allowed);
                if usable.is_empty() && !allowed.is_empty() {
                    self.note(format_args!(
                        "cpu/online says \"{online}\", which holds none of the allowed CPUs \
                         {allowed}: it is ignored"
                    ));
                    allowed.clone()
                } else {
                    usable
                }
            }
            Err(problem) => {
                self.note(format_args!("{problem}: all allowed CPUs are taken as online"));
                allowed.clone()
            }
        };
        self.read(usable)
    }

    fn read_online(mut self) -> Topology {
        let online = self.files.list("cpu/online").unwrap_or_else(|problem| {
            self.note(format_args!("{problem}: no CPU is known"));
            CpuSet::new()
        });
        self.read(online)
    }

    fn read(mut self, cpus: CpuSet) -> Topology {
        caches::read(&mut self.files, &cpus, &mut self.claims);
        self.read_cores(&cpus);
        self.read_nodes();
        self.claims.cpus = cpus;
        self.claims.assemble()
    }

    fn read_cores(&mut self, cpus: &CpuSet) {
        if self.files.number::<u32>("cpu/smt/active").is_ok_and(|active| active == 0) {
            self.claims.cores = cpus.iter().map(|cpu| [cpu].into_iter().collect()).collect();
            return;
        }
        let mut known = CpuSet::new();
        let mut losses = Losses::default();
        for cpu in cpus {
            if known.contains(cpu) {
                continue;
            }
            let path = format!("cpu/cpu{cpu}/topology/thread_siblings_list");
            match self.files.list(&path) {
                Ok(core) if core.contains(cpu) => {
                    known = known.union(&core);
                    self.claims.cores.push(core);
                }
                Ok(core) => {
                    let without = format!("\"{core}\" does not hold the CPU itself");
                    losses.add(cpu, &FileProblem::content(&path, without));
                }
                Err(problem) => losses.add(cpu, &problem),
            }
        }
        if let Some((cpus, first)) = losses.found() {
            self.note(format_args!("the cores of CPUs {cpus} are unknown: {first}"));
        }
    }

    fn read_nodes(&mut self) {
        let Some(online) = self.online_nodes() else { return };
        let mut losses = Losses::default();
        for id in &online {
            match self.files.list(&format!("node/node{id}/cpulist")) {
                // Without CPUs: memory alone. It keeps its column in the distances of the others.
                Ok(cpus) if cpus.is_empty() => {}
                Ok(cpus) => {
                    let distances = self.read_distances(id, &online);
                    self.claims.nodes.push(NodeClaim { id, cpus, distances });
                }
                Err(problem) => losses.add(id, &problem),
            }
        }
        if let Some((ids, first)) = losses.found() {
            self.note(format_args!("nodes {ids} are ignored: {first}"));
        }
    }

    /// The ids of the nodes that the kernel has, of memory alone or not.
    fn online_nodes(&mut self) -> Option<CpuSet> {
        let problem = match self.files.list("node/online") {
            Ok(ids) if ids.len() <= MAX_NODES => return Some(ids),
            Ok(ids) => FileProblem::content("node/online", format_args!("{} nodes", ids.len())),
            Err(problem) => problem,
        };
        if problem.is_missing() && !self.files.exists("node") {
            self.note("the kernel shows no nodes");
            return None;
        }
        self.note(format_args!("{problem}: the nodes that have a folder are taken"));
        let folders = self.files.numbered("node", "node").unwrap_or_default();
        Some(folders.into_iter().filter(|&id| id <= CpuSet::MAX_ID).collect())
    }

    /// A node's distances to all nodes that are online: a column each, in ascending order.
    fn read_distances(&mut self, id: usize, online: &CpuSet) -> Vec<(usize, u32)> {
        let path = format!("node/node{id}/distance");
        let row = self.files.text(&path).and_then(|text| {
            let numbers: Option<Vec<u32>> = text
                .split_ascii_whitespace()
                .map(|number| number.parse().ok().filter(|&distance| distance > 0))
                .collect();
            let (text, nodes) = (text.trim(), online.len());
            numbers.filter(|row| row.len() == nodes).ok_or_else(|| {
                let expected = format!("expected {nodes} distances, found {text:?}");
                FileProblem::content(&path, expected)
            })
        });
        match row {
            Ok(row) => online.iter().zip(row).collect(),
            Err(problem) => {
                self.note(format_args!("{problem}: the distances of node {id} are guessed"));
                Vec::new()
            }
        }
    }
}
