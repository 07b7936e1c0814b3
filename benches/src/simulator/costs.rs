//! What everything takes: the numbers that stand for the hardware and the kernel.
//!
//! `docs/simulator.md` says where each comes from, and which were fitted to published measurements.

use super::time::{Time, in_ns, ns};

/// Makes the struct, its defaults, and access by name: times are given in nanoseconds and kept in [`Time`].
macro_rules! costs {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ident = $value:expr,)+) => {
        #[derive(Clone, Debug)]
        pub(crate) struct Costs {
            $($(#[doc = $doc])+ pub(crate) $name: costs!(@type $kind),)+
        }

        impl Default for Costs {
            fn default() -> Self {
                Self { $($name: costs!(@from $kind $value),)+ }
            }
        }

        impl Costs {
            /// Sets one number by its name.
            pub(crate) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
                match name {
                    $(stringify!($name) => self.$name = costs!(@from $kind value),)+
                    _ => {
                        let names = [$(stringify!($name)),+].join(", ");
                        return Err(format!("there is no cost named {name}: there are {names}"));
                    }
                }
                Ok(())
            }

            /// Every number: its name, value, unit and meaning.
            pub(crate) fn list(&self) -> Vec<[String; 4]> {
                vec![$([
                    stringify!($name).into(),
                    costs!(@show $kind self.$name),
                    stringify!($kind).replace("time", "ns"),
                    [$($doc.trim()),+].join(" "),
                ]),+]
            }
        }
    };
    (@type time) => { Time };
    (@type $other:ident) => { f64 };
    (@from time $value:expr) => { ns($value) };
    (@from $other:ident $value:expr) => { $value };
    (@show time $value:expr) => { in_ns($value).to_string() };
    (@show $other:ident $value:expr) => { $value.to_string() };
}

costs! {
    /// A cache line that is in the own cache.
    hit: time = 1.5,
    /// A cache line from another core of the same last-level cache.
    line_llc: time = 45.0,
    /// A cache line from another cache of the same node.
    line_node: time = 100.0,
    /// A cache line from a node at distance 20; others in proportion.
    line_remote: time = 140.0,
    /// How many looks at other seats are under way at once: the next does not wait for what the last one shows.
    overlap: lines = 8.0,
    /// How long a read keeps a line from serving the next one who wants it.
    line_busy: time = 5.0,

    /// Asking for the next step and taking a chunk of the own block.
    step: time = 15.0,
    /// What a caller does before its loop is open.
    launch: time = 60.0,
    /// What a worker does between entering and its first chunk.
    join: time = 40.0,
    /// How often a spinning worker looks at the lane.
    watch: time = 30.0,
    /// What it takes to call a sleeper's wake-up.
    wake_call: time = 5_000.0,
    /// From there until the sleeper runs.
    wake_latency: time = 30_000.0,
    /// How many sleepers a caller wakes.
    caller_wakes: workers = 1.0,
    /// How many sleepers a worker wakes that has come into the loop.
    worker_wakes: workers = 4.0,
    /// How long a caller asks again and again before it sleeps.
    caller_spin: time = 50_000.0,
    /// A pause between two questions; they double six times.
    pause: time = 10.0,
    /// Letting other threads run where there are none.
    yielding: time = 300.0,

    /// What a byte of data in another core's private cache takes beyond what it takes at home, with as many lines
    /// under way as a core has.
    byte_llc: nanoseconds = 0.1,
    /// The same in another last-level cache.
    byte_node: nanoseconds = 0.2,
    /// The same in another node at distance 20; others in proportion.
    byte_remote: nanoseconds = 0.5,
    /// How much longer the data of an iteration takes when it lies in the memory of a node at distance 20.
    memory_remote: share = 2.0,
    /// What a core's private cache holds.
    private_bytes: bytes = 1e6,
    /// A core's share of the last-level cache.
    llc_bytes: bytes = 1.5e6,
    /// What a core gets out of its private cache.
    private_rate: bytes_per_ns = 60.0,
    /// What a core gets out of the last-level cache.
    llc_rate: bytes_per_ns = 20.0,
    /// What the cores of a node get out of its memory together.
    node_rate: bytes_per_ns = 200.0,

    /// How uneven cores are in one run of a loop: the deviation of the logarithm of their speeds.
    uneven: share = 0.06,
    /// The same where they share the bandwidth of a memory.
    uneven_memory: share = 0.3,
}

/// The distance that costs across nodes are given for.
pub(crate) const COSTS_AT_DISTANCE: f64 = 20.0;
