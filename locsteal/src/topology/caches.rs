//! Which cache is a CPU's highest, and who shares it.
//!
//! The kernel shows each cache of a CPU as a folder `cpuN/cache/indexI` with a level, a type and a
//! list of the CPUs that share it. Their order is nobody's promise, so the highest level wins, not
//! the highest index.

use super::assemble::CacheClaim;
use super::kernel_files::{FileProblem, KernelFiles};
use super::{CpuSet, sysfs::Losses};

/// A CPU's highest-level data or unified cache.
struct Leaf {
    index: u32,
    /// No leaf has a higher index.
    is_last: bool,
    level: u32,
    shared: CpuSet,
}

/// The claims of all these CPUs, in order.
pub(super) fn read(
    files: &mut KernelFiles,
    cpus: &CpuSet,
    notes: &mut Vec<String>,
) -> Vec<CacheClaim> {
    let mut claims = Vec::with_capacity(cpus.len());
    let mut leaves: Vec<Leaf> = Vec::new();
    let mut without = CpuSet::new();
    let mut damaged = Losses::default();
    for cpu in cpus {
        let named_by = leaves.iter().find(|leaf| leaf.shared.contains(cpu));
        if let Some(leaf) = named_by.filter(|leaf| confirms(files, cpu, leaf)) {
            claims.push(leaf.claim(cpu, false));
            continue;
        }
        let mut problem = None;
        let leaf = highest_leaf(files, cpu, &mut problem);
        if leaf.is_none() && problem.is_none() {
            without.insert(cpu);
        }
        let doubtful = problem.is_some();
        if let Some(problem) = problem {
            damaged.add(cpu, &problem);
        }
        if let Some(leaf) = leaf {
            claims.push(leaf.claim(cpu, doubtful));
            if !doubtful {
                leaves.push(leaf);
            }
        }
    }
    if !without.is_empty() {
        notes.push(format!("CPUs {without} show no data cache"));
    }
    damaged.note("caches", notes);
    claims
}

impl Leaf {
    fn claim(&self, cpu: usize, doubtful: bool) -> CacheClaim {
        CacheClaim { cpu, level: Some(self.level), shared: self.shared.clone(), doubtful }
    }
}

/// Whether a CPU that another one names as sharing its highest cache says the same.
///
/// It saves most of the reading: a CPU that shows a cache of that level and sharing set, and none
/// of a higher index, has it as its highest one too. Otherwise all its caches must be looked at.
fn confirms(files: &mut KernelFiles, cpu: usize, leaf: &Leaf) -> bool {
    let Leaf { index, is_last, level, shared } = leaf;
    *is_last
        && files.list(&path(cpu, *index, "shared_cpu_list")).is_ok_and(|list| list == *shared)
        && files.number::<u32>(&path(cpu, *index, "level")).is_ok_and(|found| found == *level)
        && !files.exists(&format!("cpu/cpu{cpu}/cache/index{}", index + 1))
}

/// Leaves the first problem, if any, in `problem`; the leaf is then the highest of those that could
/// be read.
fn highest_leaf(
    files: &mut KernelFiles,
    cpu: usize,
    problem: &mut Option<FileProblem>,
) -> Option<Leaf> {
    let mut keep = |found: FileProblem| {
        problem.get_or_insert(found);
    };
    let indices = match files.numbered(&format!("cpu/cpu{cpu}/cache"), "index") {
        Ok(indices) => indices,
        Err(error) => {
            if !error.is_missing() {
                keep(error);
            }
            return None;
        }
    };
    let mut levels = Vec::with_capacity(indices.len());
    for &index in &indices {
        match files.number::<u32>(&path(cpu, index, "level")) {
            Ok(level) => levels.push((level, index)),
            Err(error) => keep(error),
        }
    }
    levels.sort_unstable_by(|a, b| b.cmp(a));
    for (level, index) in levels {
        let holds_data = match files.text(&path(cpu, index, "type")).map(str::trim) {
            Ok("Data" | "Unified") => Ok(true),
            Ok("Instruction") => Ok(false),
            Ok(other) => Err(FileProblem::content(
                &path(cpu, index, "type"),
                format_args!("neither Data, Instruction nor Unified: {other:?}"),
            )),
            Err(error) => Err(error),
        };
        let shared = match holds_data {
            Ok(true) => files.list(&path(cpu, index, "shared_cpu_list")),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        match shared {
            Ok(shared) => {
                let is_last = indices.last() == Some(&index);
                return Some(Leaf { index, is_last, level, shared });
            }
            Err(error) => keep(error),
        }
    }
    None
}

fn path(cpu: usize, index: u32, file: &str) -> String {
    format!("cpu/cpu{cpu}/cache/index{index}/{file}")
}
