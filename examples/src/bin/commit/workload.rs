//! An ordered index, and rounds of reads, updates and commits on it.

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use locsteal::{Near, Topology, par_for, spawn_near};
use sha2::{Digest, Sha256};

/// Who brings the index up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// A helper thread, wherever the system puts it.
    Thread,
    /// The helper thread, pinned near the caller for the time of the job.
    Guarded,
    /// A worker of the pool near the caller.
    SpawnNear,
}

impl Way {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Thread => "on a helper thread",
            Self::Guarded => "there, with the guard",
            Self::SpawnNear => "by spawn_near!",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) keys: u32,
    pub(crate) batch: u32,
}

/// Where the newest value of each key is: in which round it was written, and at which place of that round's batch.
type Index = BTreeMap<u64, (u32, u32)>;

/// New values of keys.
type Batch = Vec<(u64, [u8; 32])>;

pub(crate) struct Workload {
    sizes: Sizes,
    topology: Topology,
    index: Index,
    helper: mpsc::Sender<Box<dyn FnOnce() + Send>>,
    random: u64,
    round: u32,
    /// The hash of the last commit and of that before it, and so on.
    chain: [u8; 32],
}

impl Workload {
    pub(crate) fn new(sizes: Sizes) -> Self {
        let (helper, work) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        // Ends when the workload is dropped.
        thread::spawn(move || work.into_iter().for_each(|work| work()));
        Self {
            index: (0..sizes.keys).map(|n| (key(n), (0, n))).collect(),
            topology: Topology::detect(),
            helper,
            random: 1,
            round: 0,
            chain: [0; 32],
            sizes,
        }
    }

    /// Reads, updates and commits; gives back how long that took, and whether the job ran in the caller's domain.
    pub(crate) fn round(&mut self, way: Way) -> (Duration, bool) {
        let start = Instant::now();
        self.round += 1;
        let mut read = 0;
        for _ in 0..self.sizes.batch {
            let key = key(self.random_number() % self.sizes.keys);
            read += u64::from(self.index.get(&key).map_or(0, |(round, _)| *round));
        }
        let batch: Arc<Batch> = Arc::new(
            (0..self.sizes.batch)
                .map(|n| {
                    let key = key(self.random_number() % self.sizes.keys);
                    (key, value(key, self.round, n))
                })
                .collect(),
        );
        let near = self.commit(way, &batch, read);
        (start.elapsed(), near)
    }

    fn commit(&mut self, way: Way, batch: &Arc<Batch>, read: u64) -> bool {
        let (mut index, batch_of_job, round) =
            (std::mem::take(&mut self.index), Arc::clone(batch), self.round);
        let (sender, receiver) = mpsc::channel();
        let apply = move || {
            let began = Near::here();
            for (place, (key, _)) in batch_of_job.iter().enumerate() {
                index.insert(*key, (round, place as u32));
            }
            (index, [began, Near::here()])
        };
        let here = Near::here();
        let (index, places) = match way {
            Way::SpawnNear => {
                let job = spawn_near!(<weight = batch.len(), name = "index"> move || apply());
                self.hash(batch, read);
                job.join()
            }
            Way::Thread | Way::Guarded => {
                let work = move || sender.send(apply()).expect("the caller waits");
                let work: Box<dyn FnOnce() + Send> =
                    if way == Way::Guarded { Box::new(here.wrap(work)) } else { Box::new(work) };
                self.helper.send(work).expect("the helper thread is there");
                self.hash(batch, read);
                receiver.recv().expect("the helper thread answers")
            }
        };
        self.index = index;
        let domain = |near: Near| near.cpu().and_then(|cpu| self.topology.domain_of(cpu));
        places.into_iter().all(|place| domain(place) == domain(here))
    }

    /// Hashes the batch, each entry by itself and then all of the hashes, and links it to the commit before.
    fn hash(&mut self, batch: &Batch, read: u64) {
        let entries = hash_entries(batch);
        let mut hash = Sha256::new();
        hash.update(self.chain);
        hash.update(read.to_le_bytes());
        for entry in &entries {
            hash.update(entry);
        }
        self.chain = hash.finalize().into();
    }

    /// A hash of the index and of all commits.
    pub(crate) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.chain);
        for (key, (round, place)) in &self.index {
            hash.update(key.to_le_bytes());
            hash.update(round.to_le_bytes());
            hash.update(place.to_le_bytes());
        }
        let first = hash.finalize()[..8].try_into().expect("a hash is longer");
        format!("{:016x}", u64::from_be_bytes(first))
    }

    fn random_number(&mut self) -> u32 {
        // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016.
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }
}

#[par_for]
fn hash_entries(batch: &Batch) -> Vec<[u8; 32]> {
    let hashes: Vec<[u8; 32]> = for (key, value) in batch {
        let mut hash = Sha256::new();
        hash.update(key.to_le_bytes());
        hash.update(value);
        <[u8; 32]>::from(hash.finalize())
    };
    hashes
}

/// The n-th key: spread over all numbers, each once.
fn key(n: u32) -> u64 {
    u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn value(key: u64, round: u32, place: u32) -> [u8; 32] {
    let mut value = [0; 32];
    value[..8].copy_from_slice(&key.to_le_bytes());
    value[8..12].copy_from_slice(&round.to_le_bytes());
    value[12..16].copy_from_slice(&place.to_le_bytes());
    value
}
