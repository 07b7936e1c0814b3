//! Which cache is a CPU's highest, and who shares it.
//!
//! The kernel shows each cache of a CPU as a folder `cpuN/cache/indexI` with a level, a type and a
//! list of the CPUs that share it. Their order is nobody's promise, so the highest level wins, not
//! the highest index.

use super::CpuSet;
use super::assemble::{CacheClaim, Claims};
use super::kernel_files::{FileProblem, KernelFiles};
use super::sysfs::Losses;

/// A CPU's highest-level data or unified cache.
struct Leaf {
    index: usize,
    level: u32,
    shared: CpuSet,
}

/// Adds the claims of all these CPUs.
pub(super) fn read(files: &mut KernelFiles<'_>, cpus: &CpuSet, claims: &mut Claims) {
    let mut found = Found::default();
    let mut without = CpuSet::new();
    let mut losses = Losses::default();
    let mut damaged = Vec::new();
    for cpu in cpus {
        if found.confirm(files, cpu) {
            continue;
        }
        let mut problem = None;
        let leaf = highest_leaf(files, cpu, &mut problem);
        match (leaf, problem) {
            (leaf, Some(problem)) => {
                losses.add(cpu, &problem);
                damaged.push((cpu, leaf));
            }
            (Some(leaf), None) => found.add(cpu, leaf),
            (None, None) => {
                without.insert(cpu);
            }
        }
    }
    for (cpu, leaf) in damaged {
        // What is damaged may be what tells the highest cache, which others can know.
        if !found.confirm(files, cpu)
            && let Some(leaf) = leaf
        {
            claims.doubtful.insert(cpu);
            found.add(cpu, leaf);
        }
    }
    claims.caches.extend(found.0.into_iter().map(|(leaf, claimants)| CacheClaim {
        shared: leaf.shared,
        claimants,
        level: Some(leaf.level),
    }));
    if !without.is_empty() {
        claims.notes.push(format!("CPUs {without} show no data cache"));
    }
    if let Some((cpus, first)) = losses.found() {
        claims.notes.push(format!("not all caches of CPUs {cpus} can be read: {first}"));
    }
}

/// The different sharing sets found so far, and the CPUs that claim them.
#[derive(Default)]
struct Found(Vec<(Leaf, CpuSet)>);

impl Found {
    fn add(&mut self, cpu: usize, leaf: Leaf) {
        match self.0.iter_mut().find(|(known, _)| known.shared == leaf.shared) {
            Some((known, claimants)) => {
                known.level = known.level.max(leaf.level);
                claimants.insert(cpu);
            }
            None => self.0.push((leaf, [cpu].into_iter().collect())),
        }
    }

    /// Adds a CPU that others name, if it says the same as they.
    fn confirm(&mut self, files: &mut KernelFiles<'_>, cpu: usize) -> bool {
        let mut named_by = self.0.iter_mut().filter(|(leaf, _)| leaf.shared.contains(cpu));
        let agreed = named_by.find(|(leaf, _)| confirms(files, cpu, leaf));
        agreed.is_some_and(|(_, claimants)| claimants.insert(cpu))
    }
}

/// Whether a CPU that another one names as sharing its highest cache says the same.
///
/// It saves most of the reading: a CPU with the same sharing set under the same index, and none of a
/// higher index, has that cache as its highest too. Where anything differs, all caches of the CPU
/// must be looked at.
fn confirms(files: &mut KernelFiles<'_>, cpu: usize, leaf: &Leaf) -> bool {
    files.list(&path(cpu, leaf.index, "shared_cpu_list")).is_ok_and(|shared| shared == leaf.shared)
        && !files.exists(&format!("cpu/cpu{cpu}/cache/index{}", leaf.index + 1))
}

/// The highest cache of those that could be read. The first problem, if any, is left in `problem`.
fn highest_leaf(
    files: &mut KernelFiles<'_>,
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
        let shared = match holds_data(files, &path(cpu, index, "type")) {
            Ok(true) => files.list(&path(cpu, index, "shared_cpu_list")),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        match shared {
            Ok(shared) => return Some(Leaf { index, level, shared }),
            Err(error) => keep(error),
        }
    }
    None
}

fn holds_data(files: &mut KernelFiles<'_>, path: &str) -> Result<bool, FileProblem> {
    match files.text(path)?.trim() {
        "Data" | "Unified" => Ok(true),
        "Instruction" => Ok(false),
        other => Err(FileProblem::content(path, format_args!("no known type: {other:?}"))),
    }
}

fn path(cpu: usize, index: usize, file: &str) -> String {
    format!("cpu/cpu{cpu}/cache/index{index}/{file}")
}
