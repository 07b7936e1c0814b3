//! This machine: what is detected under narrow masks, and what happens where a sandbox forbids the kernel's calls
//! for affinity masks.
#![cfg(target_os = "linux")]

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use locsteal::{CpuSet, Placement, Pool, Schedule, Topology};
use locsteal_tests::locality::kernel;
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
    // Where the pool begins is said, since this thread may move between planning and building.
    let near = machine.cpus().first().expect("a CPU");
    for threads in 1..=count + 1 {
        let builder =
            || Pool::builder().threads(threads).placement(Placement::Cpu).name("placed").near(near);
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
    // Where the mask cannot be read, all CPUs are taken as allowed; a container may forbid some all the same.
    let can_be_had = |cpu: usize| {
        let set = move || kernel::set_mask(0, &[cpu].into()).is_ok();
        std::thread::spawn(set).join().unwrap()
    };
    let online = kernel::Machine::read().online;
    let forbidden: Vec<usize> = online.into_iter().filter(|&cpu| !can_be_had(cpu)).collect();
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

    let near = machine.cpus().first().expect("a CPU");
    let builder = Pool::builder().threads(3).placement(Placement::Cpu).near(near);
    let plan = builder.clone().plan().unwrap();
    // Nobody need be confined where there is but one CPU.
    let fails = |seat| {
        let home = plan.home(seat);
        home.mask.is_some() && (call == "set" || forbidden.contains(&home.cpu.unwrap()))
    };
    let fails = (0..3).any(fails);
    let pool = builder.build().unwrap();
    assert_eq!(pool.threads(), 3);
    assert_eq!(sum_on(&pool, 1000), 499_500);
    let report = pool.locality();
    let complaints = report.lines().iter().filter(|line| line.contains("could not be confined"));
    assert_eq!(complaints.count(), usize::from(fails), "{report}");
    assert_eq!(report.is_on(), !fails, "{report}");

    assert_eq!(sum_on(Pool::global(), 1000), 499_500);
    assert_eq!(own_affinity(), before);
}

/// A made-up machine on which two CPUs that this process may use have a cache each; those CPUs. `None` where it may use
/// but one, so that no mask of its threads can ever be another than it was.
fn two_caches() -> Option<(Topology, [usize; 2])> {
    let here: Vec<usize> = Topology::detect().cpus().iter().collect();
    let &[first, second, ..] = here.as_slice() else {
        assert_eq!(kernel::Machine::read().allowed, here.into_iter().collect());
        println!("one CPU: its threads are where they are, and there is nothing to notice");
        return None;
    };
    let mut machine = Topology::builder();
    for cpu in [first, second] {
        machine = machine.domain([cpu]);
    }
    Some((machine.build().unwrap(), [first, second]))
}

/// Each of two seats' threads gets a CPU; the kernel is told so by the thread itself.
#[test]
fn masks_that_a_start_handler_sets_are_noticed() {
    let Some((machine, cpus)) = two_caches() else { return };
    for placement in [Placement::Free, Placement::Llc, Placement::Cpu] {
        // The other way round than they would be.
        let handler =
            move |seat: usize| confine_this_thread(&[cpus[1 - seat]].into_iter().collect());
        let builder = Pool::builder().threads(2).placement(placement).topology(machine.clone());
        let pool = builder.near(cpus[0]).start_handler(handler).build().unwrap();
        let report = pool.locality();
        assert!(report.is_on(), "{placement}: {report}");
        let noticed = "the workers of seats 0-1 were given other masks before the first loop, and are taken to be there";
        assert!(report.lines().iter().any(|line| line == noticed), "{placement}: {report}");

        // A caller on the first CPU sits at the seat whose thread is there.
        let seat = seat_of_caller(&pool, cpus[0]);
        assert_eq!(seat, 1, "{placement}");
        assert_eq!(pool.locality().to_string(), report.to_string(), "{placement}: after a loop");
    }
}

/// The seat of a caller on this CPU: the block of a loop that it runs first.
fn seat_of_caller(pool: &Pool, cpu: usize) -> usize {
    let run = || {
        confine_this_thread(&[cpu].into_iter().collect());
        let (caller, first) = (std::thread::current().id(), std::sync::OnceLock::new());
        locsteal::range(0..100_usize).pool(pool).schedule(Schedule::Steal).for_each(|i| {
            if std::thread::current().id() == caller {
                let _ = first.set(i);
            }
        });
        let block = first.into_inner().expect("the caller takes part") * pool.threads() / 100;
        // The first seat has the last block.
        pool.threads() - 1 - block
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap()
}

/// Masks that another thread sets by the threads' numbers count until the first loop.
#[test]
fn masks_that_others_set_are_noticed_before_the_first_loop() {
    let Some((machine, cpus)) = two_caches() else { return };
    let make = |name: &str, placement| {
        let builder = Pool::builder().threads(2).placement(placement).topology(machine.clone());
        builder.near(cpus[0]).name(name).build().unwrap()
    };
    let tie = |name: &str, cpus: [&[usize]; 2]| {
        let workers = kernel::workers(name);
        assert_eq!(workers.len(), 2);
        for (seat, worker) in workers {
            kernel::set_mask(worker.thread, &cpus[seat].iter().copied().collect()).unwrap();
        }
    };
    let [first, second] = cpus;

    let pool = make("tied", Placement::Free);
    assert!(!pool.locality().is_on(), "{}", pool.locality());
    tie("tied", [&[second], &[first]]);
    assert!(pool.locality().is_on(), "{}", pool.locality());
    assert_eq!(seat_of_caller(&pool, first), 1);
    // Now it is settled.
    tie("tied", [&[first, second], &[first, second]]);
    assert!(pool.locality().is_on(), "{}", pool.locality());
    assert_eq!(seat_of_caller(&pool, first), 1);
    // Threads that are started afresh are what they were at first.
    pool.shutdown();
    assert_eq!(sum_on(&pool, 1000), 499_500);
    assert!(!pool.locality().is_on(), "{}", pool.locality());
    assert_eq!(pool.threads(), 2);

    let pool = make("freed", Placement::Llc);
    assert!(pool.locality().is_on(), "{}", pool.locality());
    tie("freed", [&[first], &[first, second]]);
    let report = pool.locality();
    assert!(!report.is_on(), "{report}");
    assert!(
        report.lines()[0].contains("the workers of seats 1 are not where they were put"),
        "{report}"
    );
    assert_eq!(sum_on(&pool, 1000), 499_500);
    assert_eq!(pool.locality().to_string(), report.to_string());
}

#[test]
fn a_start_handler_that_panics_costs_nothing_but_a_word() {
    let handler = |seat: usize| assert!(seat != 1, "seat {seat} is not wanted");
    let pool = Pool::builder().threads(3).start_handler(handler).build().unwrap();
    assert_eq!(pool.threads(), 3);
    assert_eq!(sum_on(&pool, 1000), 499_500);
    let told = "the start handler panicked on the workers of seats 1, which work nevertheless: seat 1 is not wanted";
    assert!(pool.locality().lines().iter().any(|line| line == told), "{}", pool.locality());
}

/// A caller in a node that has no seat sits in the nearest one that has, and goes by the order of its own.
#[test]
fn a_caller_far_from_all_seats_takes_the_nearest() {
    let here = Topology::detect().cpus().first().unwrap();
    let machine = |near: [u32; 2]| {
        let builder =
            Topology::builder().node(0, [here]).node(1, [1001, 1002]).node(2, [1003, 1004]);
        builder.distance(0, 1, near[0]).distance(0, 2, near[1]).build().unwrap()
    };
    for (distances, nearest) in [([30, 20], 2), ([20, 30], 0)] {
        let builder = Pool::builder().threads(4).placement(Placement::Llc);
        let pool = builder.topology(machine(distances)).near(1001).build().unwrap();
        assert_eq!(seat_of_caller(&pool, here), nearest, "nodes at {distances:?}");
    }
}
