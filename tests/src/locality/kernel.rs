//! What the kernel says of this machine and of this process's threads, read plainly and with none of the library's code,
//! which is what it is compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;

use crate::process::{has_ended, tasks};

/// CPU or node numbers.
pub type Numbers = BTreeSet<usize>;

/// Reads a list as the kernel writes it, for example `0-3,8`.
///
/// # Panics
///
/// If it is not one.
pub fn cpu_list(text: &str) -> Numbers {
    let mut numbers = Numbers::new();
    for item in text.trim().split(',').filter(|item| !item.is_empty()) {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        numbers.extend(number(first)..=number(last));
    }
    numbers
}

fn number(text: &str) -> usize {
    text.trim().parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// The machine as its files under `/sys` show it, and which of its CPUs the calling thread may use.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The CPUs that are online.
    pub online: Numbers,
    /// Those of them that the calling thread's affinity mask allows.
    pub allowed: Numbers,
    /// For each allowed CPU whose caches are known: the level of its highest data or unified cache, and the CPUs that
    /// share it, forbidden ones included.
    pub caches: BTreeMap<usize, (u32, Numbers)>,
    /// All CPUs of each node.
    pub nodes: BTreeMap<usize, Numbers>,
    /// From node to node.
    pub distances: BTreeMap<(usize, usize), u32>,
}

/// How near two CPUs are; nearer is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// They share a cache within a node.
    Cache,
    /// They share a node.
    Node,
    /// They are in nodes at this distance.
    Remote(u32),
}

impl Machine {
    /// Reads it all.
    ///
    /// # Panics
    ///
    /// If a file that every Linux machine has cannot be read.
    pub fn read() -> Self {
        let cpus = "/sys/devices/system/cpu";
        let online = cpu_list(&text(&format!("{cpus}/online")));
        let allowed = &own_mask() & &online;
        let caches =
            allowed.iter().filter_map(|&cpu| Some((cpu, cache(&format!("{cpus}/cpu{cpu}"))?)));
        let (mut nodes, mut distances) = (BTreeMap::new(), BTreeMap::new());
        let folder = "/sys/devices/system/node";
        if let Ok(list) = fs::read_to_string(format!("{folder}/online")) {
            let list = cpu_list(&list);
            for &node in &list {
                nodes.insert(node, cpu_list(&text(&format!("{folder}/node{node}/cpulist"))));
                // There is a column for each node that is online.
                let row = text(&format!("{folder}/node{node}/distance"));
                for (&to, distance) in list.iter().zip(row.split_whitespace()) {
                    distances.insert((node, to), number(distance) as u32);
                }
            }
        }
        Self { online, caches: caches.collect(), allowed, nodes, distances }
    }

    /// The node that a CPU is in.
    pub fn node_of(&self, cpu: usize) -> Option<usize> {
        Some(*self.nodes.iter().find(|(_, cpus)| cpus.contains(&cpu))?.0)
    }

    /// The allowed CPUs that share a CPU's highest cache and its node, where its cache is known.
    pub fn domain_of(&self, cpu: usize) -> Option<Numbers> {
        let (_, shared) = self.caches.get(&cpu)?;
        let same_node = |&other: &usize| self.node_of(other) == self.node_of(cpu);
        Some(shared.intersection(&self.allowed).copied().filter(same_node).collect())
    }

    /// The smallest known place that a CPU is in, without CPUs that are not allowed: its domain, else its node, else the
    /// whole machine.
    pub fn place_of(&self, cpu: usize) -> Numbers {
        self.domain_of(cpu).unwrap_or_else(|| {
            let node = self.node_of(cpu).map(|node| &self.nodes[&node]);
            node.map_or_else(|| self.allowed.clone(), |node| node & &self.allowed)
        })
    }

    /// All places, by their nodes and first CPUs.
    pub fn places(&self) -> Vec<Numbers> {
        let mut places: Vec<Numbers> = Vec::new();
        for &cpu in &self.allowed {
            if !places.iter().any(|place| place.contains(&cpu)) {
                places.push(self.place_of(cpu));
            }
        }
        places.sort_by_key(|place| (self.node_of(first(place)), first(place)));
        places
    }

    /// The domains among the [places](Self::places).
    pub fn domains(&self) -> Vec<Numbers> {
        self.places().into_iter().filter(|place| self.caches.contains_key(&first(place))).collect()
    }

    /// The nodes that have allowed CPUs, and those.
    pub fn usable_nodes(&self) -> BTreeMap<usize, Numbers> {
        let usable = self.nodes.iter().map(|(&node, cpus)| (node, cpus & &self.allowed));
        usable.filter(|(_, cpus)| !cpus.is_empty()).collect()
    }

    /// How near two CPUs are. The order matters where distances differ by direction.
    pub fn nearness(&self, from: usize, to: usize) -> Nearness {
        match (self.node_of(from), self.node_of(to)) {
            (Some(a), Some(b)) if a != b => Nearness::Remote(self.distances[&(a, b)]),
            _ if self.domain_of(from).is_some_and(|domain| domain.contains(&to)) => Nearness::Cache,
            _ => Nearness::Node,
        }
    }
}

impl fmt::Display for Nearness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache => f.write_str("in the cache"),
            Self::Node => f.write_str("in the node"),
            Self::Remote(distance) => write!(f, "at {distance}"),
        }
    }
}

/// The lowest number.
///
/// # Panics
///
/// If there is none.
pub fn first(numbers: &Numbers) -> usize {
    *numbers.first().expect("the set is not empty")
}

/// A list as the kernel writes it.
pub fn list(numbers: &Numbers) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run =
        |(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
    runs.into_iter().map(run).collect::<Vec<_>>().join(",")
}

/// The highest data or unified cache of the CPU whose folder this is.
fn cache(cpu: &str) -> Option<(u32, Numbers)> {
    let mut highest = None;
    for entry in fs::read_dir(format!("{cpu}/cache")).ok()?.flatten() {
        let read = |file: &str| fs::read_to_string(entry.path().join(file)).ok();
        let (Some(level), Some(kind)) = (read("level"), read("type")) else {
            continue;
        };
        let level = number(&level) as u32;
        if ["Data", "Unified"].contains(&kind.trim())
            && highest.as_ref().is_none_or(|(other, _)| *other < level)
        {
            highest = Some((level, cpu_list(&read("shared_cpu_list")?)));
        }
    }
    highest
}

/// A worker thread of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// The kernel's number of the thread.
    pub thread: u32,
    /// Its affinity mask, which can hold CPUs that are not online.
    pub mask: Numbers,
}

/// The workers of the pool with this name, by seat.
///
/// # Panics
///
/// If the threads of this process cannot be listed.
pub fn workers(pool: &str) -> BTreeMap<usize, Worker> {
    tasks()
        .into_iter()
        .filter_map(|task| {
            // Any of these files may be gone: threads end.
            let name = fs::read_to_string(task.join("comm")).ok()?;
            let seat = name.trim_end().strip_prefix(pool)?.strip_prefix('-')?;
            let thread = task.file_name()?.to_str()?.parse().ok()?;
            let mask = mask_in(&fs::read_to_string(task.join("status")).ok()?);
            if has_ended(&task) {
                return None;
            }
            Some((number(seat), Worker { thread, mask }))
        })
        .collect()
}

/// The calling thread's affinity mask.
///
/// # Panics
///
/// If the kernel does not tell.
pub fn own_mask() -> Numbers {
    mask_in(&text("/proc/thread-self/status"))
}

/// The affinity mask in a thread's `status`.
fn mask_in(status: &str) -> Numbers {
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cpu_list(line.expect("the kernel tells the mask"))
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Sets the affinity mask of a thread; 0 is the calling one.
///
/// # Errors
///
/// The kernel's.
pub fn set_mask(thread: u32, cpus: &Numbers) -> io::Result<()> {
    let mut words = vec![0_u64; cpus.last().map_or(1, |last| last / 64 + 1)];
    for cpu in cpus {
        words[cpu / 64] |= 1 << (cpu % 64);
    }
    let (thread, size) = (thread.cast_signed(), size_of_val(words.as_slice()));
    // SAFETY: the kernel reads as many bytes as the words have.
    match unsafe { libc::syscall(libc::SYS_sched_setaffinity, thread, size, words.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The CPU that the calling thread is running on.
///
/// # Panics
///
/// If the kernel does not tell.
pub fn current_cpu() -> usize {
    // SAFETY: takes nothing and touches no memory of ours.
    let cpu = unsafe { libc::sched_getcpu() };
    usize::try_from(cpu).expect("the kernel knows where a thread runs")
}
