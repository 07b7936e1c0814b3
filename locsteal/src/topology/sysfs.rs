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
        let mut reader = Reader::new(root.as_ref());
        let online = reader.files.list("cpu/online");
        let usable = match online {
            Ok(online) => {
                let usable = online.intersection(allowed);
                if usable.is_empty() && !allowed.is_empty() {
                    reader.note(format_args!(
                        "cpu/online says {online}, which holds none of the allowed CPUs {allowed}: \
                         it is ignored"
                    ));
                    allowed.clone()
                } else {
                    usable
                }
            }
            Err(problem) => {
                reader.note(format_args!("{problem}: all allowed CPUs are taken as online"));
                allowed.clone()
            }
        };
        reader.read(usable)
    }

    /// As [`Topology::read`], where it is known that these CPUs are online and allowed.
    pub(crate) fn read_online(root: &Path, cpus: CpuSet) -> Self {
        Reader::new(root).read(cpus)
    }

    /// As [`Topology::read`], where it is not known which CPUs are allowed: all that are online.
    pub(crate) fn read_all(root: &Path) -> Self {
        let mut reader = Reader::new(root);
        let online = reader.files.list("cpu/online").unwrap_or_else(|problem| {
            reader.note(format_args!("{problem}: no CPU is known"));
            CpuSet::new()
        });
        reader.read(online)
    }

    /// Adds to the notes.
    pub(crate) fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    /// A topology of which nothing is known, for this reason.
    pub(crate) fn unknown(reason: String) -> Self {
        Claims { notes: vec![reason], ..Claims::default() }.assemble()
    }
}

struct Reader {
    files: KernelFiles,
    claims: Claims,
}

/// CPUs that something could not be read of, and why for the first of them: many CPUs tend to lack
/// the same file.
#[derive(Default)]
pub(super) struct Losses {
    cpus: CpuSet,
    first: String,
}

impl Losses {
    pub(super) fn add(&mut self, cpu: usize, problem: &FileProblem) {
        if self.cpus.is_empty() {
            self.first = problem.to_string();
        }
        self.cpus.insert(cpu);
    }

    pub(super) fn note(&self, what: &str, notes: &mut Vec<String>) {
        if !self.cpus.is_empty() {
            notes.push(format!(
                "the {what} of CPUs {} are not all known: {}",
                self.cpus, self.first
            ));
        }
    }
}

impl Reader {
    fn new(root: &Path) -> Self {
        let mut system = root.join("devices/system");
        if !system.is_dir() {
            let nested = root.join("sys/devices/system");
            if nested.is_dir() {
                system = nested;
            }
        }
        Self { files: KernelFiles::new(system), claims: Claims::default() }
    }

    fn note(&mut self, text: impl Display) {
        self.claims.notes.push(text.to_string());
    }

    fn read(mut self, cpus: CpuSet) -> Topology {
        self.claims.caches = caches::read(&mut self.files, &cpus, &mut self.claims.notes);
        self.read_cores(&cpus);
        self.claims.cpus = cpus;
        self.read_nodes();
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
                Ok(core) => losses.add(
                    cpu,
                    &FileProblem::content(
                        &path,
                        format_args!("{core} does not hold the CPU itself"),
                    ),
                ),
                Err(problem) => losses.add(cpu, &problem),
            }
        }
        losses.note("core siblings", &mut self.claims.notes);
    }

    fn read_nodes(&mut self) {
        let online = match self.files.list("node/online") {
            Ok(online) => online,
            // Without NUMA in the kernel there is no such folder.
            Err(problem) if problem.is_missing() && !self.files.exists("node") => {
                self.note("the kernel shows no nodes");
                return;
            }
            Err(problem) => {
                self.note(format_args!("{problem}: all nodes that have a folder are taken"));
                let numbers = self.files.numbered("node", "node").unwrap_or_default();
                numbers
                    .into_iter()
                    .map(|id| id as usize)
                    .filter(|&id| id <= CpuSet::MAX_ID)
                    .collect()
            }
        };
        for id in &online {
            match self.files.list(&format!("node/node{id}/cpulist")) {
                // Without CPUs: memory alone. It keeps its column in the distances of the others.
                Ok(cpus) if cpus.is_empty() => {}
                Ok(cpus) => {
                    let distances = self.read_distances(id, &online);
                    self.claims.nodes.push(NodeClaim { id, cpus, distances });
                }
                Err(problem) => self.note(format_args!("{problem}: node {id} is ignored")),
            }
        }
    }

    /// A node's distances to all nodes that are online: a column each, in ascending order.
    fn read_distances(&mut self, id: usize, online: &CpuSet) -> Vec<(usize, u32)> {
        let path = format!("node/node{id}/distance");
        let row = self.files.text(&path).and_then(|text| {
            let row: Result<Vec<u32>, _> = text.split_ascii_whitespace().map(str::parse).collect();
            match row {
                Ok(row) if row.len() != online.len() => Err(FileProblem::content(
                    &path,
                    format_args!("{} distances for {} nodes", row.len(), online.len()),
                )),
                Ok(row) if row.contains(&0) => Err(FileProblem::content(&path, "a distance of 0")),
                Ok(row) => Ok(row),
                Err(_) => Err(FileProblem::content(
                    &path,
                    format_args!("not a row of numbers: {:?}", text.trim()),
                )),
            }
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
