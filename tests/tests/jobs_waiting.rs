//! Waiting for jobs: deep chains on small stacks, pools of one, locks held across joins, tasks of an executor.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use locsteal::{JobHandle, Near, Pool, spawn_near};

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

/// Runs `test` on a thread with a stack of 256 KiB, and so are the threads that are started from there by pools.
#[cfg(target_os = "linux")]
fn on_small_stacks(name: &str, test: impl FnOnce() + Send + 'static) {
    use locsteal_tests::process::run_again;
    const SMALL: &str = "262144";
    if std::env::var("RUST_MIN_STACK").is_ok_and(|size| size == SMALL) {
        return thread::spawn(test).join().unwrap();
    }
    let output = run_again(name, &[("RUST_MIN_STACK", SMALL)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// N3: each of ten thousand jobs waits for the one that was spawned before it.
#[cfg(target_os = "linux")]
#[test]
fn a_long_chain_of_waiting_jobs_fits_small_stacks() {
    on_small_stacks("a_long_chain_of_waiting_jobs_fits_small_stacks", || {
        for threads in [1, 2, 3] {
            let pool = pool(threads);
            let mut last: Option<JobHandle<usize>> = None;
            for _ in 0..10_000 {
                let before = last.take();
                last = Some(spawn_near!(
                    <pool = &pool, policy = offload>
                    move || 1 + before.map_or(0, JobHandle::join)
                ));
            }
            assert_eq!(last.unwrap().join(), 10_000);
        }
    });
}

/// N3 the other way round: each job spawns the next one and waits for it, ten thousand deep. Here it is the submitters
/// that stand on each other's stacks, unless workers take over.
#[cfg(target_os = "linux")]
#[test]
fn jobs_that_wait_for_what_they_spawn_fit_small_stacks() {
    fn down(pool: &'static Pool, left: usize) -> usize {
        if left == 0 {
            return 0;
        }
        1 + match left % 3 {
            0 => spawn_near!(<pool = pool, policy = offload> move || down(pool, left - 1)).join(),
            1 => spawn_near!(<pool = pool, policy = inline> move || down(pool, left - 1)).join(),
            _ => spawn_near!(<pool = pool> move || down(pool, left - 1)).join(),
        }
    }
    on_small_stacks("jobs_that_wait_for_what_they_spawn_fit_small_stacks", || {
        for threads in [1, 2, 3] {
            let pool: &'static Pool = Box::leak(Box::new(pool(threads)));
            assert_eq!(down(pool, 10_000), 10_000);
            pool.shutdown();
        }
    });
}

/// A thread that goes on with a chain of jobs in the stead of a worker is the pool's as much as the worker is: the pool can
/// be shut down from there, and it knows what mask the worker had before it was placed.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_stand_in_for_workers_have_their_places() {
    use locsteal::Placement;
    use locsteal_tests::process::own_affinity;

    fn down(pool: &'static Pool, left: usize) -> (String, [String; 2]) {
        if left > 0 {
            return spawn_near!(<pool = pool, policy = inline> move || down(pool, left - 1)).join();
        }
        let masks = [own_affinity(), locsteal::unpinned(own_affinity)];
        // Were it to wait for the pool's threads, it would wait for the one that waits for it.
        pool.shutdown();
        (thread::current().name().unwrap_or_default().to_owned(), masks)
    }
    on_small_stacks("threads_that_stand_in_for_workers_have_their_places", || {
        let whole = own_affinity();
        let pool = Pool::builder().threads(2).placement(Placement::Cpu).build().unwrap();
        let pool: &'static Pool = Box::leak(Box::new(pool));
        let (told, answer) = std::sync::mpsc::channel();
        drop(spawn_near!(<pool = pool, policy = offload> move || {
            told.send((own_affinity(), down(pool, 1_000))).unwrap();
        }));
        // Where shutting down waits for the thread that waits for it, there is no answer.
        let (worker, (name, [own, unpinned])) = answer.recv().expect("the job has not panicked");
        assert_eq!(name, "locsteal-join", "the chain is deep enough");
        assert_eq!(own, worker, "it is confined as the worker is");
        assert_eq!(unpinned, whole);
    });
}

#[test]
fn jobs_of_one_scope_may_wait_for_each_other() {
    for threads in [1, 2, 4] {
        let pool = &pool(threads);
        let total = locsteal::scope(|s| {
            let mut last: Option<JobHandle<usize>> = None;
            for n in 0..500 {
                let before = last.take();
                last = Some(spawn_near!(
                    <scope = s, pool = pool, policy = offload>
                    move || n + before.map_or(0, JobHandle::join)
                ));
            }
            last.unwrap().join()
        });
        assert_eq!(total, 499 * 500 / 2);
    }
}

#[test]
fn a_lock_held_across_a_join_is_no_deadlock() {
    // Whoever waits runs nothing but the job that it waits for, so nobody comes to a lock that it holds itself.
    for threads in [1, 2, 4] {
        let pool: &'static Pool = Box::leak(Box::new(pool(threads)));
        let lock: &'static Mutex<usize> = Box::leak(Box::new(Mutex::new(0)));
        let jobs: Vec<_> = (0..200)
            .map(|_| {
                spawn_near!(<pool = pool, policy = offload> move || {
                    let mut held = lock.lock().unwrap();
                    *held += spawn_near!(<pool = pool, policy = offload> || 1).join();
                })
            })
            .collect();
        jobs.into_iter().for_each(JobHandle::join);
        assert_eq!(*lock.lock().unwrap(), 200);
        pool.shutdown();
    }
}

#[test]
fn lazy_values_may_be_made_by_jobs() {
    for threads in [1, 2, 4] {
        let pool: &'static Pool = Box::leak(Box::new(pool(threads)));
        let lazy: &'static OnceLock<usize> = Box::leak(Box::default());
        let jobs: Vec<_> = (0..20)
            .map(|_| {
                spawn_near!(<pool = pool, policy = offload> move || {
                    *lazy.get_or_init(|| spawn_near!(<pool = pool, policy = offload> || 7).join())
                })
            })
            .collect();
        assert!(jobs.into_iter().all(|job| job.join() == 7));
        pool.shutdown();
    }
}

#[test]
fn many_threads_submit_and_join() {
    let (pool, total) = (&pool(3), &AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..300 {
                    total.fetch_add(
                        spawn_near!(<pool = pool, policy = offload> move || n).join(),
                        SeqCst,
                    );
                }
            });
        }
    });
    assert_eq!(total.load(SeqCst), 8 * 299 * 300 / 2);
}

#[test]
fn handles_can_be_joined_by_other_threads() {
    let pool = pool(2);
    for n in 0..200 {
        let job = spawn_near!(<pool = &pool, policy = offload> move || n);
        assert_eq!(thread::spawn(|| job.join()).join().unwrap(), n);
    }
}

#[test]
fn tasks_of_an_executor_await_jobs() {
    let pool = Arc::new(pool(2));
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let tasks: Vec<_> = (0..200_usize)
        .map(|n| {
            let pool = Arc::clone(&pool);
            executor.spawn(async move {
                // Several at once, awaited in another order than they were spawned in.
                let job = || spawn_near!(<pool = &pool, policy = offload> move || n);
                let (first, second, dropped) = (job(), job(), job());
                drop(dropped);
                second.await + first.await + spawn_near!(<pool = &pool> move || n).await
            })
        })
        .collect();
    executor.block_on(async {
        for (n, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap(), 3 * n);
        }
    });
}

#[test]
fn a_panic_goes_on_in_the_task_that_awaits() {
    let executor = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let job = spawn_near!(|| -> () { std::panic::resume_unwind(Box::new(5_u8)) });
    let task = executor.block_on(executor.spawn(job));
    let payload = task.unwrap_err().into_panic();
    assert_eq!(*payload.downcast::<u8>().unwrap(), 5);
}

/// The affinity mask of the calling thread, where there is such a thing.
fn mask() -> String {
    #[cfg(target_os = "linux")]
    return locsteal_tests::process::own_affinity();
    #[cfg(not(target_os = "linux"))]
    String::new()
}

#[test]
fn guards_work_on_threads_of_anybody() {
    /// Runs near, and tells the masks before, while and after.
    fn guarded(near: Near) -> [String; 3] {
        let before = mask();
        let during = near.wrap(mask)();
        [before, during, mask()]
    }
    let near = Near::here();
    let executor = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    rayon::spawn(move || sender.send(guarded(near)).unwrap());
    for [before, during, after] in [
        thread::spawn(move || guarded(near)).join().unwrap(),
        receiver.recv().unwrap(),
        executor.block_on(executor.spawn_blocking(move || guarded(near))).unwrap(),
        spawn_near!(<policy = offload> move || guarded(near)).join(),
    ] {
        assert_eq!(before, after);
        #[cfg(target_os = "linux")]
        {
            let (before, during): (locsteal::CpuSet, locsteal::CpuSet) =
                (before.parse().unwrap(), during.parse().unwrap());
            assert!(during.is_subset(&before));
            assert!(during == before || near.cpus().is_some_and(|cpus| during.is_subset(cpus)));
        }
    }
}
