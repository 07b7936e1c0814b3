//! This machine: what is detected under narrow masks, and what happens where a sandbox forbids the kernel's calls
//! for affinity masks.
#![cfg(target_os = "linux")]

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use locsteal::{CpuSet, Placement, Pool, Topology};
use locsteal_tests::process::{affinity_of, own_affinity, run_again, threads_named};

/// Names the call that is denied and the error number, in the inner process.
const DENIED: &str = "LOCSTEAL_TEST_DENIED";

fn sum_on(pool: &Pool, n: u64) -> u64 {
    let sum = AtomicU64::new(0);
    locsteal::range(0..n).pool(pool).for_each(|i| {
        sum.fetch_add(i, Relaxed);
    });
    sum.into_inner()
}

fn confine_this_thread(cpus: &CpuSet) {
    let mut words = vec![0_u64; 1024];
    for cpu in cpus {
        words[cpu / 64] |= 1 << (cpu % 64);
    }
    // SAFETY: the kernel reads the words.
    let result = unsafe { libc::sched_setaffinity(0, 8 * words.len(), words.as_ptr().cast()) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// Makes a system call fail with an error number, in this thread and all that it starts from now on.
fn deny(call: libc::c_long, error: u32) {
    // Loads the number of the call; gives back the error if it is this one, else lets it through.
    let program = [
        (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call as u32),
        (libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | error),
        (libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let mut program =
        program.map(|(code, jt, jf, k)| libc::sock_filter { code: code as u16, jt, jf, k });
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: takes numbers alone.
    let unprivileged = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(unprivileged, 0, "{}", io::Error::last_os_error());
    // SAFETY: the kernel copies the program, which outlives the call.
    let denied =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    assert_eq!(denied, 0, "this test needs a kernel with seccomp: {}", io::Error::last_os_error());
}

#[test]
fn only_what_the_mask_allows_is_detected() {
    let before = own_affinity();
    let all = Topology::detect();
    assert_eq!(all.cpus().to_string(), before);
    for cpu in &all.cpus().clone() {
        let all = all.clone();
        std::thread::spawn(move || {
            let one: CpuSet = [cpu].into_iter().collect();
            confine_this_thread(&one);
            let machine = Topology::detect();
            assert_eq!(machine.cpus(), &one);
            assert_eq!(machine, Topology::read("/sys", &one));
            assert_eq!(machine.domain_of(cpu).is_some(), all.domain_of(cpu).is_some());
            assert_eq!(machine.node_of(cpu).is_some(), all.node_of(cpu).is_some());
        })
        .join()
        .unwrap();
    }
    assert_eq!(own_affinity(), before, "bit for bit");
}

#[test]
fn workers_are_where_their_seats_are() {
    let before = own_affinity();
    let machine = Topology::detect();
    let count = machine.cpus().len();
    for threads in 1..=count + 1 {
        let builder = || Pool::builder().threads(threads).placement(Placement::Cpu).name("placed");
        let plan = builder().plan().unwrap();
        let pool = builder().build().unwrap();
        assert_eq!(sum_on(&pool, 1000), 499_500);
        let mut masks: Vec<String> =
            threads_named("placed-").into_iter().map(affinity_of).collect();
        masks.sort_unstable();
        // A pool of one has no worker.
        let seats = if threads == 1 { 0..0 } else { 0..threads };
        let mut planned: Vec<String> =
            seats.map(|seat| plan.home(seat).cpu.unwrap().to_string()).collect();
        planned.sort_unstable();
        assert_eq!(masks, planned);
        let used: CpuSet = masks.iter().map(|mask| mask.parse::<usize>().unwrap()).collect();
        assert!(used.is_subset(machine.cpus()));
        assert_eq!(used.len(), masks.len().min(count));
        pool.shutdown();
        assert_eq!(own_affinity(), before);
    }
}

#[test]
fn loops_run_where_calls_for_masks_are_forbidden() {
    let name = "loops_run_where_calls_for_masks_are_forbidden";
    let Ok(denied) = std::env::var(DENIED) else {
        for call in ["get", "set"] {
            for error in [libc::EPERM, libc::ENOSYS, libc::EINVAL] {
                let output = run_again(name, &[(DENIED, &format!("{call} {error}"))]);
                let (out, said) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
                assert!(
                    output.status.success(),
                    "{call} {error}: {said}{}",
                    String::from_utf8_lossy(out)
                );
                assert_eq!(said, "", "nothing but the pool's own report");
            }
        }
        return;
    };

    let (call, error) = denied.split_once(' ').unwrap();
    let error: i32 = error.parse().unwrap();
    let before = own_affinity();
    let number =
        if call == "get" { libc::SYS_sched_getaffinity } else { libc::SYS_sched_setaffinity };
    deny(number, error as u32);

    let machine = Topology::detect();
    let unreadable = format!(
        "the affinity mask cannot be read ({}): all online CPUs are taken as allowed",
        io::Error::from_raw_os_error(error)
    );
    assert_eq!(machine.notes().contains(&unreadable), call == "get", "{:?}", machine.notes());
    assert!(!machine.cpus().is_empty());

    let pool = Pool::builder().threads(3).placement(Placement::Cpu).build().unwrap();
    assert_eq!(pool.threads(), 3);
    assert_eq!(sum_on(&pool, 1000), 499_500);
    let report = pool.locality();
    let complaints = report.lines().iter().filter(|line| line.contains("could not be confined"));
    assert_eq!(complaints.count(), usize::from(call == "set"), "{report}");
    assert_eq!(report.is_on(), call == "get", "{report}");

    assert_eq!(sum_on(Pool::global(), 1000), 499_500);
    assert_eq!(own_affinity(), before);
}
