//! The machines that can be booted: how the emulator and the guest are to make each.
//!
//! What a guest must then show stands apart from this, in `locsteal_tests::machines`.

use locsteal_tests::machines::{MACHINES, Machine};

/// How to make a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Under which name it is known what the guest must show, if not its own.
    known_as: Option<&'static str>,
    /// Sockets, dies in a socket, cores in a die, threads in a core. Each die has one L3.
    pub(crate) shape: [usize; 4],
    pub(crate) numbering: Numbering,
    /// The CPUs of each node, counted by their places. None: one node.
    pub(crate) nodes: &'static [&'static str],
    /// Row by row; none: the emulator's.
    pub(crate) distances: &'static [&'static [u32]],
    /// CPUs that are never switched on.
    pub(crate) offline: &'static str,
    /// The affinity mask of the checks, if not all.
    pub(crate) affinity: Option<&'static str>,
    /// `cpuset.cpus` and `cpu.max` of a control group for the checks; empty: no limit.
    pub(crate) group: Option<[&'static str; 2]>,
    /// Further properties of the emulated CPUs, and arguments of the kernel.
    pub(crate) cpu: &'static str,
    pub(crate) kernel: &'static str,
    /// Whether a run with little time includes it.
    pub(crate) short: bool,
}

/// How the kernel numbers CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// By socket, die, core, thread.
    Place,
    /// The first thread of every core, then the second ones.
    ThreadsLast,
    /// Socket after socket in turn, second threads last.
    SocketsInTurn,
}

const PLAIN: Recipe = Recipe {
    name: "",
    about: "",
    known_as: None,
    shape: [1, 2, 4, 1],
    numbering: Numbering::Place,
    nodes: &[],
    distances: &[],
    offline: "",
    affinity: None,
    group: None,
    cpu: "",
    kernel: "",
    short: false,
};

const TWO_SOCKETS: Recipe = Recipe {
    shape: [2, 1, 4, 1],
    nodes: &["0-3", "4-7"],
    distances: &[&[10, 21], &[21, 10]],
    ..PLAIN
};

const TWO_BY_TWO: Recipe = Recipe {
    shape: [2, 2, 2, 1],
    nodes: &["0-3", "4-7"],
    distances: &[&[10, 32], &[32, 10]],
    ..PLAIN
};

pub(crate) const RECIPES: &[Recipe] = &[
    Recipe { name: "1n2l", about: "one node, two caches of 4 CPUs", short: true, ..PLAIN },
    Recipe {
        name: "2n2l",
        about: "two nodes, each with one cache of 4 CPUs",
        short: true,
        ..TWO_SOCKETS
    },
    Recipe {
        name: "2n4l",
        about: "two nodes with two caches of 2 CPUs each",
        short: true,
        ..TWO_BY_TWO
    },
    Recipe {
        name: "4n8l",
        about: "four nodes at uneven distances, with two caches of 2 CPUs each",
        shape: [4, 2, 2, 1],
        nodes: &["0-3", "4-7", "8-11", "12-15"],
        distances: &[&[10, 16, 22, 28], &[16, 10, 28, 22], &[22, 28, 10, 16], &[28, 22, 16, 10]],
        short: true,
        ..PLAIN
    },
    Recipe {
        name: "snc",
        about: "two sockets whose one cache spans two nodes of 2 CPUs",
        shape: [2, 1, 4, 1],
        nodes: &["0-1", "2-3", "4-5", "6-7"],
        distances: &[&[10, 11, 21, 21], &[11, 10, 21, 21], &[21, 21, 10, 11], &[21, 21, 11, 10]],
        short: true,
        ..PLAIN
    },
    Recipe {
        name: "smt",
        about: "two caches of 4 cores with two threads, the second ones numbered last",
        shape: [1, 2, 4, 2],
        numbering: Numbering::ThreadsLast,
        short: true,
        ..PLAIN
    },
    Recipe {
        name: "epyc8",
        about: "one node, eight caches of 4 CPUs",
        shape: [1, 8, 4, 1],
        short: true,
        ..PLAIN
    },
    Recipe {
        name: "cpuless",
        about: "as 2n2l, with a third node of memory alone",
        nodes: &["0-3", "4-7", ""],
        distances: &[&[10, 21, 17], &[21, 10, 28], &[17, 28, 10]],
        short: true,
        ..TWO_SOCKETS
    },
    Recipe {
        name: "offline",
        about: "as 1n2l, with CPUs 3 and 5 switched off, and others while a loop runs",
        offline: "3,5",
        short: true,
        ..PLAIN
    },
    Recipe {
        name: "taskset",
        about: "as 1n2l, with an affinity mask of CPUs 1 and 4-6",
        affinity: Some("1,4-6"),
        short: true,
        ..PLAIN
    },
    Recipe {
        name: "remask",
        about: "as 2n4l, in a control group whose CPUs are changed while a loop runs",
        known_as: Some("2n4l"),
        group: Some(["0-7", ""]),
        short: true,
        ..TWO_BY_TWO
    },
    Recipe { name: "1cpu", about: "one CPU", shape: [1, 1, 1, 1], ..PLAIN },
    Recipe { name: "1n1l", about: "one node, one cache of 4 CPUs", shape: [1, 1, 4, 1], ..PLAIN },
    Recipe {
        name: "asym",
        about: "three nodes whose distances differ by direction",
        shape: [3, 1, 2, 1],
        nodes: &["0-1", "2-3", "4-5"],
        distances: &[&[10, 15, 40], &[20, 10, 30], &[40, 35, 10]],
        ..PLAIN
    },
    Recipe {
        name: "cgroup",
        about: "as 2n4l, in a control group with CPUs 1-2 and 5",
        group: Some(["1-2,5", ""]),
        ..TWO_BY_TWO
    },
    Recipe {
        name: "flat",
        about: "eight CPUs with a cache of its own each",
        shape: [8, 1, 1, 1],
        ..PLAIN
    },
    Recipe {
        name: "interleave",
        about: "as 2n2l, CPUs being numbered in turn",
        numbering: Numbering::SocketsInTurn,
        ..TWO_SOCKETS
    },
    Recipe {
        name: "maxcpus",
        about: "as 1n2l, of which two CPUs are never switched on",
        offline: "6-7",
        ..PLAIN
    },
    Recipe {
        name: "nol3",
        about: "4 CPUs without an L3",
        shape: [1, 1, 4, 1],
        cpu: ",l3-cache=off",
        ..PLAIN
    },
    Recipe {
        name: "offline-l3",
        about: "as 2n4l, with all CPUs of one cache switched off",
        offline: "2-3",
        ..TWO_BY_TWO
    },
    Recipe {
        name: "quota",
        about: "as 1n2l, in a control group with the time of two CPUs",
        group: Some(["", "200000 100000"]),
        ..PLAIN
    },
    Recipe {
        name: "smt-2n",
        about: "two nodes of 4 cores with two threads, CPUs being numbered in turn",
        shape: [2, 1, 4, 2],
        numbering: Numbering::SocketsInTurn,
        nodes: &["0-7", "8-15"],
        distances: &[&[10, 21], &[21, 10]],
        ..PLAIN
    },
    Recipe {
        name: "smt-pairs",
        about: "one cache of 4 cores with two threads, numbered in pairs",
        shape: [1, 1, 4, 2],
        ..PLAIN
    },
    Recipe {
        name: "wide",
        about: "as 1n2l, with 2,048 possible CPUs: masks of 1,024 bits are refused",
        kernel: "possible_cpus=2048",
        ..PLAIN
    },
];

impl Recipe {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        RECIPES.iter().find(|recipe| recipe.name == name)
    }

    /// What the guest must show.
    pub(crate) fn known(&self) -> &'static Machine {
        let name = self.known_as.unwrap_or(self.name);
        MACHINES
            .iter()
            .find(|machine| machine.name == name)
            .expect("each recipe is a known machine")
    }

    /// How many places for CPUs there are.
    pub(crate) fn places(&self) -> usize {
        self.shape.iter().product()
    }
}
