//! Forks in the middle of things: inside of loops, jobs and scopes. Each test is a process of its own, in which nothing else
//! happens that the child could get a half of.
#![cfg(target_os = "linux")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;

use locsteal::{Pool, Schedule, spawn_near};
use locsteal_tests::process::run_again;

const INNER: &str = "LOCSTEAL_TEST_INNER";

/// Whether this is the inner process; if not, the test is run again as one.
fn is_inner(name: &str) -> bool {
    if std::env::var_os(INNER).is_some() {
        return true;
    }
    let output = run_again(name, &[(INNER, "1")]);
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    false
}

/// How a child has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Exit(i32),
    Signal(i32),
}

/// Forks: `None` in the child, in the parent how the child has ended.
fn fork() -> Option<End> {
    // SAFETY: the children do what is tested here, and end.
    match unsafe { libc::fork() } {
        -1 => panic!("no fork: {}", std::io::Error::last_os_error()),
        0 => {
            // One that hangs fails the test instead of hanging it.
            // SAFETY: nobody handles the signal.
            unsafe { libc::alarm(60) };
            None
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child that was just made.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            Some(if libc::WIFEXITED(status) {
                End::Exit(libc::WEXITSTATUS(status))
            } else {
                End::Signal(libc::WTERMSIG(status))
            })
        }
    }
}

/// Ends the child without running the parent's exit handlers.
fn exit(fine: bool) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(i32::from(!fine)) }
}

/// Calls `rest` with a function that forks and gives back whether this is the child, in which `rest` must panic, and `check`
/// is asked about the payload; in the parent it must not panic.
fn goes_on_in_both(
    check: impl FnOnce(Box<dyn std::any::Any + Send>) -> bool,
    rest: impl FnOnce(&(dyn Fn() -> bool + Sync)),
) {
    let (in_child, ended) = (AtomicBool::new(false), Mutex::new(None));
    let fork = || {
        match fork() {
            None => in_child.store(true, SeqCst),
            end => *ended.lock().unwrap() = end,
        }
        in_child.load(SeqCst)
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| rest(&fork)));
    if in_child.load(SeqCst) {
        let fine = catch_unwind(AssertUnwindSafe(|| outcome.is_err_and(check)));
        exit(fine.unwrap_or(false));
    }
    outcome.unwrap_or_else(|payload| resume_unwind(payload));
    assert_eq!(ended.into_inner().unwrap(), Some(End::Exit(0)));
}

fn says(words: &str) -> impl FnOnce(Box<dyn std::any::Any + Send>) -> bool {
    move |payload| payload.downcast::<&str>().is_ok_and(|message| message.contains(words))
}

fn sum_on(pool: &Pool, n: u64) -> u64 {
    locsteal::range(0..n).pool(pool).sum(|i| i)
}

/// A counter that the children share with the parent.
fn shared_counter() -> &'static AtomicUsize {
    let (access, sharing) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new page, full of zeroes, which stays for as long as the process lives, and nobody uses but as the counter.
    unsafe {
        let page = libc::mmap(std::ptr::null_mut(), 4096, access, sharing, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        &*page.cast()
    }
}

#[test]
fn a_loop_says_that_it_cannot_end() {
    if !is_inner("a_loop_says_that_it_cannot_end") {
        return;
    }
    for schedule in [Schedule::Static, Schedule::DynamicChunk(1)] {
        let pool = Pool::builder().threads(2).build().unwrap();
        goes_on_in_both(says("inside of a parallel loop"), |fork| {
            let caller = thread::current().id();
            let (both, after) = (Barrier::new(2), Barrier::new(2));
            locsteal::range(0..2).pool(&pool).schedule(schedule).for_each(|_| {
                both.wait();
                // In the child nobody comes to the barrier.
                if thread::current().id() != caller || !fork() {
                    after.wait();
                }
            });
        });
    }
}

/// Panics whenever it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("bomb"));
    }
}

#[test]
fn a_panic_in_the_child_comes_out_of_its_copy_of_the_loop() {
    if !is_inner("a_panic_in_the_child_comes_out_of_its_copy_of_the_loop") {
        return;
    }
    for schedule in [Schedule::Static, Schedule::DynamicChunk(1)] {
        let pool = Pool::builder().threads(2).build().unwrap();
        let usable = |payload: Box<dyn std::any::Any + Send>| {
            let is_the_bodys = payload.is::<Bomb>();
            std::mem::forget(payload);
            is_the_bodys && sum_on(&pool, 1000) == 499_500
        };
        goes_on_in_both(usable, |fork| {
            let caller = thread::current().id();
            let (both, after) = (Barrier::new(2), Barrier::new(2));
            let items = vec![Bomb, Bomb];
            locsteal::source(items).pool(&pool).schedule(schedule).for_each(|item| {
                std::mem::forget(item);
                both.wait();
                if thread::current().id() == caller && fork() {
                    resume_unwind(Box::new(Bomb));
                }
                after.wait();
            });
        });
        assert_eq!(sum_on(&pool, 1000), 499_500);
    }
}

/// A worker that has forked is not one in the child: neither does it wait for loops there, nor does it run what the
/// parent's workers are going to run.
#[test]
fn a_worker_in_the_child_ends() {
    if !is_inner("a_worker_in_the_child_ends") {
        return;
    }
    for from_a_job in [false, true] {
        let pool = Pool::builder().threads(2).build().unwrap();
        let ran = shared_counter();
        // Two jobs keep both workers from the others.
        let (begun, begins) = mpsc::channel();
        let (go_on, waits) = mpsc::channel::<()>();
        let occupy = |forks: bool, waits: Option<mpsc::Receiver<()>>| {
            let begun = begun.clone();
            let end = Arc::new(Mutex::new(None));
            let told = Arc::clone(&end);
            let (submitted, all) = mpsc::channel::<()>();
            let job = spawn_near!(<pool = &pool, policy = offload> move || {
                begun.send(()).unwrap();
                let _ = all.recv();
                if forks {
                    *told.lock().unwrap() = Some(fork());
                }
                waits.map(|waits| waits.recv());
            });
            (submitted, job, end)
        };
        if from_a_job {
            let (submitted, mut job, end) = occupy(true, None);
            let (idle, mut other, _) = occupy(false, Some(waits));
            (0..2).for_each(|_| begins.recv().unwrap());
            let jobs: Vec<_> = (0..10)
                .map(|_| {
                    spawn_near!(<pool = &pool, policy = offload> move || {
                        ran.fetch_add(1, SeqCst);
                    })
                })
                .collect();
            drop(submitted);
            job.wait();
            assert_eq!(*end.lock().unwrap(), Some(Some(End::Exit(0))));
            drop((idle, go_on));
            other.wait();
            for mut job in jobs {
                job.wait();
            }
            assert_eq!(ran.load(SeqCst), 10, "each job ran once, in the parent");
        } else {
            let caller = thread::current().id();
            let (both, ends) = (Barrier::new(2), AtomicU64::new(0));
            locsteal::range(0..2).pool(&pool).schedule(Schedule::DynamicChunk(1)).for_each(|_| {
                both.wait();
                if thread::current().id() != caller
                    && let Some(end) = fork()
                {
                    assert_eq!(end, End::Exit(0));
                    ends.fetch_add(1, SeqCst);
                }
            });
            assert_eq!(ends.into_inner(), 1);
        }
        assert_eq!(sum_on(&pool, 1000), 499_500);
    }
}

#[test]
fn a_scope_says_that_it_cannot_end() {
    if !is_inner("a_scope_says_that_it_cannot_end") {
        return;
    }
    let pool = Pool::builder().threads(3).build().unwrap();
    goes_on_in_both(says("inside of a scope"), |fork| {
        let (both, after) = (Barrier::new(2), Barrier::new(2));
        let (mut waiting, mut running) = (0, 0);
        locsteal::scope(|s| {
            spawn_near!(<scope = s, pool = &pool, policy = offload> || {
                both.wait();
                after.wait();
                running += 1;
            });
            both.wait();
            if !fork() {
                after.wait();
            }
            spawn_near!(<scope = s, pool = &pool, policy = offload> || waiting += 1);
        });
        assert_eq!((waiting, running), (1, 1));
    });
}

#[test]
fn a_panic_in_the_child_comes_out_of_its_copy_of_the_scope() {
    if !is_inner("a_panic_in_the_child_comes_out_of_its_copy_of_the_scope") {
        return;
    }
    let pool = Pool::builder().threads(3).build().unwrap();
    let is_the_scopes = |payload: Box<dyn std::any::Any + Send>| {
        let is_the_scopes = payload.is::<Bomb>();
        std::mem::forget(payload);
        is_the_scopes
    };
    goes_on_in_both(is_the_scopes, |fork| {
        let (both, after) = (Barrier::new(2), Barrier::new(2));
        locsteal::scope(|s| {
            spawn_near!(<scope = s, pool = &pool, policy = offload> || {
                both.wait();
                after.wait();
            });
            both.wait();
            if fork() {
                resume_unwind(Box::new(Bomb));
            }
            after.wait();
        });
    });
}
