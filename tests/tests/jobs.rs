//! Jobs as their users see them: every way to submit one, to wait for it, and to mix it with loops.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use locsteal::{JobHandle, Near, Policy, Pool, par_for, scope, spawn_near};

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

#[test]
fn options_say_where_and_how() {
    let pool = pool(2);
    let (here, keys) = (thread::current().id(), [3, 1, 2]);
    let inline = spawn_near!(<policy = inline> move || thread::current().id());
    assert!(inline.is_finished());
    assert_eq!(inline.join(), here);
    let ran_on = spawn_near!(
        <weight = keys.len(), policy = offload, near = Near::here(), pool = &pool, name = "all of them">
        move || (thread::current().name().map(str::to_owned), keys)
    );
    let mut ran_on = ran_on;
    let (name, keys) = loop {
        match ran_on.try_join() {
            Ok(outcome) => break outcome,
            Err(running) => ran_on = running,
        }
        thread::yield_now();
    };
    assert!(name.unwrap().starts_with("locsteal-"));
    assert_eq!(keys, [3, 1, 2]);
    // Types, blocks and comparisons in options; a comma at the end; attributes and types on the closure.
    let job: JobHandle<u8> = spawn_near!(
        <weight = size_of::<Vec<Vec<u8>>>() + { let wide = keys.len() > 2; usize::from(wide) },
         policy = adaptive,>
        #[allow(clippy::unused_unit)]
        move || -> u8 { 7 }
    );
    assert_eq!(job.join(), 7);
}

#[test]
fn names_of_the_user_are_not_the_macros() {
    #![allow(non_upper_case_globals, dead_code, non_camel_case_types)]
    mod core {}
    mod std {}
    mod locsteal {}
    struct Option;
    #[allow(non_snake_case, reason = "shadows the standard name")]
    fn Some() {}
    #[allow(non_snake_case, reason = "shadows the standard name")]
    fn None() {}
    const SITE: u8 = 1;
    let job = 2;
    let site = spawn_near!(<weight = usize::from(SITE)> move || SITE + job).join();
    assert_eq!(site, 3);
}

#[test]
fn calls_sites_are_told_apart_and_generic_functions_are_one() {
    fn generic<T: Send + 'static>(value: T) -> T {
        spawn_near!(<name = "generic"> move || value).join()
    }
    #[track_caller]
    fn helper() -> u8 {
        locsteal::job().name("helper").spawn(|| 1).join()
    }
    let pool = pool(2);
    generic(1_u8);
    generic("two");
    helper();
    helper();
    spawn_near!(<pool = &pool, name = "sized", weight = 5> || ()).join();
    spawn_near!(<pool = &pool, name = "sized", weight = 900> || ()).join();
    let sites = locsteal::callsites();
    let named = |name| sites.iter().filter(move |site| site.name == Some(name)).count();
    // On a machine of one CPU the global pool decides nothing, and lists nothing.
    let listed = usize::from(Pool::global().threads() > 1);
    assert_eq!((named("generic"), named("helper"), named("sized")), (listed, 2 * listed, 2));
    let sized: Vec<_> = sites.iter().filter(|site| site.name == Some("sized")).collect();
    assert_eq!((sized[0].size, sized[1].size), (Some(4), Some(512)));
    assert!(sized[0].place.file.ends_with("jobs.rs") && sized[0].place.line < sized[1].place.line);
    assert!(sites.to_string().contains("job \"sized\" of size 512: "), "{sites}");
}

#[test]
fn loops_are_listed_with_what_auto_has_learned() {
    #[par_for]
    fn add_one(values: &mut [u64], pool: &Pool) {
        #[par_for(name = "learning", pool = pool)]
        for i in 0..values.len() {
            values[i] += 1;
        }
        #[par_for(schedule = static, name = "told", pool = pool)]
        for i in 0..values.len() {
            values[i] += 1;
        }
    }
    let (pool, mut values) = (pool(2), vec![0; 5_000]);
    for _ in 0..100 {
        add_one(&mut values, &pool);
    }
    add_one(&mut values[..100], &pool);
    let sites = locsteal::callsites();
    let learning: Vec<_> = sites.iter().filter(|site| site.name == Some("learning")).collect();
    let [short, long] = learning[..] else { panic!("two classes of lengths: {sites}") };
    assert_eq!((short.size, short.decision), (Some(64), "still trying"));
    assert_eq!(long.size, Some(4096));
    assert!(["serial", "static", "steal"].contains(&long.decision), "{long}");
    assert!(long.estimates.iter().any(|estimate| estimate.what == long.decision), "{long}");
    assert!(long.place.file.ends_with("jobs.rs") && long.place == short.place);
    // There is nothing to choose where the schedule is said.
    assert!(sites.iter().all(|site| site.name != Some("told")), "{sites}");
}

#[test]
fn small_jobs_come_to_run_inline_and_long_ones_do_not() {
    let pool = pool(2);
    let site = |name| {
        let sites = locsteal::callsites();
        sites.iter().find(|site| site.name == Some(name)).cloned().unwrap()
    };
    // A job that is interrupted seems long for a while: where threads do not get to run, it takes some more of them.
    loop {
        for n in 0..1_000_u64 {
            assert_eq!(spawn_near!(<pool = &pool, name = "small"> move || n + 1).join(), n + 1);
        }
        if site("small").decision == "inline" {
            break;
        }
    }
    for _ in 0..20 {
        // Three milliseconds of work.
        spawn_near!(<pool = &pool, name = "long"> || {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(3) {
                std::hint::spin_loop();
            }
        })
        .join();
    }
    let long = site("long");
    assert_eq!(long.decision, "offload", "{long}");
    let inline = long.counts.iter().find(|(what, _)| *what == "inline").unwrap().1;
    assert_eq!(inline, 0, "beyond the budget: {long}");
}

#[test]
fn jobs_in_loops_in_jobs_in_scopes() {
    #[par_for(pool = pool, schedule = dynamic)]
    fn sum(pool: &Pool, total: &AtomicUsize) {
        for i in 0..40_usize {
            let job = spawn_near!(<pool = pool, policy = offload> move || i);
            total.fetch_add(job.join(), SeqCst);
        }
    }
    // N6: also where the only thread is the caller.
    for threads in 1..=4 {
        let pool = &pool(threads);
        for _ in 0..20 {
            let total = &AtomicUsize::new(0);
            scope(|s| {
                for _ in 0..3 {
                    spawn_near!(<scope = s, pool = pool, policy = offload> move || sum(pool, total));
                }
                sum(pool, total);
            });
            assert_eq!(total.load(SeqCst), 4 * 780);
        }
    }
}

#[test]
fn a_loop_does_not_wait_for_jobs_that_it_has_started() {
    // N7
    #[par_for(pool = pool)]
    fn start(
        pool: &Pool,
        waits: &Mutex<Option<mpsc::Receiver<()>>>,
        jobs: &Mutex<Vec<JobHandle<()>>>,
    ) {
        for _ in 0..1_000 {
            if let Some(wait) = waits.lock().unwrap().take() {
                let job = spawn_near!(<pool = pool, policy = offload> move || {
                    let _ = wait.recv();
                });
                jobs.lock().unwrap().push(job);
            }
        }
    }
    let pool = pool(3);
    let (go_on, wait) = mpsc::channel::<()>();
    let (waits, jobs) = (Mutex::new(Some(wait)), Mutex::default());
    start(&pool, &waits, &jobs);
    let job = jobs.into_inner().unwrap().pop().unwrap();
    assert!(!job.is_finished());
    drop(go_on);
    job.join();
}

#[test]
fn jobs_run_while_loops_follow_loops() {
    #[par_for(pool = pool, schedule = steal)]
    fn spin(pool: &Pool, count: &AtomicUsize) {
        for _ in 0..64 {
            count.fetch_add(1, SeqCst);
        }
    }
    let (pool, count) = (pool(2), AtomicUsize::new(0));
    for _ in 0..20 {
        let ran = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ran);
        drop(spawn_near!(<pool = &pool, policy = offload> move || told.store(true, SeqCst)));
        // Nobody joins it: only an idle worker can run it, between two of these loops.
        while !ran.load(SeqCst) {
            spin(&pool, &count);
        }
    }
}

#[test]
fn workers_join_loops_while_jobs_follow_jobs() {
    fn follow(pool: &'static Pool, stop: &'static AtomicBool, ended: mpsc::Sender<()>) {
        drop(spawn_near!(<pool = pool, policy = offload> move || {
            if stop.load(SeqCst) {
                ended.send(()).unwrap();
            } else {
                follow(pool, stop, ended);
            }
        }));
    }
    #[par_for(pool = pool, schedule = dynamic(1))]
    fn meet(pool: &Pool, stop: &AtomicBool) {
        for i in 0..2 {
            // The caller waits in one iteration until a worker has come to the other.
            if i == 1 {
                stop.store(true, SeqCst);
            }
            while !stop.load(SeqCst) {
                thread::yield_now();
            }
        }
    }
    static POOL: std::sync::LazyLock<Pool> = std::sync::LazyLock::new(|| pool(2));
    static STOPS: [AtomicBool; 20] = [const { AtomicBool::new(false) }; 20];
    let pool: &'static Pool = &POOL;
    for stop in &STOPS {
        let (ended, end) = mpsc::channel();
        for _ in 0..4 {
            follow(pool, stop, ended.clone());
        }
        drop(ended);
        meet(pool, stop);
        assert_eq!(end.iter().count(), 4);
    }
    pool.shutdown();
}

/// More than the queue of a seat takes; see `MOST` in `jobs/ring.rs`.
const MORE_THAN_A_SEAT_TAKES: usize = 5000;

#[test]
fn jobs_spawn_more_jobs_than_their_workers_have_room_for() {
    let pool = Arc::new(pool(2));
    // The second time with the queues of workers that have ended.
    for _ in 0..2 {
        let (ran, busy) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(3)));
        // One on each worker, until both have spawned all of theirs.
        let spawners = [(); 2].map(|()| {
            let (workers, ran, busy) = (Arc::clone(&pool), Arc::clone(&ran), Arc::clone(&busy));
            spawn_near!(<pool = &pool, policy = offload> move || {
                busy.wait();
                for _ in 0..MORE_THAN_A_SEAT_TAKES {
                    let ran = Arc::clone(&ran);
                    drop(spawn_near!(<pool = &workers, policy = offload> move || ran.fetch_add(1, SeqCst)));
                }
                busy.wait();
            })
        });
        busy.wait();
        busy.wait();
        // Runs what stands in the queues.
        pool.shutdown();
        for spawner in spawners {
            spawner.join();
        }
        assert_eq!(ran.load(SeqCst), 2 * MORE_THAN_A_SEAT_TAKES);
    }
}

#[test]
fn scopes_on_workers_take_back_more_jobs_than_the_workers_have_room_for() {
    let pool = Arc::new(pool(2));
    let spawners = [(); 2].map(|()| {
        let workers = Arc::clone(&pool);
        spawn_near!(<pool = &pool, policy = offload> move || {
            let ran = AtomicUsize::new(0);
            // The second time behind those that were taken back.
            for _ in 0..2 {
                scope(|s| {
                    for _ in 0..MORE_THAN_A_SEAT_TAKES {
                        drop(spawn_near!(
                            <scope = s, pool = &workers, policy = offload> || ran.fetch_add(1, SeqCst)
                        ));
                    }
                });
            }
            ran.into_inner()
        })
    });
    for mut spawner in spawners {
        spawner.wait();
        assert_eq!(spawner.join(), 2 * MORE_THAN_A_SEAT_TAKES);
    }
}

#[test]
fn blocked_jobs_meet_if_there_are_workers_for_all() {
    // N8: as many as there are workers; the submitter is none of them.
    for threads in 2..=4 {
        let pool = pool(threads);
        let meet = Arc::new(Barrier::new(threads + 1));
        for _ in 0..50 {
            let jobs: Vec<_> = (0..threads)
                .map(|_| {
                    let meet = Arc::clone(&meet);
                    locsteal::job().pool(&pool).policy(Policy::Offload).spawn(move || {
                        meet.wait();
                    })
                })
                .collect();
            meet.wait();
            jobs.into_iter().for_each(JobHandle::join);
        }
        pool.shutdown();
    }
}

#[test]
fn what_jobs_were_counted() {
    let pool = pool(2);
    let before = pool.stats();
    for _ in 0..10 {
        let mut job = spawn_near!(<pool = &pool, policy = offload> || ());
        while let Err(running) = job.try_join() {
            job = running;
            thread::yield_now();
        }
        spawn_near!(<pool = &pool, policy = inline> || ()).join();
    }
    pool.shutdown();
    let counted = pool.stats() - before;
    assert_eq!((counted.jobs.total(), counted.jobs_inline), (10, 10), "{counted}");
}
