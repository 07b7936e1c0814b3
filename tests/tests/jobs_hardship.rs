//! Jobs when the system does not play along: forks, threads that cannot be had, narrow masks; and what they ask of the
//! system when it does.
#![cfg(target_os = "linux")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

use locsteal::{Placement, Pool, spawn_near};
use locsteal_tests::locality::kernel;
use locsteal_tests::process::{address_space, own_affinity, run_again, threads_named};

const INNER: &str = "LOCSTEAL_TEST_INNER";

/// The system's allocator until [`LOCKLESS`] is set, and then some memory that is used up from one end and never given
/// back. The system's has locks: threads that allocate and free at once make system calls to wait for each other, and
/// those would be taken for the library's.
struct Allocator {
    memory: UnsafeCell<[u8; MEMORY]>,
    taken: AtomicUsize,
}

const MEMORY: usize = 64 << 20;

static LOCKLESS: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static ALLOCATOR: Allocator =
    Allocator { memory: UnsafeCell::new([0; MEMORY]), taken: AtomicUsize::new(0) };

// SAFETY: each byte of the memory is handed out once, by `taken`.
unsafe impl Sync for Allocator {}

// SAFETY: the system's allocator does everything, or each block is one of its own within the memory, which is a static's
// and so not given back; its beginning is aligned by leaving out as many bytes as that takes at most.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !LOCKLESS.load(Relaxed) {
            // SAFETY: as demanded of the caller.
            return unsafe { System.alloc(layout) };
        }
        let size = layout.size() + layout.align();
        let begin = self.taken.fetch_add(size, Relaxed);
        if begin + size > MEMORY {
            return std::ptr::null_mut();
        }
        let block = self.memory.get().cast::<u8>().wrapping_add(begin);
        block.wrapping_add(block.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // Once it is set, the process has not long to live.
        if !LOCKLESS.load(Relaxed) {
            // SAFETY: as demanded of the caller: nothing was taken from the memory yet.
            unsafe { System.dealloc(block, layout) };
        }
    }
}

/// Whether this is the inner process; if not, the test is run again as one, with these variables besides.
fn is_inner(name: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(INNER).is_some() {
        return true;
    }
    let output = run_again(name, &[&[(INNER, "1")], variables].concat());
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    false
}

/// Runs `inner` in the child of a fork and gives back whether it was true.
fn in_forked_child(inner: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs jobs, which must work in it, and ends without returning.
    match unsafe { libc::fork() } {
        -1 => panic!("no fork: {}", std::io::Error::last_os_error()),
        0 => {
            let fine = catch_unwind(AssertUnwindSafe(inner)).unwrap_or(false);
            // SAFETY: ends the child without running the parent's exit handlers.
            unsafe { libc::_exit(i32::from(!fine)) }
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child that was just made.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }
}

#[test]
fn jobs_run_in_the_child_of_a_fork_when_they_are_submitted() {
    let pool = Pool::builder().threads(3).build().unwrap();
    assert_eq!(spawn_near!(<pool = &pool, policy = offload> || 1).join(), 1);
    assert!(in_forked_child(|| {
        let here = thread::current().id();
        let job =
            spawn_near!(<pool = &pool, policy = offload> move || thread::current().id() == here);
        job.is_finished() && job.join()
    }));
    assert!(in_forked_child(|| {
        // A pool of the child's own has workers.
        let pool = Pool::builder().threads(2).name("child").build().unwrap();
        let (go_on, wait) = mpsc::channel::<()>();
        let job = spawn_near!(<pool = &pool, policy = offload> move || {
            let _ = wait.recv();
        });
        let runs_elsewhere = !job.is_finished();
        drop(go_on);
        job.join();
        runs_elsewhere && threads_named("child-").len() == 2
    }));
    assert!(in_forked_child(|| {
        // Dropping the parent's pool there waits for nobody.
        drop(pool);
        true
    }));
}

#[test]
fn handles_that_a_fork_takes_along_say_what_they_can() {
    let pool = Pool::builder().threads(2).build().unwrap();
    let (begun, begins) = mpsc::channel();
    let (go_on, jobs): (Vec<_>, Vec<_>) = (0..2)
        .map(|_| {
            let (go_on, wait) = mpsc::channel::<()>();
            let begun = begun.clone();
            let job = spawn_near!(<pool = &pool, policy = offload> move || {
                begun.send(()).unwrap();
                let _ = wait.recv();
            });
            (go_on, job)
        })
        .unzip();
    (0..2).for_each(|_| begins.recv().unwrap());
    let waiting = spawn_near!(<pool = &pool, policy = offload> || 5);
    let [running, other] = <[_; 2]>::try_from(jobs).unwrap();
    assert!(in_forked_child(|| waiting.join() == 5), "nobody has begun it: the child runs it");
    assert!(in_forked_child(|| {
        // It runs in the parent: an error, not a wait for ever.
        std::panic::set_hook(Box::new(|_| {}));
        let joined = catch_unwind(AssertUnwindSafe(|| running.join()));
        let message = joined.unwrap_err().downcast::<&str>().unwrap();
        message.contains("child of a fork")
    }));
    drop(go_on);
    other.join();
}

/// L2: no thread can be made at all. With little address space left, none of the stacks fits.
#[test]
fn where_no_thread_can_be_had_jobs_run_when_they_are_submitted() {
    let name = "where_no_thread_can_be_had_jobs_run_when_they_are_submitted";
    if !is_inner(name, &[("RUST_MIN_STACK", "4294967296"), ("LOCSTEAL_THREADS", "4")]) {
        return;
    }
    let most = address_space() + (1 << 30);
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: reads the limit alone.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let here = thread::current().id();
    for _ in 0..100 {
        let job = spawn_near!(<policy = offload> move || thread::current().id() == here);
        assert!(job.is_finished() && job.join());
    }
    // A deep chain of joins, for which a thread of its own would be wanted, goes on without.
    fn down(left: usize) -> usize {
        if left == 0 {
            0
        } else {
            1 + spawn_near!(<policy = offload> move || down(left - 1)).join()
        }
    }
    assert_eq!(down(200), 200);
    let mut parts = [0; 4];
    locsteal::scope(|s| {
        for part in &mut parts {
            spawn_near!(<scope = s, policy = offload> || *part += 1);
        }
    });
    assert_eq!(parts, [1; 4]);
    assert!(Pool::global().locality().to_string().contains("threads could be started"));
}

/// A3: what is started from inside of a job inherits the worker's mask, unless it is started unpinned.
#[test]
fn threads_and_pools_started_from_a_job_can_have_the_whole_mask() {
    let whole = own_affinity();
    // Each worker is confined to one CPU.
    let pool = Pool::builder().threads(2).placement(Placement::Cpu).build().unwrap();
    let job = spawn_near!(<pool = &pool, policy = offload> move || {
        let mask = || thread::spawn(own_affinity).join().unwrap();
        let (inherited, own) = (mask(), own_affinity());
        let unpinned = locsteal::unpinned(|| (mask(), thread::available_parallelism().unwrap()));
        let inner = Pool::builder().threads(2).name("inner").build().unwrap();
        let inner_mask = spawn_near!(<pool = &inner, policy = offload> || own_affinity());
        [inherited, own, unpinned.0, own_affinity(), wait_for(inner_mask)]
    });
    let [inherited, own, unpinned, after, inner] = wait_for(job);
    assert_eq!(inherited, own, "documented: threads inherit");
    assert_eq!(unpinned, whole);
    assert_eq!(after, own);
    assert_eq!(inner, whole);
}

/// Waits without taking the job back.
fn wait_for<T>(mut job: locsteal::JobHandle<T>) -> T {
    loop {
        match job.try_join() {
            Ok(value) => return value,
            Err(running) => job = running,
        }
        thread::yield_now();
    }
}

/// From now on the kernel ends the process if the calling thread makes one of these system calls.
fn forbid(calls: &[libc::c_long]) {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for &call in calls {
        program.push(libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: call as u32,
        });
        program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_KILL_PROCESS));
    }
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the program is valid for the time of the call, which copies it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER as libc::c_ulong;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter), 0);
    }
}

/// Without this the tests below would say nothing.
#[test]
fn a_forbidden_call_ends_the_process() {
    let name = "a_forbidden_call_ends_the_process";
    if std::env::var_os(INNER).is_none() {
        let output = run_again(name, &[(INNER, "1")]);
        assert!(!output.status.success());
        return;
    }
    forbid(&[libc::SYS_sched_getaffinity]);
    let _ = thread::available_parallelism();
}

#[test]
fn a_round_trip_through_a_worker_that_is_awake_makes_no_system_call() {
    let name = "a_round_trip_through_a_worker_that_is_awake_makes_no_system_call";
    if !is_inner(name, &[]) {
        return;
    }
    LOCKLESS.store(true, Relaxed);
    // On a single CPU each round trip takes as long as threads run at a stretch.
    let rounds = if thread::available_parallelism().unwrap().get() > 1 { 10_000 } else { 500 };
    let pool = Pool::builder().threads(2).spin(Duration::from_secs(1_000)).build().unwrap();
    let run = || {
        let mut job = spawn_near!(<pool = &pool, policy = offload> || 1);
        loop {
            match job.try_join() {
                Ok(one) => break one,
                Err(running) => job = running,
            }
            std::hint::spin_loop();
        }
    };
    // Both workers know of jobs, and the memory is there.
    (0..rounds / 10).for_each(|_| assert_eq!(run(), 1));
    // Nor does running them: workers may let others run between jobs, and that is all.
    let meet = std::sync::Arc::new(Barrier::new(3));
    let jobs: Vec<_> = (0..2)
        .map(|_| {
            let meet = std::sync::Arc::clone(&meet);
            spawn_near!(<pool = &pool, policy = offload> move || {
                meet.wait();
                forbid(&[
                    libc::SYS_futex,
                    libc::SYS_sched_setaffinity,
                    libc::SYS_sched_getaffinity,
                    libc::SYS_getcpu,
                ]);
            })
        })
        .collect();
    meet.wait();
    jobs.into_iter().for_each(wait_for);
    forbid(&[
        libc::SYS_futex,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_getaffinity,
        libc::SYS_getcpu,
        libc::SYS_sched_yield,
    ]);
    (0..rounds).for_each(|_| assert_eq!(run(), 1));
    // Skips what would end threads and wake waiters: this thread may not do that any more.
    std::process::exit(0);
}

#[test]
fn workers_on_their_jobs_own_domain_touch_no_mask() {
    let name = "workers_on_their_jobs_own_domain_touch_no_mask";
    if !is_inner(name, &[]) {
        return;
    }
    let builder = Pool::builder().threads(2).placement(Placement::Llc).name("near");
    let pool = builder.build().unwrap();
    let masks = [libc::SYS_sched_setaffinity, libc::SYS_sched_getaffinity];
    // This thread stays beside the first worker. So does the other worker, unless there is no room: then it is a helper
    // from elsewhere.
    let here = kernel::workers("near")[&0].mask.clone();
    kernel::set_mask(0, &here).unwrap();
    // The workers forbid themselves the calls, each while the other one waits.
    let meet = std::sync::Arc::new(Barrier::new(3));
    let jobs: Vec<_> = (0..2)
        .map(|_| {
            let (meet, here) = (std::sync::Arc::clone(&meet), here.clone());
            spawn_near!(<pool = &pool, policy = offload> move || {
                meet.wait();
                if kernel::own_mask() == here {
                    forbid(&masks);
                }
            })
        })
        .collect();
    meet.wait();
    jobs.into_iter().for_each(wait_for);
    for _ in 0..1_000 {
        wait_for(spawn_near!(<pool = &pool, policy = offload> || ()));
    }
}
