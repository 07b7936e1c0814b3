//! Jobs on real threads, as seen from inside: who runs what, what waits, what is dropped when.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use super::*;
use crate::Pool;

pub(super) fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

pub(super) fn offload(pool: &Pool) -> JobBuilder<'_> {
    job().pool(pool).policy(Policy::Offload)
}

/// A job that runs on a worker until it is let go; returns once it runs.
pub(super) fn occupy(pool: &Pool) -> (mpsc::Sender<()>, JobHandle<()>) {
    let (go_on, wait) = mpsc::channel();
    let (begun, begins) = mpsc::channel();
    let job = offload(pool).spawn(move || {
        begun.send(()).unwrap();
        // An error means that the test is over.
        let _ = wait.recv();
    });
    begins.recv().unwrap();
    (go_on, job)
}

/// Wakes the thread that polls.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn values_come_back_in_every_way() {
    for threads in 1..=4 {
        let pool = pool(threads);
        for policy in [Policy::Adaptive, Policy::Offload, Policy::Inline] {
            for n in 0..200 {
                let spawn = || job().pool(&pool).policy(policy).spawn(move || vec![n; 3]);
                assert_eq!(spawn().join(), [n; 3]);
                assert_eq!(block_on(spawn()), [n; 3]);
                let mut job = spawn();
                let value = loop {
                    match job.try_join() {
                        Ok(value) => break value,
                        Err(back) => job = back,
                    }
                    thread::yield_now();
                };
                assert_eq!(value, [n; 3]);
                drop(spawn());
            }
        }
    }
}

#[test]
fn an_unstarted_job_is_taken_back_and_runs_in_its_joiner() {
    let pool = pool(2);
    // One after the other: the first is begun before the second is submitted.
    let busy = [occupy(&pool), occupy(&pool)];
    let here = thread::current().id();
    let job = offload(&pool).spawn(|| thread::current().id());
    assert!(!job.is_finished());
    let job = job.try_join().unwrap_err();
    assert_eq!(job.join(), here);
    drop(busy);
}

#[test]
fn an_awaited_job_stays_with_the_workers() {
    let pool = pool(2);
    let busy = [occupy(&pool), occupy(&pool)];
    let here = thread::current().id();
    let mut job = pin!(offload(&pool).spawn(|| thread::current().id()));
    assert!(job.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(busy);
    assert_ne!(block_on(job), here);
}

#[test]
fn only_the_last_waker_is_woken_and_only_while_somebody_waits() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let counts: [Arc<Count>; 3] = std::array::from_fn(|_| Arc::new(Count(AtomicUsize::new(0))));
    let pool = pool(2);
    let (go_on, job) = occupy(&pool);
    let mut job = pin!(job);
    for count in &counts[..2] {
        let waker = Waker::from(Arc::clone(count));
        assert!(job.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(Arc::strong_count(&counts[0]), 1, "replaced wakers are dropped at once");
    go_on.send(()).unwrap();
    block_on(&mut job);
    assert_eq!(counts[0].0.load(SeqCst), 0);
    // The second one is dropped by the next poll, or woken by the worker, which may be about to: the outcome is there
    // before anybody is told.
    while Arc::strong_count(&counts[1]) > 1 {
        thread::yield_now();
    }
    // Polled, then dropped: nobody is woken, and the waker goes with the handle.
    let (go_on, job) = occupy(&pool);
    let mut job = Box::pin(job);
    let waker = Waker::from(Arc::clone(&counts[2]));
    assert!(job.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop((job, waker));
    assert_eq!(Arc::strong_count(&counts[2]), 1);
    go_on.send(()).unwrap();
    pool.shutdown();
    assert_eq!(counts[2].0.load(SeqCst), 0);
}

#[test]
fn a_polled_job_can_still_be_joined() {
    let pool = pool(2);
    let (go_on, mut job) = occupy(&pool);
    let poll = std::pin::Pin::new(&mut job).poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll.is_pending());
    go_on.send(()).unwrap();
    job.join();
}

#[test]
fn a_handle_gives_its_value_once() {
    let mut job = spawn_near(|| 1);
    assert_eq!(block_on(&mut job), 1);
    assert!(catch_unwind(AssertUnwindSafe(|| block_on(&mut job))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| job.join())).is_err());
}

#[test]
fn panics_travel_to_whoever_joins_or_awaits() {
    for threads in [1, 3] {
        let pool = pool(threads);
        for policy in [Policy::Adaptive, Policy::Offload, Policy::Inline] {
            for n in 0..20_u32 {
                let spawn = || {
                    job()
                        .pool(&pool)
                        .policy(policy)
                        .spawn(move || -> () { resume_unwind(Box::new(n)) })
                };
                let joined = catch_unwind(AssertUnwindSafe(|| spawn().join()));
                assert_eq!(*joined.unwrap_err().downcast::<u32>().unwrap(), n);
                let awaited = catch_unwind(AssertUnwindSafe(|| block_on(spawn())));
                assert_eq!(*awaited.unwrap_err().downcast::<u32>().unwrap(), n);
                drop(spawn());
            }
        }
        assert_eq!(offload(&pool).spawn(|| 5).join(), 5, "the pool is well");
    }
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("bomb"));
    }
}

#[test]
fn drops_that_panic_harm_nobody() {
    for threads in [1, 2] {
        let pool = pool(threads);
        for _ in 0..50 {
            // A capture: its panic is the job's.
            let bomb = Bomb;
            let job = offload(&pool).spawn(move || {
                let _moved = &bomb;
            });
            assert!(catch_unwind(AssertUnwindSafe(|| job.join())).is_err());
            // An unclaimed outcome, dropped by the handle or the worker, whoever is later.
            drop(offload(&pool).spawn(|| Bomb));
            // An unclaimed panic whose payload does it.
            drop(offload(&pool).spawn(|| -> () { resume_unwind(Box::new(Bomb)) }));
            let done = offload(&pool).spawn(|| Bomb);
            while !done.is_finished() {
                thread::yield_now();
                if threads == 1 {
                    break;
                }
            }
            drop(done);
        }
        assert_eq!(offload(&pool).spawn(|| 5).join(), 5, "the pool is well");
    }
}

#[test]
fn everything_is_dropped_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut made = 0;
    let pool = pool(3);
    for round in 0..300 {
        let mut counted = || {
            made += 1;
            Counted(Arc::clone(&dropped))
        };
        let (capture, outcome) = (counted(), counted());
        let job = offload(&pool).spawn(move || {
            let _capture = capture;
            outcome
        });
        match round % 4 {
            0 => drop(job),
            1 => drop(job.join()),
            2 => drop(block_on(job)),
            _ => drop(job.try_join()),
        }
    }
    pool.shutdown();
    assert_eq!(dropped.load(SeqCst), made);
}

#[test]
fn shutting_down_runs_what_waits() {
    for threads in [2, 4] {
        let pool = pool(threads);
        let ran = Arc::new(AtomicUsize::new(0));
        for round in 0..20 {
            let jobs: Vec<_> = (0..50)
                .map(|_| {
                    let ran = Arc::clone(&ran);
                    offload(&pool).spawn(move || {
                        ran.fetch_add(1, SeqCst);
                    })
                })
                .collect();
            // Half of them detached.
            let kept: Vec<_> = jobs.into_iter().step_by(2).collect();
            pool.shutdown();
            assert_eq!(ran.load(SeqCst), 50 * (round + 1));
            assert!(kept.iter().all(JobHandle::is_finished));
        }
    }
}

#[test]
fn jobs_spawned_while_the_pool_ends_run_all_the_same() {
    let pool = Arc::new(pool(2));
    let ran = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let submitters: Vec<_> = (0..2)
        .map(|_| {
            let (pool, ran, stop) = (Arc::clone(&pool), Arc::clone(&ran), Arc::clone(&stop));
            thread::spawn(move || {
                let mut submitted = 0;
                while !stop.load(SeqCst) {
                    let ran = Arc::clone(&ran);
                    let job = offload(&pool).spawn(move || ran.fetch_add(1, SeqCst));
                    if submitted % 2 == 0 {
                        block_on(job);
                    }
                    submitted += 1;
                }
                submitted
            })
        })
        .collect();
    for _ in 0..50 {
        pool.shutdown();
        thread::yield_now();
    }
    stop.store(true, SeqCst);
    let submitted: usize = submitters.into_iter().map(|thread| thread.join().unwrap()).sum();
    pool.shutdown();
    assert_eq!(ran.load(SeqCst), submitted);
}

#[test]
fn a_pool_dropped_by_its_own_job_does_its_work() {
    let (result, results) = mpsc::channel();
    let pool = Arc::new(pool(2));
    let inner = Arc::clone(&pool);
    let (dropped, wait) = mpsc::channel::<()>();
    let job = offload(&pool).spawn(move || {
        let nested = offload(&inner).spawn(|| 1);
        let _ = wait.recv();
        drop(inner);
        result.send(nested.join()).unwrap();
    });
    drop(pool);
    drop(dropped);
    assert_eq!(results.recv().unwrap(), 1);
    job.join();
}

#[test]
fn scopes_lend_and_wait() {
    /// Handles that nobody drops for as long as the process lives.
    static KEPT: Mutex<Vec<JobHandle<()>>> = Mutex::new(Vec::new());
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for n in 0..100_usize {
            let mut parts = vec![0; 10];
            let total = AtomicUsize::new(0);
            scope(|s| {
                for (index, part) in parts.iter_mut().enumerate() {
                    let total = &total;
                    let job = offload(&pool).spawn_in(s, move || {
                        *part = index + n;
                        total.fetch_add(*part, SeqCst);
                    });
                    match index % 3 {
                        0 => job.join(),
                        1 => drop(job),
                        _ => KEPT.lock().unwrap().push(job),
                    }
                }
            });
            assert_eq!(parts, (n..n + 10).collect::<Vec<_>>());
            assert_eq!(total.into_inner(), 45 + 10 * n);
        }
    }
}

#[test]
fn a_scope_ends_although_no_worker_is_free() {
    let pool = pool(2);
    let busy = [occupy(&pool), occupy(&pool)];
    let here = thread::current().id();
    let mut ran_on = [None; 5];
    scope(|s| {
        for place in &mut ran_on {
            drop(offload(&pool).spawn_in(s, || *place = Some(thread::current().id())));
        }
    });
    assert_eq!(ran_on, [Some(here); 5]);
    drop(busy);
}

#[test]
fn scopes_can_be_spawned_on_by_their_own_jobs() {
    for threads in [1, 2, 3] {
        let pool = &pool(threads);
        let count = &AtomicUsize::new(0);
        for _ in 0..50 {
            scope(|s| {
                for _ in 0..3 {
                    drop(offload(pool).spawn_in(s, move || {
                        for _ in 0..3 {
                            drop(offload(pool).spawn_in(s, || count.fetch_add(1, SeqCst)));
                        }
                    }));
                }
            });
        }
        assert_eq!(count.load(SeqCst), 450);
    }
}

#[test]
fn a_scope_rethrows_the_first_panic_that_nobody_has_joined_after_all_have_ended() {
    for threads in [1, 2] {
        let pool = &pool(threads);
        for policy in [Policy::Offload, Policy::Inline] {
            let spawn = || job().pool(pool).policy(policy);
            let ended = &AtomicUsize::new(0);
            let caught = catch_unwind(|| {
                scope(|s| {
                    let joined = spawn().spawn_in(s, || -> () { resume_unwind(Box::new(0_u32)) });
                    assert!(catch_unwind(AssertUnwindSafe(|| joined.join())).is_err());
                    for n in 1..10_u32 {
                        drop(spawn().spawn_in(s, move || {
                            ended.fetch_add(1, SeqCst);
                            if n >= 3 {
                                resume_unwind(Box::new(n));
                            }
                        }));
                    }
                });
            });
            assert_eq!(*caught.unwrap_err().downcast::<u32>().unwrap(), 3);
            assert_eq!(ended.load(SeqCst), 9);
        }
        // The scope's own panic comes before those of its jobs, which are waited for all the same.
        let ended = &AtomicUsize::new(0);
        let caught = catch_unwind(|| {
            scope(|s| {
                drop(offload(pool).spawn_in(s, move || -> () {
                    ended.fetch_add(1, SeqCst);
                    resume_unwind(Box::new(1_u32))
                }));
                resume_unwind(Box::new(2_u32));
            });
        });
        assert_eq!(*caught.unwrap_err().downcast::<u32>().unwrap(), 2);
        assert_eq!(ended.load(SeqCst), 1);
    }
}

#[test]
fn a_handle_may_outlive_its_scope() {
    let pool = pool(2);
    let (value, panic) = scope(|s| {
        let value = offload(&pool).spawn_in(s, || 7);
        let panic = offload(&pool).spawn_in(s, || -> () { resume_unwind(Box::new(8_u32)) });
        (value, panic)
    });
    assert_eq!(value.join(), 7);
    let caught = catch_unwind(AssertUnwindSafe(|| panic.join()));
    assert_eq!(*caught.unwrap_err().downcast::<u32>().unwrap(), 8);
}

#[test]
fn long_scopes_keep_what_lives_alone() {
    let pool = pool(2);
    scope(|s| {
        for n in 0..20_000 {
            assert_eq!(offload(&pool).spawn_in(s, move || n).join(), n);
        }
        assert!(s.core().count_listed() < 200, "{}", s.core().count_listed());
    });
}

#[test]
fn all_workers_take_part() {
    let pool = pool(4);
    let meet = Arc::new(Barrier::new(4));
    let jobs: Vec<_> = (0..4)
        .map(|_| {
            let meet = Arc::clone(&meet);
            offload(&pool).spawn(move || {
                meet.wait();
            })
        })
        .collect();
    // Each of them blocks until all have begun.
    jobs.into_iter().for_each(block_on);
}

#[test]
fn jobs_of_jobs_go_round_and_round() {
    fn chain(pool: &Arc<Pool>, left: usize, done: mpsc::Sender<usize>) {
        let inner = Arc::clone(pool);
        drop(offload(pool).spawn(move || match left {
            0 => done.send(0).unwrap(),
            _ => chain(&inner, left - 1, done),
        }));
    }
    let pool = Arc::new(pool(3));
    let (done, end) = mpsc::channel();
    for _ in 0..4 {
        chain(&pool, 500, done.clone());
    }
    drop(done);
    assert_eq!(end.iter().count(), 4);
}
