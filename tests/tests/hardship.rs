//! When the system does not play along: forks, threads that cannot be had, masks that are narrow or have holes,
//! settings that make no sense. Loops run with what there is.
#![cfg(target_os = "linux")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use locsteal::{Pool, Topology};
use locsteal_tests::process::{address_space, own_affinity, run_again, threads_named};

const INNER: &str = "LOCSTEAL_TEST_INNER";

fn is_inner() -> bool {
    std::env::var_os(INNER).is_some()
}

fn sum_on(pool: &Pool, n: u64) -> u64 {
    let sum = AtomicU64::new(0);
    locsteal::range(0..n).pool(pool).for_each(|i| {
        sum.fetch_add(i, Relaxed);
    });
    sum.into_inner()
}

/// Runs `inner` in the child of a fork and gives back whether it was true.
fn in_forked_child(inner: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child only runs loops, which must work in it, and ends without returning.
    match unsafe { libc::fork() } {
        -1 => panic!("no fork: {}", std::io::Error::last_os_error()),
        0 => {
            let fine =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(inner)).unwrap_or(false);
            // SAFETY: ends the child without running the parent's exit handlers.
            unsafe { libc::_exit(i32::from(!fine)) }
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child that was just made.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(waited, child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }
}

#[test]
fn loops_run_in_the_child_of_a_fork() {
    let pool = Pool::builder().threads(3).build().unwrap();
    assert_eq!(sum_on(&pool, 1000), 499_500);
    assert!(in_forked_child(|| {
        sum_on(&pool, 1) == 0
            && sum_on(&pool, 1000) == 499_500
            && pool.locality().to_string().contains("child of a fork")
    }));
    // Shutting the parent's pool down in the child waits for nobody.
    assert!(in_forked_child(|| {
        pool.shutdown();
        sum_on(&pool, 1000) == 499_500
    }));
    // A pool that is made in the child has threads of its own.
    assert!(in_forked_child(|| {
        let pool = Pool::builder().threads(2).name("child").build().unwrap();
        sum_on(&pool, 1000) == 499_500 && threads_named("child-").len() == 2
    }));
    assert_eq!(sum_on(&pool, 1000), 499_500);
    assert_eq!(pool.threads(), 3);
}

/// While one thread makes the global pool, another one forks: the child finds nothing locked.
#[test]
fn a_fork_while_the_global_pool_is_being_made() {
    if !is_inner() {
        let output = run_again(
            "a_fork_while_the_global_pool_is_being_made",
            // Long enough to make that it is seen being made.
            &[(INNER, "1"), ("LOCSTEAL_THREADS", "300")],
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let maker = std::thread::spawn(Pool::global);
    while threads_named("locsteal-").is_empty() {
        std::thread::yield_now();
    }
    for _ in 0..3 {
        assert!(in_forked_child(|| {
            // SAFETY: ends a child that hangs.
            unsafe { libc::alarm(60) };
            let seven = locsteal::spawn_near!(|| 7).join();
            let sum = AtomicU64::new(0);
            locsteal::range(0..1000_u64).for_each(|i| {
                sum.fetch_add(i, Relaxed);
            });
            let _listed = locsteal::callsites();
            (seven, sum.into_inner()) == (7, 499_500)
        }));
    }
    let pool = maker.join().unwrap();
    assert!(std::ptr::eq(pool, Pool::global()));
    assert_eq!(sum_on(pool, 1000), 499_500);
}

/// With little address space left, the stacks of a few threads fit and no more.
#[test]
fn fewer_threads_than_asked_for() {
    if !is_inner() {
        let output = run_again(
            "fewer_threads_than_asked_for",
            &[(INNER, "1"), ("RUST_MIN_STACK", "67108864")],
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let limit = address_space() + 300 * 1024 * 1024;
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: sets a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let pool = Pool::builder().threads(64).name("scarce").build().unwrap();
    assert!(pool.threads() < 64, "300 MiB do not hold 64 stacks of 64 MiB");
    assert!(
        pool.locality().to_string().contains("of 64 threads could be started"),
        "{}",
        pool.locality()
    );
    assert_eq!(sum_on(&pool, 1000), 499_500);
}

/// A pool that could start none of its threads is as wide as its caller.
#[test]
fn no_thread_at_all() {
    if !is_inner() {
        let output =
            run_again("no_thread_at_all", &[(INNER, "1"), ("RUST_MIN_STACK", "4294967296")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let limit = address_space() + 300 * 1024 * 1024;
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: sets a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let pool = Pool::builder().threads(4).build().unwrap();
    let locality = pool.locality().to_string();
    assert!(locality.contains("only 0 of 4 threads could be started"), "{locality}");
    assert_eq!(pool.threads(), 1);
    assert_eq!(sum_on(&pool, 1000), 499_500);
    assert_eq!(pool.threads(), 1);
}

#[test]
fn settings_that_make_no_sense_are_reported_and_ignored() {
    if is_inner() {
        assert!(Pool::global().threads() >= 1);
        assert_eq!(sum_on(Pool::global(), 1000), 499_500);
        return;
    }
    let name = "settings_that_make_no_sense_are_reported_and_ignored";
    for variable in ["LOCSTEAL_THREADS", "LOCSTEAL_PLACEMENT", "LOCSTEAL_SPIN"] {
        for value in ["-1", "abc", "99999999999999999999", "0x", " "] {
            let output = run_again(name, &[(INNER, "1"), (variable, value)]);
            assert!(output.status.success(), "{variable}={value:?}");
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                complaint.matches(&format!("{variable}=")).count(),
                1,
                "{variable}={value:?}: {complaint}"
            );
        }
    }
    let output = run_again(name, &[(INNER, "1"), ("LOCSTEAL_THREADS", "0")]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("LOCSTEAL_THREADS="));
}

#[test]
fn settings_are_followed() {
    if is_inner() {
        assert_eq!(Pool::global().threads(), 5);
        assert_eq!(sum_on(Pool::global(), 1000), 499_500);
        assert!(
            Pool::global().locality().to_string().contains("any CPU"),
            "{}",
            Pool::global().locality()
        );
        return;
    }
    let settings = [
        (INNER, "1"),
        ("LOCSTEAL_THREADS", "5"),
        ("LOCSTEAL_PLACEMENT", "free"),
        ("LOCSTEAL_SPIN", "0"),
    ];
    let output = run_again("settings_are_followed", &settings);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("ignored"));
}

/// A thread that pins itself before it first uses a pool: the pool is as wide as its mask, and nobody gains a CPU.
#[test]
fn a_pool_made_under_a_narrow_mask() {
    let before = own_affinity();
    std::thread::spawn(move || {
        let first = Topology::detect().cpus().first().expect("a CPU");
        pin_to(first);
        let pool = Pool::builder().name("narrow").build().unwrap();
        assert_eq!(pool.threads(), 1);
        let wider = Pool::builder().threads(3).name("wider").build().unwrap();
        assert_eq!(sum_on(&wider, 1000), 499_500);
        for thread in threads_named("wider-") {
            assert_eq!(locsteal_tests::process::affinity_of(thread), first.to_string());
        }
        assert_eq!(own_affinity(), first.to_string());
    })
    .join()
    .unwrap();
    assert_eq!(own_affinity(), before);
}

fn pin_to(cpu: usize) {
    let mut words = [0_u64; 16];
    words[cpu / 64] = 1 << (cpu % 64);
    // SAFETY: the kernel reads the words.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&words), words.as_ptr().cast()) };
    assert_eq!(result, 0);
}

/// A panic hook is code of users, which runs on whatever thread has panicked, in the middle of a loop or a job.
#[test]
fn panic_hooks_launch_loops_and_spawn_jobs() {
    if !is_inner() {
        let output = run_again("panic_hooks_launch_loops_and_spawn_jobs", &[(INNER, "1")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    static HOOKED: AtomicU64 = AtomicU64::new(0);
    let pool: &Pool = Box::leak(Box::new(Pool::builder().threads(3).build().unwrap()));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |_| {
        let job = pool.spawn_near(|| 1);
        HOOKED.fetch_add(sum_on(pool, 1000) / 499_500 * job.join(), Relaxed);
    }));
    for round in 1..=50 {
        let barrier = std::sync::Barrier::new(3);
        let caught = std::panic::catch_unwind(|| {
            let begun = locsteal::range(0..3).pool(pool);
            begun.schedule(locsteal::Schedule::DynamicChunk(1)).for_each(|i| {
                barrier.wait();
                assert!(i != 1, "on purpose");
            });
        });
        let job = pool.spawn_near(|| panic!("on purpose"));
        let joined = std::panic::catch_unwind(|| job.join());
        if (caught.is_err(), joined.is_err(), HOOKED.load(Relaxed)) != (true, true, 2 * round) {
            std::process::exit(1);
        }
    }
    std::panic::set_hook(hook);
}
