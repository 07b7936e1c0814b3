//! Jobs run in the domain of their submitter: always while the pool is idle, mostly while all submit at once; and never
//! do threads that are pinned for a job fill a domain.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use locsteal::{JobHandle, Near, Placement, Pool, spawn_near};

use super::Setting;
use super::kernel::{Machine, Numbers, current_cpu, list, own_mask, set_mask};
use super::watched::Watched;
use crate::process;

/// Jobs of each submitter, and how many of them it has under way at once: one, and more than a domain of two CPUs can take.
const JOBS: usize = 100;
const AT_ONCE: [usize; 2] = [1, 3];

/// What a job tells of itself.
struct Told {
    /// Where it began and where it ended.
    cpus: [usize; 2],
    mask: Numbers,
}

/// Some microseconds of work, in which threads may move.
fn work() -> Told {
    let (began, mask) = (current_cpu(), own_mask());
    let mut x = 1_u64;
    for round in 0..4_000_u64 {
        x = black_box(x.wrapping_mul(31).wrapping_add(round));
        if round.is_multiple_of(1_000) {
            thread::yield_now();
        }
    }
    Told { cpus: [began, current_cpu()], mask }
}

impl Told {
    fn is_near(&self, place: &Numbers) -> bool {
        self.cpus.iter().all(|cpu| place.contains(cpu))
    }
}

fn pool(machine: &Machine, placement: Placement) -> Watched {
    Watched::new(Pool::builder().threads(machine.allowed.len()).placement(placement))
}

/// Runs `submit` on a thread in this place.
fn in_place<T: Send>(place: &Numbers, submit: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            set_mask(0, place).expect("a thread may narrow its mask");
            submit()
        });
        thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    })
}

/// One job after the other, each on a pool whose workers all sleep: a worker of the domain is woken for it, and where
/// workers have no homes, the one that is woken is pinned. So each job runs near, whatever the scheduler does.
pub(super) fn check_idle(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let domains = machine.domains();
    if machine.allowed.len() == 1 || domains.len() < 2 {
        return 0;
    }
    let mut cases = 0;
    for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
        let pool = pool(machine, placement);
        let before = masks(&pool, machine);
        // Nobody is pinned to a single CPU.
        let can_be_pinned = |place: &Numbers| placement != Placement::Free || place.len() > 1;
        for place in domains.iter().filter(|place| can_be_pinned(place)) {
            for _ in 0..10 {
                until_asleep(&pool);
                let told = in_place(place, || {
                    wait(spawn_near!(<pool = &pool, policy = offload> || work()))
                });
                assert!(
                    told.is_near(place),
                    "{placement}: from CPUs {}, ran on {:?} with mask {}",
                    list(place),
                    told.cpus,
                    list(&told.mask)
                );
                cases += 1;
            }
        }
        until_asleep(&pool);
        assert_eq!(masks(&pool, machine), before, "masks are as before");
    }
    cases
}

/// Which CPUs that are there each worker may use. The kernel tells a thread nothing of those that are not, so none of these is
/// in a mask that it puts back.
fn masks(pool: &Watched, machine: &Machine) -> BTreeMap<usize, Numbers> {
    let there = |mask: Numbers| mask.intersection(&machine.allowed).copied().collect();
    pool.masks().into_iter().map(|(seat, mask)| (seat, there(mask))).collect()
}

fn wait<T: Send>(mut job: JobHandle<T>) -> T {
    job.wait();
    job.join()
}

/// Returns when no worker is awake.
fn until_asleep(pool: &Watched) {
    let workers: Vec<u32> = pool.workers().values().map(|worker| worker.thread).collect();
    process::until_asleep(&workers);
}

/// How many jobs ran near, of how many.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    near: usize,
    all: usize,
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} %", 100.0 * self.near as f64 / self.all.max(1) as f64)
    }
}

/// So often is it tried to show that jobs come nearer: where threads of others want the processors, chance has its share.
const TRIES: usize = 20;

/// Submitters in all domains at once, on a pool of locsteal's and on plain threads, with and without the guard.
pub(super) fn check_load(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let domains = machine.domains();
    if machine.allowed.len() == 1 || domains.len() < 2 {
        return 0;
    }
    let shown = |&at_once: &usize| (0..TRIES).find_map(|_| load(machine, &domains, at_once));
    let cases = AT_ONCE.iter().map(shown);
    cases.map(|cases| cases.expect("spawn_near! brings jobs nearer than plain threads do")).sum()
}

/// How many jobs were looked at; `None` if they came no nearer than on plain threads.
fn load(machine: &Machine, domains: &[Numbers], at_once: usize) -> Option<usize> {
    let mut line = format!("jobs near, {} submitters with {at_once} at once:", domains.len());
    let mut shares = Vec::new();
    for placement in [Placement::Llc, Placement::Free] {
        let pool = pool(machine, placement);
        let before = masks(&pool, machine);
        // Workers that are placed have masks that are as narrow, without being pinned.
        let watch = (placement == Placement::Free).then(|| Watch::new(domains, &machine.allowed));
        let share = under_load(domains, at_once, |_| {
            let watch = watch.clone();
            wait_later(spawn_near!(<pool = &pool, policy = offload> move || match watch {
                Some(watch) => watch.run(work),
                None => work(),
            }))
        });
        line += &match placement {
            Placement::Free => {
                format!(" placed free {share} ({} pinned),", pool.stats().jobs_pinned)
            }
            _ => format!(" spawn_near! placed {placement} {share},"),
        };
        until_asleep(&pool);
        assert_eq!(masks(&pool, machine), before, "masks are as before");
        shares.push(share);
    }
    for guarded in [false, true] {
        let watch = Watch::new(domains, &machine.allowed);
        let threads = Threads::start(machine.allowed.len());
        let share = under_load(domains, at_once, |near| {
            let (watch, (told, answer)) = (Arc::clone(&watch), mpsc::channel());
            let work = move || told.send(watch.run(work)).expect("the submitter waits");
            threads.submit(if guarded { Box::new(near.wrap(work)) } else { Box::new(work) });
            Box::new(move || answer.recv().expect("the job answers")) as Box<dyn FnOnce() -> Told>
        });
        line += &if guarded {
            format!(" with the guard {share}")
        } else {
            format!(" plain threads {share},")
        };
        shares.push(share);
    }
    println!("{line}");
    let [placed, pinned, plain, _] = &shares[..] else { unreachable!("four ways were tried") };
    // Nobody is pinned to a single CPU.
    let pins = domains.iter().all(|place| place.len() > 1);
    let nearer = placed.near > plain.near && (pinned.near > plain.near || !pins);
    nearer.then(|| shares.iter().map(|share| share.all).sum())
}

fn wait_later<'a>(job: JobHandle<Told>) -> Box<dyn FnOnce() -> Told + 'a> {
    Box::new(move || wait(job))
}

/// Submits from all domains, some jobs at once from each; `submit` gives back how to wait for a job.
fn under_load<'a>(
    domains: &[Numbers],
    at_once: usize,
    submit: impl Fn(Near) -> Box<dyn FnOnce() -> Told + 'a> + Sync,
) -> Share {
    let shares: Vec<usize> = thread::scope(|scope| {
        let submitters: Vec<_> = domains
            .iter()
            .map(|place| {
                let submit = &submit;
                scope.spawn(move || {
                    set_mask(0, place).expect("a thread may narrow its mask");
                    let mut near = 0;
                    let mut under_way = std::collections::VecDeque::new();
                    for _ in 0..JOBS {
                        under_way.push_back(submit(Near::here()));
                        if under_way.len() == at_once {
                            let first = under_way.pop_front().expect("there are some");
                            near += usize::from(first().is_near(place));
                        }
                    }
                    near + under_way
                        .into_iter()
                        .filter_map(|job| job().is_near(place).then_some(()))
                        .count()
                })
            })
            .collect();
        submitters.into_iter().map(|thread| thread.join().expect("a submitter")).collect()
    });
    Share { near: shares.iter().sum(), all: JOBS * domains.len() }
}

/// Looks at threads while they are pinned.
struct Watch {
    /// Each domain, and how many threads are pinned to it now.
    domains: Vec<(Numbers, AtomicUsize)>,
    allowed: Numbers,
}

impl Watch {
    fn new(domains: &[Numbers], allowed: &Numbers) -> Arc<Self> {
        let domains = domains.iter().map(|domain| (domain.clone(), AtomicUsize::new(0))).collect();
        Arc::new(Self { domains, allowed: allowed.clone() })
    }

    /// Runs a job; if its thread is pinned, that is within a domain, and leaves a CPU of it to others.
    fn run(&self, work: impl FnOnce() -> Told) -> Told {
        let mask = own_mask();
        let pinned =
            self.domains.iter().find(|(domain, _)| mask == *domain && mask != self.allowed);
        let Some((domain, count)) = pinned else {
            return work();
        };
        let others = count.fetch_add(1, SeqCst);
        let told = work();
        count.fetch_sub(1, SeqCst);
        assert!(
            others + 1 < domain.len(),
            "{} threads are pinned to CPUs {}",
            others + 1,
            list(domain)
        );
        assert!(told.is_near(domain), "pinned to {}, ran on {:?}", list(domain), told.cpus);
        told
    }
}

/// Plain threads that share a channel, as a program would have without locsteal.
struct Threads {
    jobs: mpsc::Sender<Box<dyn FnOnce() + Send>>,
}

impl Threads {
    /// They end when this is dropped.
    fn start(count: usize) -> Self {
        let (jobs, queue) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                loop {
                    let job = queue.lock().expect("no job runs under the lock").recv();
                    let Ok(job) = job else { return };
                    job();
                }
            });
        }
        Self { jobs }
    }

    fn submit(&self, job: Box<dyn FnOnce() + Send>) {
        self.jobs.send(job).expect("the threads are there");
    }
}
