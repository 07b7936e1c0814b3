//! The list of all peers: what there is, what is missing and why, and what each can run.

use anyhow::Result;

use super::rayon::Rayon;
use super::serial::Serial;
use super::threads::ChannelThread;
use super::{Offload, Peer, Setup, floor};
use crate::lines::{Line, Timed, prepare_loops, prepare_offload};

type Prepare = fn(&Setup, &Line) -> Result<Box<dyn Timed>>;

/// A peer as the command line and the reports know it.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// How its loops are written, in a few words.
    pub(crate) idiom: &'static str,
    /// Whether its workers can be tied to CPUs.
    pub(crate) pins: bool,
    /// Whether its callers are workers of the pool, so that callers from elsewhere are another peer's business.
    callers_are_workers: bool,
    version: fn() -> Result<String>,
    loops: Option<Prepare>,
    offload: Option<Prepare>,
}

impl Entry {
    fn new(name: &'static str, idiom: &'static str, version: fn() -> Result<String>) -> Self {
        Self {
            name,
            idiom,
            pins: false,
            callers_are_workers: false,
            version,
            loops: None,
            offload: None,
        }
    }

    fn loops<P: Peer>(mut self) -> Self {
        self.loops = Some(prepare_loops::<P>);
        self
    }

    fn offload<O: Offload>(mut self) -> Self {
        self.offload = Some(prepare_offload::<O>);
        self
    }

    fn callers_are_workers(mut self) -> Self {
        self.callers_are_workers = true;
        self
    }

    fn pins(mut self) -> Self {
        self.pins = true;
        self
    }

    /// Its version, or what is missing and how to get it.
    pub(crate) fn version(&self) -> Result<String> {
        (self.version)()
    }

    /// What makes it ready to run `line`; none if it has no way to do so.
    pub(crate) fn prepare(&self, line: &Line) -> Option<Prepare> {
        if line.is_offload() {
            self.offload
        } else {
            self.loops.filter(|_| line.callers == 1 || !self.callers_are_workers)
        }
    }
}

macro_rules! version {
    ($variable:literal) => {
        || Ok(env!($variable).to_owned())
    };
}

/// An entry that exists only with a feature, and is named as missing without it.
macro_rules! with_feature {
    ($feature:literal, $name:literal, $idiom:literal, $version:expr, |$entry:ident| $more:expr) => {{
        #[cfg(feature = $feature)]
        let entry = {
            let $entry = Entry::new($name, $idiom, $version);
            $more
        };
        #[cfg(not(feature = $feature))]
        let entry = Entry::new($name, $idiom, || {
            Err(anyhow::anyhow!(concat!("built without it; add `--features ", $feature, "`")))
        });
        entry
    }};
}

/// Every peer, in the order in which they are listed.
pub(crate) fn entries() -> Vec<Entry> {
    let mut all = vec![
        Entry::new("serial", "the plain loop", || Ok("rustc's own".to_owned()))
            .loops::<Serial>()
            .offload::<Serial>(),
        Entry::new("floor", "hand-written hand-over between spinning threads", || {
            Ok("this program's own".to_owned())
        })
        .loops::<floor::Floor>()
        .offload::<floor::FloorOffload>()
        .pins(),
        Entry::new(
            "rayon",
            "parallel iterator, launched from outside the pool",
            version!("VERSION_RAYON"),
        )
        .loops::<Rayon<false>>()
        .offload::<Rayon<false>>()
        .pins(),
        Entry::new("rayon-inside", "the same, launched by a worker", version!("VERSION_RAYON"))
            .loops::<Rayon<true>>()
            .callers_are_workers()
            .pins(),
    ];
    all.splice(2..2, locsteal());
    all.extend(rust_pools());
    all.extend(foreign_runtimes());
    all.extend(executors());
    all
}

fn locsteal() -> Vec<Entry> {
    use super::locsteal::{
        Adaptive, Answered, Auto, Awaited, Dynamic, Joined, NearJobs, Static, Steal, Waited,
    };
    let entry = |name, idiom| Entry::new(name, idiom, version!("VERSION_LOCSTEAL")).pins();
    vec![
        entry("locsteal", "#[par_for], spawn_near!")
            .loops::<Auto>()
            .offload::<NearJobs<Adaptive>>(),
        entry("locsteal-static", "#[par_for(schedule = static)]").loops::<Static>(),
        entry("locsteal-steal", "#[par_for(schedule = steal)]").loops::<Steal>(),
        entry("locsteal-dynamic", "#[par_for(schedule = dynamic)]").loops::<Dynamic>(),
        entry(
            "locsteal-offload",
            "spawn_near!(<policy = offload> ..), waited for: a worker runs it",
        )
        .offload::<NearJobs<Waited>>(),
        entry("locsteal-channel", "the same, its answer comes through a channel")
            .offload::<NearJobs<Answered>>(),
        entry("locsteal-await", "the same, awaited by a thread that sleeps meanwhile")
            .offload::<NearJobs<Awaited>>(),
        entry("locsteal-join", "the same, joined: taken back if no worker has begun it")
            .offload::<NearJobs<Joined>>(),
    ]
}

fn rust_pools() -> Vec<Entry> {
    vec![
        with_feature!(
            "fork-union",
            "fork_union",
            "one slice a thread",
            version!("VERSION_FORK_UNION"),
            |entry| entry.loops::<super::fork_union::ForkUnion<false>>()
        ),
        with_feature!(
            "fork-union",
            "fork_union-dynamic",
            "single indices from a counter",
            version!("VERSION_FORK_UNION"),
            |entry| entry.loops::<super::fork_union::ForkUnion<true>>()
        ),
        with_feature!(
            "paralight",
            "paralight-fixed",
            "one range a thread",
            version!("VERSION_PARALIGHT"),
            |entry| entry.loops::<super::paralight::Paralight<false>>().pins()
        ),
        with_feature!(
            "paralight",
            "paralight-stealing",
            "ranges, balanced by stealing",
            version!("VERSION_PARALIGHT"),
            |entry| entry.loops::<super::paralight::Paralight<true>>().pins()
        ),
        with_feature!(
            "chili",
            "chili",
            "halving with join, shared at heartbeats",
            version!("VERSION_CHILI"),
            |entry| entry.loops::<super::chili::Chili>()
        ),
        with_feature!(
            "forte",
            "forte",
            "halving with join, shared at heartbeats",
            version!("VERSION_FORTE"),
            |entry| entry.loops::<super::forte::Forte>().offload::<super::forte::Forte>()
        ),
        with_feature!(
            "orx",
            "orx-parallel",
            "parallel iterator with adaptive chunks",
            version!("VERSION_ORX"),
            |entry| entry.loops::<super::orx::Orx>()
        ),
        with_feature!(
            "threadteam",
            "threadteam",
            "for_ranges with a pool's token",
            version!("VERSION_THREADTEAM"),
            |entry| entry.loops::<super::threadteam::ThreadTeam<false>>().pins()
        ),
        with_feature!(
            "threadteam",
            "threadteam-team",
            "for_ranges with a reserved team",
            version!("VERSION_THREADTEAM"),
            |entry| entry.loops::<super::threadteam::ThreadTeam<true>>().pins()
        ),
        with_feature!(
            "bevy",
            "bevy_tasks",
            "a scope with a task a piece",
            version!("VERSION_BEVY"),
            |entry| entry.loops::<super::bevy::Bevy>().offload::<super::bevy::Bevy>().pins()
        ),
    ]
}

fn foreign_runtimes() -> Vec<Entry> {
    vec![
        with_feature!(
            "openmp",
            "libgomp-static",
            "OpenMP, schedule(static)",
            || Ok(super::openmp::load(false)?.version()),
            |entry| entry.loops::<super::openmp::OpenMp<false, { super::openmp::STATIC }>>().pins()
        ),
        with_feature!(
            "openmp",
            "libgomp-dynamic",
            "OpenMP, schedule(dynamic)",
            || Ok(super::openmp::load(false)?.version()),
            |entry| entry
                .loops::<super::openmp::OpenMp<false, { super::openmp::DYNAMIC }>>()
                .pins()
        ),
        with_feature!(
            "openmp",
            "libgomp-guided",
            "OpenMP, schedule(guided)",
            || Ok(super::openmp::load(false)?.version()),
            |entry| entry.loops::<super::openmp::OpenMp<false, { super::openmp::GUIDED }>>().pins()
        ),
        with_feature!(
            "openmp",
            "libomp-static",
            "OpenMP, schedule(static)",
            || Ok(super::openmp::load(true)?.version()),
            |entry| entry.loops::<super::openmp::OpenMp<true, { super::openmp::STATIC }>>().pins()
        ),
        with_feature!(
            "openmp",
            "libomp-dynamic",
            "OpenMP, schedule(dynamic)",
            || Ok(super::openmp::load(true)?.version()),
            |entry| entry.loops::<super::openmp::OpenMp<true, { super::openmp::DYNAMIC }>>().pins()
        ),
        with_feature!(
            "openmp",
            "libomp-guided",
            "OpenMP, schedule(guided)",
            || Ok(super::openmp::load(true)?.version()),
            |entry| entry.loops::<super::openmp::OpenMp<true, { super::openmp::GUIDED }>>().pins()
        ),
        with_feature!(
            "tbb",
            "tbb",
            "oneTBB, auto_partitioner",
            || Ok(super::tbb::load()?.version()),
            |entry| entry
                .loops::<super::tbb::Tbb<{ super::tbb::AUTO }>>()
                .offload::<super::tbb::TbbOffload>()
                .pins()
        ),
        with_feature!(
            "tbb",
            "tbb-static",
            "oneTBB, static_partitioner",
            || Ok(super::tbb::load()?.version()),
            |entry| entry.loops::<super::tbb::Tbb<{ super::tbb::STATIC }>>().pins()
        ),
        with_feature!(
            "tbb",
            "tbb-affinity",
            "oneTBB, affinity_partitioner",
            || Ok(super::tbb::load()?.version()),
            |entry| entry.loops::<super::tbb::Tbb<{ super::tbb::AFFINITY }>>().pins()
        ),
    ]
}

fn executors() -> Vec<Entry> {
    vec![
        Entry::new("thread", "std thread fed by a channel", || Ok("rustc's own".to_owned()))
            .offload::<ChannelThread>(),
        with_feature!("tokio", "tokio", "spawn_blocking", version!("VERSION_TOKIO"), |entry| entry
            .offload::<super::tokio::Tokio>()),
    ]
}
