//! A thread that runs out of work takes some from near threads first.
//!
//! All participants but one are held in their first chunks, so whatever that one does is decided by the rules alone, and
//! not by who is faster.

use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use locsteal::{ByTier, Layout, Locality, Placement, Pool, PoolBuilder, Schedule, Stats};

use super::Setting;
use super::kernel::{Machine, Nearness, first, set_mask};
use super::stage::{Chunk, Stage, home};
use super::watched::Watched;

/// A pool and where its seats are.
pub struct Seated {
    pool: Pool,
    /// By thief and victim.
    nearness: Vec<Vec<Nearness>>,
}

impl Seated {
    /// Makes a pool; `nearness` is asked about two of its seats.
    ///
    /// # Panics
    ///
    /// If there is no such pool.
    pub fn new(builder: PoolBuilder, nearness: impl Fn(usize, usize) -> Nearness) -> Self {
        // Where CPUs are emulated, spinning takes time from those who have something to do.
        let pool = builder.spin(Duration::ZERO).build().expect("a pool");
        let seats = 0..pool.threads();
        let row = |from| seats.clone().map(|to| nearness(from, to)).collect();
        Self { nearness: seats.clone().map(row).collect(), pool }
    }

    /// A pool of this machine, each of whose workers is on one of these CPUs alone.
    pub(super) fn on_cpus(machine: &Machine, pool: Pool, cpus: &[usize]) -> Self {
        let row = |&from| cpus.iter().map(|&to| machine.nearness(from, to)).collect();
        Self { nearness: cpus.iter().map(row).collect(), pool }
    }

    /// A pool on this machine, with seats where the kernel says that the workers are.
    fn here(machine: &Machine, builder: PoolBuilder) -> Self {
        let probe = Watched::new(builder.clone());
        let cpus: Vec<usize> = probe.masks().values().map(first).collect();
        drop(probe);
        Self::new(builder, |from, to| match (cpus.get(from), cpus.get(to)) {
            (Some(&from), Some(&to)) => machine.nearness(from, to),
            _ => Nearness::Node,
        })
    }

    /// The other seats in the order in which a thief is to visit them.
    fn victims(&self, thief: usize, locality: Locality) -> Vec<usize> {
        let seats = self.pool.threads();
        let onward = |step| (thief + step) % seats;
        if locality == Locality::Flat {
            return (1..seats).map(onward).collect();
        }
        let nearness = |&seat: &usize| match self.nearness[thief][seat] {
            Nearness::Cache if locality == Locality::Node => Nearness::Node,
            other => other,
        };
        let mut victims: Vec<usize> = (0..seats).filter(|seat| *seat != thief).collect();
        // Of nodes at the same distance the next one first. A node goes by its first seat.
        let node = |seat: usize| {
            let same = |other: &usize| !matches!(self.nearness[seat][*other], Nearness::Remote(_));
            (0..seats).find(same).unwrap_or(seat)
        };
        let onward = |seat: &usize| (node(*seat) < node(thief), node(*seat));
        victims.sort_by_key(|seat| (nearness(seat), onward(seat), *seat));
        // Near ones from the thief onward; far ones turned by its rank, so that a node's thieves spread over them.
        let in_node = |seat: &usize| !matches!(self.nearness[thief][*seat], Nearness::Remote(_));
        let rank = (0..thief).filter(in_node).count();
        for tier in victims.chunk_by_mut(|a, b| nearness(a) == nearness(b)) {
            let turn = if in_node(&tier[0]) {
                tier.iter().filter(|seat| **seat < thief).count()
            } else {
                rank
            };
            tier.rotate_left(turn % tier.len());
        }
        victims
    }

    /// Iterations by how far they moved: `count` of them from each victim.
    fn moved(&self, thief: usize, count: impl Fn(usize) -> usize) -> ByTier {
        let mut moved = ByTier::default();
        for victim in (0..self.pool.threads()).filter(|&victim| victim != thief) {
            *match self.nearness[thief][victim] {
                Nearness::Cache => &mut moved.llc,
                Nearness::Node => &mut moved.node,
                Nearness::Remote(_) => &mut moved.remote,
            } += count(victim) as u64;
        }
        moved
    }

    fn counted(&self, run: impl FnOnce()) -> Stats {
        let before = self.pool.stats();
        run();
        self.pool.stats() - before
    }
}

/// Who is let go takes all that is left of everybody's block: in the victim order, and so near blocks before far ones.
pub(super) fn check_order(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let cpus = machine.allowed.len();
    let mut cases = 0;
    for placement in [Placement::Llc, Placement::Cpu] {
        let seated = Seated::here(machine, on(machine, cpus, placement, Layout::Compact));
        // On large machines placement by CPU, whose order is the same, is looked at from fewer seats.
        let step = if placement == Placement::Llc || cpus <= 8 { 1 } else { cpus / 4 };
        for thief in (0..cpus).step_by(step) {
            empties_near_blocks_first(&seated, thief, Locality::Llc);
            cases += 1;
        }
        for locality in [Locality::Node, Locality::Flat] {
            for thief in [0, cpus / 2 + 1, cpus - 1] {
                empties_near_blocks_first(&seated, thief.min(cpus - 1), locality);
                cases += 1;
            }
        }
    }
    for layout in [Layout::Compact, Layout::Spread] {
        for width in (2..cpus).step_by(cpus.div_ceil(8)) {
            let seated = Seated::here(machine, on(machine, width, Placement::Llc, layout));
            // The caller stays where the pool has a seat: nearness is that of the one who looks.
            thread::scope(|scope| {
                scope.spawn(|| {
                    let here = machine.place_of(last(machine));
                    set_mask(0, &here).expect("a thread may narrow its mask");
                    for thief in [0, width - 1] {
                        empties_near_blocks_first(&seated, thief, Locality::Llc);
                    }
                });
            });
            cases += 2;
        }
    }
    cases
}

fn on(machine: &Machine, width: usize, placement: Placement, layout: Layout) -> PoolBuilder {
    Pool::builder().threads(width).placement(placement).layout(layout).near(last(machine))
}

fn last(machine: &Machine) -> usize {
    *machine.allowed.last().expect("a process may use some CPU")
}

/// One loop on which a seat is let go, and all others are held.
///
/// # Panics
///
/// If a block is taken out of turn, in other pieces than the rules say, or counted wrongly.
pub fn empties_near_blocks_first(seated: &Seated, thief: usize, locality: Locality) {
    let (block, grain) = (64, 4);
    let stage = Stage { pool: &seated.pool, block, grain, locality, linger: Duration::ZERO };
    let mut record = None;
    let stats = seated.counted(|| {
        record = Some(stage.run(|director| {
            director.go(thief, |_| false);
            director.until_all_are_taken();
        }));
    });
    let record = record.expect("the loop has run");
    let what = format!("{locality:?}, seat {thief} of {}", seated.pool.threads());

    let mut visited: Vec<usize> = record.of(thief).map(|chunk| stage.home(chunk.start)).collect();
    visited.dedup();
    let victims = seated.victims(thief, locality);
    assert_eq!(visited[0], thief, "{what}");
    assert_eq!(visited[1..], victims, "{what}");

    // All that the others keep is the chunk that they were held in.
    let held = |seat: usize| record.of(seat).map(Chunk::len).sum::<usize>();
    let left = |seat: usize| block - held(seat);
    for &victim in &victims {
        assert_eq!(record.of(victim).count(), 1, "{what}: seat {victim} was held");
        // The first steal takes a quarter from the back.
        let stolen = record.of(thief).find(|chunk| stage.home(chunk.start) == victim);
        let quarter = (left(victim) / 4).max(grain);
        let end = stage.end(victim);
        assert_eq!(stolen.expect("each was visited").start, end - quarter, "{what}: {victim}");
    }
    assert_eq!(stats.moved, seated.moved(thief, left), "{what}");
    // A pool of one counts no iterations.
    let counted = if victims.is_empty() { 0 } else { stage.len() };
    assert_eq!(stats.iterations, counted as u64, "{what}");
    assert_eq!(stats.rescues, 0, "{what}");
    let (steals, moved) = (stats.steals, stats.moved);
    for (steals, moved) in
        [(steals.llc, moved.llc), (steals.node, moved.node), (steals.remote, moved.remote)]
    {
        assert!(if moved == 0 { steals == 0 } else { (1..=moved).contains(&steals) }, "{what}");
    }
    assert_eq!(steals.unknown, 0, "{what}");
}

/// What a thread has brought from afar is taken by its neighbours before they go there themselves, and when it has run out
/// of it, it looks at its neighbours before it goes there again.
pub(super) fn check_crossing(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let cpus = machine.allowed.len();
    let seated = Seated::here(machine, on(machine, cpus, Placement::Llc, Layout::Compact));
    (0..cpus).filter(|&thief| stays_near_after_crossing(&seated, thief)).count()
}

/// One loop on which a seat goes far, and then a neighbour; `false` if the machine has no two such seats.
///
/// # Panics
///
/// If a participant goes far while there is work near.
pub fn stays_near_after_crossing(seated: &Seated, thief: usize) -> bool {
    let nearness = &seated.nearness[thief];
    let farthest = *nearness.iter().max().expect("there is a seat");
    let others = |near: Nearness| {
        (0..nearness.len()).filter(move |&seat| seat != thief && nearness[seat] == near)
    };
    // The smallest circle with a neighbour in it and someone outside.
    let Some((near, neighbour)) = [Nearness::Cache, Nearness::Node]
        .into_iter()
        .filter(|near| *near < farthest)
        .find_map(|near| Some((near, others(near).next()?)))
    else {
        return false;
    };
    let inside: Vec<bool> = nearness.iter().map(|other| *other <= near).collect();

    let (block, grain) = (512, 8);
    let linger = Duration::from_micros(10);
    let stage = Stage { pool: &seated.pool, block, grain, locality: Locality::Llc, linger };
    stage.run(|director| {
        let width = seated.pool.threads();
        let outside = move |chunk: &Chunk| !inside[home(chunk.start / block, width)];
        let brought = director.go_to(thief, outside);
        let end = stage.end(stage.home(brought.start));
        // What the thief stole from that block reaches from here to the block's end, and the chunk is the first of it.
        let passed_on = director.go_to(neighbour, |_| true);
        let stolen = brought.end..end;
        assert!(
            stolen.contains(&passed_on.start),
            "seat {neighbour} took {passed_on:?}, not from seat {thief} beside it, which has {stolen:?}"
        );
        // The thief uses up what it still has, then steals again.
        let own = brought.start..passed_on.start;
        let next = director.go_to(thief, move |chunk| !own.contains(&chunk.start));
        let beside = passed_on.end..end;
        assert!(
            beside.contains(&next.start),
            "seat {thief} took {next:?}, not from seat {neighbour} beside it, which has {beside:?}"
        );
    });
    true
}

/// A caller whose workers are all busy with something else runs its whole loop, near blocks first.
pub(super) fn check_rescue(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let cpus = machine.allowed.len();
    let seated = Seated::here(machine, on(machine, cpus, Placement::Llc, Layout::Compact));
    let mut cases = 0;
    for place in machine.places() {
        // The caller sits in its own place, so each place is the caller's in turn.
        thread::scope(|scope| {
            scope.spawn(|| {
                set_mask(0, &place).expect("a thread may narrow its mask");
                for block in [16, 1024] {
                    rescues_near_blocks_first(&seated, block);
                }
            });
        });
        cases += 2;
    }
    cases
}

/// One loop of which the calling thread runs everything. From blocks of 1024 iterations on they are protected for a while.
///
/// # Panics
///
/// If a block is taken out of turn or counted wrongly.
pub fn rescues_near_blocks_first(seated: &Seated, block: usize) {
    let width = seated.pool.threads();
    let caller = thread::current().id();
    let barrier = Barrier::new(width);
    let homes = Mutex::new(Vec::new());
    let stats = Mutex::new(Stats::default());
    // Each worker is held in this loop but the one whose seat the caller has, and that seat is taken in the inner loop
    // too.
    locsteal::range(0..width).pool(&seated.pool).schedule(Schedule::Static).for_each(|_| {
        barrier.wait();
        if thread::current().id() == caller {
            let counted = seated.counted(|| {
                locsteal::range(0..width * block)
                    .pool(&seated.pool)
                    .schedule(Schedule::Steal)
                    .for_each_chunk(|chunk: Chunk| {
                        let mut homes = homes.lock().unwrap_or_else(PoisonError::into_inner);
                        let home = home(chunk.start / block, width);
                        homes.push((thread::current().id(), home, chunk.len()));
                    });
            });
            *stats.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        }
        barrier.wait();
    });

    let homes = homes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let stats = stats.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(homes.iter().all(|(thread, ..)| *thread == caller), "the workers are held");
    let mut visited: Vec<usize> = homes.iter().map(|(_, home, _)| *home).collect();
    visited.dedup();
    let seat = visited[0];
    assert_eq!(visited[1..], seated.victims(seat, Locality::Llc), "caller at seat {seat}");
    let iterations: usize = homes.iter().map(|(.., len)| len).sum();
    assert_eq!(iterations, width * block);
    if width > 1 {
        assert_eq!(stats.moved, seated.moved(seat, |_| block), "caller at seat {seat}");
        assert_eq!((stats.rescues, stats.steals.total()), (width as u64 - 1, 0));
        let protected = block >= 1024;
        assert_eq!(stats.protected_skips > 0, protected, "blocks of {block} iterations");
    }
}
