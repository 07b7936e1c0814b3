//! A pool's life: its threads' names and masks, going idle, ending, and being there again.
#![cfg(target_os = "linux")]

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use locsteal::{BuildError, Placement, Policy, Pool, Schedule, Topology};
use locsteal_tests::process::{
    affinity_of, own_affinity, run_again, run_time, threads_named, until_asleep,
};

fn sum_on(pool: &Pool, n: u64) -> u64 {
    let sum = AtomicU64::new(0);
    locsteal::range(0..n).pool(pool).for_each(|i| {
        sum.fetch_add(i, SeqCst);
    });
    sum.into_inner()
}

#[test]
fn threads_have_names() {
    let pool = Pool::builder().threads(3).name("namely").build().unwrap();
    assert_eq!(threads_named("namely-").len(), 3);
    drop(pool);
    assert_eq!(threads_named("namely-"), []);
}

#[test]
fn a_pool_of_one_needs_no_thread() {
    let pool = Pool::builder().threads(1).name("lonely").build().unwrap();
    assert_eq!(pool.threads(), 1);
    assert_eq!(sum_on(&pool, 100), 4950);
    assert_eq!(threads_named("lonely"), []);
}

/// Once all workers sleep, none of them runs any more, however much else happens in the process.
#[test]
fn an_idle_pool_uses_no_cpu_time() {
    let pool = Pool::builder().threads(4).name("idle").build().unwrap();
    let other = Pool::builder().threads(2).name("busy").build().unwrap();
    assert_eq!(sum_on(&pool, 10_000), 49_995_000);
    let workers = threads_named("idle-");
    assert_eq!(workers.len(), 4);
    let ran = || -> Vec<u64> { workers.iter().map(|&worker| run_time(worker).0).collect() };
    // A worker that is said to sleep may have its last step before it. Each has one such step, so a few rounds may be
    // disturbed, and no more.
    let is_idle = || {
        until_asleep(&workers);
        let before = ran();
        for _ in 0..1000 {
            sum_on(&other, 1000);
        }
        ran() == before
    };
    assert!((0..20).any(|_| is_idle()), "workers run although there is nothing to do: {:?}", ran());
}

#[test]
fn shutdown_returns_when_the_threads_are_gone() {
    struct Farewell(Arc<AtomicUsize>);
    impl Drop for Farewell {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    thread_local! {
        static FAREWELL: RefCell<Option<Farewell>> = const { RefCell::new(None) };
    }
    let pool = Pool::builder().threads(3).name("ending").build().unwrap();
    for round in 1..=5 {
        let farewells = Arc::new(AtomicUsize::new(0));
        let barrier = Barrier::new(3);
        let caller = thread::current().id();
        locsteal::range(0..3).pool(&pool).schedule(Schedule::DynamicChunk(1)).for_each(|_| {
            barrier.wait();
            if thread::current().id() != caller {
                FAREWELL.with_borrow_mut(|slot| *slot = Some(Farewell(Arc::clone(&farewells))));
            }
        });
        pool.shutdown();
        assert_eq!(
            farewells.load(SeqCst),
            2,
            "both workers' destructors have run in round {round}"
        );
        assert_eq!(threads_named("ending-"), []);
        pool.shutdown();
        // The next loop starts afresh.
        assert_eq!(sum_on(&pool, 100), 4950);
        assert_eq!(threads_named("ending-").len(), 3);
    }
}

#[test]
fn the_global_pool_can_be_shut_down_and_used_again() {
    if std::env::var_os("LOCSTEAL_TEST_INNER").is_none() {
        let name = "the_global_pool_can_be_shut_down_and_used_again";
        let output = run_again(name, &[("LOCSTEAL_TEST_INNER", "1"), ("LOCSTEAL_THREADS", "3")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    // Never used: nothing to do, and no thread is started for it.
    locsteal::shutdown();
    assert_eq!(threads_named("locsteal-"), []);
    for _ in 0..3 {
        assert_eq!(sum_on(Pool::global(), 1000), 499_500);
        assert_eq!(Pool::global().threads(), 3);
        assert_eq!(threads_named("locsteal-").len(), 3);
        locsteal::shutdown();
        assert_eq!(threads_named("locsteal-"), []);
    }
}

/// A process ends although its pool is idle.
#[test]
fn an_idle_pool_does_not_keep_the_process() {
    if std::env::var_os("LOCSTEAL_TEST_INNER").is_none() {
        let name = "an_idle_pool_does_not_keep_the_process";
        let output = run_again(name, &[("LOCSTEAL_TEST_INNER", "1"), ("LOCSTEAL_THREADS", "4")]);
        assert!(output.status.success());
        return;
    }
    assert_eq!(sum_on(Pool::global(), 1000), 499_500);
}

#[test]
fn the_callers_mask_is_never_touched() {
    let before = own_affinity();
    for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
        let pool = Pool::builder().threads(2).placement(placement).build().unwrap();
        assert_eq!(own_affinity(), before);
        assert_eq!(sum_on(&pool, 1000), 499_500);
        assert_eq!(own_affinity(), before);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            locsteal::range(0..100)
                .pool(&pool)
                .for_each(|_| std::panic::resume_unwind(Box::new(())));
        }));
        assert!(caught.is_err());
        assert_eq!(own_affinity(), before);
        pool.shutdown();
        assert_eq!(own_affinity(), before);
    }
    // Nor that of threads that are made later.
    assert_eq!(thread::spawn(own_affinity).join().unwrap(), before);
}

#[test]
fn workers_sit_where_placement_says() {
    let machine = Topology::detect();
    let cpus = machine.cpus().len();
    let pool =
        Pool::builder().threads(cpus).placement(Placement::Cpu).name("per-cpu").build().unwrap();
    let mut masks: Vec<String> = threads_named("per-cpu-").into_iter().map(affinity_of).collect();
    masks.sort();
    // A pool of one has no worker.
    let placed = if cpus == 1 { 0 } else { cpus };
    let mut own: Vec<String> =
        machine.cpus().iter().take(placed).map(|cpu| cpu.to_string()).collect();
    own.sort();
    assert_eq!(masks, own);
    drop(pool);

    let pool =
        Pool::builder().threads(cpus).placement(Placement::Llc).name("per-llc").build().unwrap();
    for thread in threads_named("per-llc-") {
        let mask: locsteal::CpuSet = affinity_of(thread).parse().unwrap();
        assert!(mask.is_subset(machine.cpus()));
        assert!(machine.domains().is_empty() || machine.domain_holding(&mask).is_some());
    }
    drop(pool);

    let pool = Pool::builder().threads(2).placement(Placement::Free).name("free").build().unwrap();
    for thread in threads_named("free-") {
        assert_eq!(affinity_of(thread), own_affinity());
    }
    drop(pool);
}

/// By default no worker is ever tied to one CPU where it could have more.
#[test]
fn the_default_ties_nobody_to_one_cpu() {
    let machine = Topology::detect();
    if machine.cpus().len() == 1 {
        // Then there is nothing to be tied to, and what the default would be is tested by the layout's own tests.
        return;
    }
    let pool = Pool::builder().name("default").build().unwrap();
    for thread in threads_named("default-") {
        let mask: locsteal::CpuSet = affinity_of(thread).parse().unwrap();
        assert!(mask.len() > 1, "{mask}");
    }
    drop(pool);
}

#[test]
fn what_cannot_be_built_is_refused_in_words() {
    let error = Pool::builder().threads(100_000).build().unwrap_err();
    assert_eq!(error, BuildError::TooManyThreads(100_000));
    assert!(error.to_string().contains("at most 4096"), "{error}");
    let error = Pool::builder().name("a\0b").build().unwrap_err();
    assert!(error.to_string().contains("NUL character at byte 1"), "{error}");
}

#[test]
fn zero_threads_means_the_default() {
    assert!(Pool::builder().threads(0).build().unwrap().threads() >= 1);
}

#[test]
fn the_report_is_in_words() {
    let machine = Topology::regular(2, 2, 2);
    let on = Pool::builder()
        .threads(8)
        .placement(Placement::Llc)
        .topology(machine.clone())
        .build()
        .unwrap();
    assert!(on.locality().is_on(), "{}", on.locality());
    assert!(on.locality().to_string().contains("4 caches in 2 nodes"), "{}", on.locality());
    let off =
        Pool::builder().threads(3).placement(Placement::Free).topology(machine).build().unwrap();
    assert!(!off.locality().is_on());
    assert!(off.locality().to_string().contains("LOCSTEAL_PLACEMENT=llc"), "{}", off.locality());
}

/// A worker's thread is no worker any more once its pool is gone: a pool that a destructor makes, be it where the other one was in
/// memory, is one like any other to it.
#[test]
fn a_thread_that_ends_is_no_worker_of_a_pool_that_is_made_then() {
    struct Makes(mpsc::Sender<u64>);
    impl Drop for Makes {
        fn drop(&mut self) {
            let pool = Pool::builder().threads(2).build().unwrap();
            assert_eq!(sum_on(&pool, 1000), 499_500);
            self.0.send(pool.stats().loops).unwrap();
        }
    }
    thread_local! {
        static MAKES: RefCell<Option<Makes>> = const { RefCell::new(None) };
    }
    if std::env::var_os("LOCSTEAL_TEST_INNER").is_none() {
        let name = "a_thread_that_ends_is_no_worker_of_a_pool_that_is_made_then";
        // Threads that share one arena get memory that another has just given back.
        let output = run_again(name, &[("LOCSTEAL_TEST_INNER", "1"), ("MALLOC_ARENA_MAX", "1")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    for _ in 0..20 {
        let (tell, told) = mpsc::channel();
        let pool = Arc::new(Pool::builder().threads(2).build().unwrap());
        let meet = Arc::new(Barrier::new(3));
        for _ in 0..2 {
            let (tell, meet, pool) = (tell.clone(), Arc::clone(&meet), Arc::clone(&pool));
            drop(locsteal::job().pool(&Arc::clone(&pool)).policy(Policy::Offload).spawn(
                move || {
                    meet.wait();
                    MAKES.set(Some(Makes(tell)));
                    // The second one ends the pool, from inside.
                    drop(pool);
                },
            ));
        }
        drop((pool, tell));
        meet.wait();
        assert_eq!(told.iter().collect::<Vec<_>>(), [1, 1], "loops that were shared");
    }
}
