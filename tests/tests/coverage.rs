//! Every iteration once: schedules, localities, widths and lengths by table, on real and on made-up machines.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use locsteal::{Locality, Placement, Pool, Schedule, Topology};

const SCHEDULES: [Schedule; 11] = [
    Schedule::Auto,
    Schedule::Static,
    Schedule::StaticChunk(0),
    Schedule::StaticChunk(1),
    Schedule::StaticChunk(5),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(0),
    Schedule::DynamicChunk(1),
    Schedule::DynamicChunk(5),
    Schedule::Serial,
];

const LOCALITIES: [Locality; 3] = [Locality::Llc, Locality::Node, Locality::Flat];

fn each_once(pool: &Pool, schedule: Schedule, locality: Locality, grain: usize, len: usize) {
    let counts: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
    locsteal::range(0..len).pool(pool).schedule(schedule).locality(locality).grain(grain).for_each(
        |i| {
            counts[i].fetch_add(1, Relaxed);
        },
    );
    for (i, count) in counts.iter().enumerate() {
        let count = count.load(Relaxed);
        assert_eq!(count, 1, "iteration {i} of {len}: {schedule:?}, {locality:?}, grain {grain}");
    }
}

#[test]
fn every_schedule_locality_width_and_length() {
    for threads in 1..=8 {
        let pool = Pool::builder().threads(threads).build().unwrap();
        assert_eq!(pool.threads(), threads);
        for schedule in SCHEDULES {
            for locality in LOCALITIES {
                let around_the_edges =
                    (0..=3 * threads + 1).chain([63, 64, 65, 127, 128, 129, 1000]);
                for len in around_the_edges {
                    each_once(&pool, schedule, locality, 0, len);
                }
                for grain in [1, 2, 7, 100, usize::MAX] {
                    each_once(&pool, schedule, locality, grain, 130);
                }
            }
        }
    }
}

#[test]
fn on_made_up_machines() {
    let machines = [(1, 2, 2), (2, 1, 2), (2, 2, 2), (4, 2, 1), (1, 1, 5), (3, 1, 1)];
    for (nodes, domains, cpus) in machines {
        let machine = Topology::regular(nodes, domains, cpus);
        for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
            for threads in [1, 2, machine.cpus().len(), machine.cpus().len() + 3] {
                let pool = Pool::builder()
                    .threads(threads)
                    .placement(placement)
                    .topology(machine.clone())
                    .build()
                    .unwrap();
                for schedule in SCHEDULES {
                    for locality in LOCALITIES {
                        for len in [1, 2, threads, 100, 1000] {
                            each_once(&pool, schedule, locality, 0, len);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn at_most_the_threads_that_were_asked_for() {
    use std::collections::HashSet;
    use std::sync::Mutex;
    let pool = Pool::builder().threads(6).build().unwrap();
    for threads in 1..=8 {
        let seen = Mutex::new(HashSet::new());
        locsteal::range(0..10_000).pool(&pool).threads(threads).for_each(|_| {
            seen.lock().unwrap().insert(std::thread::current().id());
        });
        assert!(seen.into_inner().unwrap().len() <= threads);
    }
}

/// The same seat gets the same block in every loop of the same length, whoever the caller is.
#[test]
fn static_blocks_stay_where_they_were() {
    use std::sync::Mutex;
    let pool = Pool::builder().threads(4).build().unwrap();
    // A block's place is what its first iteration finds beside it: which iterations follow on the same thread.
    let edges = || {
        let chunks = Mutex::new(Vec::new());
        locsteal::range(0..1001).pool(&pool).schedule(Schedule::Static).for_each_chunk(|chunk| {
            chunks.lock().unwrap().push((chunk.start, chunk.end));
        });
        let mut chunks = chunks.into_inner().unwrap();
        chunks.sort_unstable();
        chunks
    };
    let here = edges();
    assert_eq!(here, [(0, 251), (251, 501), (501, 751), (751, 1001)]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(edges(), here));
        }
    });
}
