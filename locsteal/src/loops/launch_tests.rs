//! Launching on real threads: every iteration once, whatever the schedule, width and length; exits; panics.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, Mutex};
use std::thread::ThreadId;

use super::auto::{Choice, Decision, Sample};
use super::launch::*;
use super::participant::Participant;
use super::site::Site;
use crate::pool::Pool;
use crate::sched::{Kind, Locality, Schedule};

struct EachChunk<F>(F);

impl<F: Fn(&Participant<'_>, std::ops::Range<u64>) + Sync> Entry for EachChunk<F> {
    fn run(&self, participant: &mut Participant<'_>) {
        while let Some(chunk) = participant.next() {
            (self.0)(participant, chunk);
        }
    }
}

const SCHEDULES: [Schedule; 9] = [
    Schedule::Auto,
    Schedule::Static,
    Schedule::StaticChunk(1),
    Schedule::StaticChunk(7),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::DynamicChunk(13),
    Schedule::Serial,
];

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

fn run(pool: &Pool, plan: &Plan, len: u64) {
    let counts: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
    let outcome = launch(
        pool,
        plan,
        len,
        &EachChunk(|_: &Participant<'_>, chunk: std::ops::Range<u64>| {
            assert!(!chunk.is_empty());
            for i in chunk {
                counts[i as usize].fetch_add(1, SeqCst);
            }
        }),
    );
    assert!(outcome.exit.is_none() && outcome.panic.is_none());
    for (i, count) in counts.iter().enumerate() {
        assert_eq!(count.load(SeqCst), 1, "iteration {i} of {len}, {plan:?}");
    }
}

#[test]
fn each_iteration_runs_once() {
    for threads in 1..=8 {
        let pool = pool(threads);
        for schedule in SCHEDULES {
            for locality in [Locality::Llc, Locality::Node, Locality::Flat] {
                for unit in [0, 3] {
                    for len in (0..3 * threads as u64 + 2).chain([63, 64, 65, 1000, 5000]) {
                        let plan = Plan { schedule, locality, unit, ..Plan::default() };
                        run(&pool, &plan, len);
                    }
                }
            }
            for (grain, threads) in [(1, 2), (10, 0), (u64::MAX, 3), (64, 1)] {
                run(&pool, &Plan { schedule, grain, threads, ..Plan::default() }, 200);
            }
        }
    }
}

#[test]
fn units_are_not_cut() {
    let pool = pool(4);
    for schedule in SCHEDULES {
        let plan = Plan { schedule, unit: 10, ..Plan::default() };
        launch(
            &pool,
            &plan,
            995,
            &EachChunk(|_: &Participant<'_>, chunk: std::ops::Range<u64>| {
                assert_eq!(chunk.start % 10, 0);
                assert!(chunk.end.is_multiple_of(10) || chunk.end == 995);
            }),
        );
    }
}

#[test]
fn a_panic_in_any_seat_reaches_the_caller_and_leaves_the_pool_well() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for schedule in SCHEDULES {
            for bad in [0, 1, 50, 99] {
                let outcome = launch(
                    &pool,
                    &Plan { schedule, ..Plan::default() },
                    100,
                    &EachChunk(|participant: &Participant<'_>, chunk: std::ops::Range<u64>| {
                        for i in chunk {
                            if i == bad {
                                participant.panicked_at(i);
                                std::panic::resume_unwind(Box::new(i));
                            }
                        }
                    }),
                );
                let (position, payload) = outcome.panic.expect("the panic is handed over");
                assert_eq!((position, *payload.downcast::<u64>().unwrap()), (bad, bad));
            }
            run(&pool, &Plan { schedule, ..Plan::default() }, 300);
        }
    }
}

#[test]
fn when_every_iteration_panics_few_are_started() {
    let pool = pool(4);
    let started = AtomicU64::new(0);
    let outcome = launch(
        &pool,
        &Plan::default(),
        1_000_000,
        &EachChunk(|_: &Participant<'_>, _| {
            started.fetch_add(1, SeqCst);
            std::panic::resume_unwind(Box::new(()));
        }),
    );
    assert!(outcome.panic.is_some());
    assert!(started.load(SeqCst) <= 8, "{started:?} chunks");
}

#[test]
fn the_lowest_exit_wins_and_everything_below_it_has_run() {
    for threads in [1, 2, 4, 8] {
        let pool = pool(threads);
        for schedule in SCHEDULES {
            for lowest in [0, 1, 17, 499, 998, 999] {
                let len = 1000;
                let counts: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
                let outcome = launch(
                    &pool,
                    &Plan { schedule, ..Plan::default() },
                    len,
                    &EachChunk(|participant: &Participant<'_>, chunk: std::ops::Range<u64>| {
                        for i in chunk {
                            if i >= participant.bound() {
                                break;
                            }
                            counts[i as usize].fetch_add(1, SeqCst);
                            if i >= lowest {
                                participant.exit_at(i);
                                break;
                            }
                        }
                    }),
                );
                assert_eq!(outcome.exit, Some(lowest), "{schedule:?}");
                for (i, count) in counts.iter().enumerate() {
                    let count = count.load(SeqCst);
                    assert!(count == 1 || i as u64 > lowest && count == 0, "{i} ran {count} times");
                }
            }
            run(&pool, &Plan { schedule, ..Plan::default() }, 300);
        }
    }
}

#[test]
fn a_panic_above_an_exit_does_not_count() {
    for schedule in SCHEDULES {
        for threads in [1, 4] {
            let pool = pool(threads);
            let ran = AtomicU64::new(0);
            let outcome = launch(
                &pool,
                &Plan { schedule, ..Plan::default() },
                100,
                &EachChunk(|participant: &Participant<'_>, chunk: std::ops::Range<u64>| {
                    for i in chunk {
                        // Every iteration knows of the exit before it panics.
                        participant.exit_at(20);
                        if i > 20 {
                            participant.panicked_at(i);
                            std::panic::resume_unwind(Box::new(()));
                        }
                        ran.fetch_add(u64::from(i < 20), SeqCst);
                    }
                }),
            );
            assert!(outcome.panic.is_none());
            assert_eq!((outcome.exit, ran.load(SeqCst)), (Some(20), 20), "{schedule:?}");
        }
    }
}

#[test]
fn payloads_that_panic_when_dropped_are_harmless() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("dropped"));
        }
    }
    let pool = pool(4);
    for _ in 0..50 {
        let barrier = AtomicUsize::new(0);
        let outcome = launch(
            &pool,
            &Plan { schedule: Schedule::DynamicChunk(1), ..Plan::default() },
            64,
            &EachChunk(|_: &Participant<'_>, _| {
                barrier.fetch_add(1, SeqCst);
                std::panic::resume_unwind(Box::new(Bomb));
            }),
        );
        std::mem::forget(outcome.panic.unwrap());
    }
    run(&pool, &Plan::default(), 300);
}

#[test]
fn nested_loops_and_many_callers_end() {
    let pool = pool(4);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let sum = AtomicU64::new(0);
                    let each = |_: &Participant<'_>, outer: std::ops::Range<u64>| {
                        for i in outer {
                            let inner = |_: &Participant<'_>, chunk: std::ops::Range<u64>| {
                                for j in chunk {
                                    let innermost =
                                        |_: &Participant<'_>, chunk: std::ops::Range<u64>| {
                                            sum.fetch_add(chunk.map(|k| i + j + k).sum(), SeqCst);
                                        };
                                    launch(&pool, &Plan::default(), 3, &EachChunk(innermost));
                                }
                            };
                            launch(&pool, &Plan::default(), 4, &EachChunk(inner));
                        }
                    };
                    launch(&pool, &Plan::default(), 5, &EachChunk(each));
                    // Sum of i + j + k over 5 x 4 x 3.
                    assert_eq!(sum.load(SeqCst), 60 * 2 + 15 * 6 + 20 * 3);
                }
            });
        }
    });
}

#[test]
fn workers_take_part_and_go_on_doing_so_after_a_panic() {
    let pool = pool(3);
    let all_come = || {
        let threads: Mutex<HashSet<ThreadId>> = Mutex::default();
        // Three chunks that wait for each other need three threads.
        let barrier = Barrier::new(3);
        launch(
            &pool,
            &Plan { schedule: Schedule::DynamicChunk(1), ..Plan::default() },
            3,
            &EachChunk(|_: &Participant<'_>, _| {
                threads.lock().unwrap().insert(std::thread::current().id());
                barrier.wait();
            }),
        );
        assert_eq!(threads.into_inner().unwrap().len(), 3);
    };
    all_come();
    let panics = EachChunk(|_: &Participant<'_>, _| std::panic::resume_unwind(Box::new(())));
    assert!(launch(&pool, &Plan::default(), 100, &panics).panic.is_some());
    all_come();
    pool.shutdown();
    all_come();
}

#[test]
fn huge_loops_stop_at_once() {
    let pool = pool(2);
    for schedule in SCHEDULES {
        for len in [1 << 33, 1 << 40, MAX_LEN] {
            let outcome = launch(
                &pool,
                &Plan { schedule, ..Plan::default() },
                len,
                &EachChunk(|participant: &Participant<'_>, chunk: std::ops::Range<u64>| {
                    participant.exit_at(chunk.start);
                }),
            );
            assert_eq!(outcome.exit, Some(0), "{schedule:?} {len}");
        }
    }
}

#[test]
fn an_entry_that_panics_before_its_first_chunk_stops_the_loop() {
    struct Eager;
    impl Entry for Eager {
        fn run(&self, _: &mut Participant<'_>) {
            std::panic::resume_unwind(Box::new("no state"));
        }
    }
    for threads in [1, 4] {
        let pool = pool(threads);
        let outcome = launch(&pool, &Plan::default(), 1000, &Eager);
        assert_eq!(outcome.panic.unwrap().0, 0);
        run(&pool, &Plan::default(), 100);
    }
}

#[test]
fn a_panic_after_the_last_chunk_counts_and_is_later_than_those_of_iterations() {
    /// Runs two iterations on two threads, and panics in the one that is bad, and then at the end of all who come there.
    struct AtTheEnd {
        bad: Option<u64>,
        both: Barrier,
    }
    impl Entry for AtTheEnd {
        fn run(&self, participant: &mut Participant<'_>) {
            while let Some(chunk) = participant.next() {
                self.both.wait();
                if self.bad == Some(chunk.start) {
                    std::panic::resume_unwind(Box::new("iteration"));
                }
                participant.exit_at(chunk.start);
            }
            std::panic::resume_unwind(Box::new("end"));
        }
    }
    let pool = pool(2);
    let plan = Plan { schedule: Schedule::DynamicChunk(1), ..Plan::default() };
    for (bad, says) in [(None, "end"), (Some(0), "iteration"), (Some(1), "iteration")] {
        for _ in 0..20 {
            let outcome = launch(&pool, &plan, 2, &AtTheEnd { bad, both: Barrier::new(2) });
            let (position, payload) = outcome.panic.expect("the loop panics");
            // Where the first iteration leaves the loop, the second one's panic may count for nothing.
            let said = *payload.downcast::<&str>().unwrap();
            assert!(said == says || (bad, said) == (Some(1), "end"), "{bad:?}: {said}");
            assert_eq!(position, bad.filter(|_| said == "iteration").unwrap_or(u64::MAX));
            assert_eq!(outcome.exit, None);
        }
    }
    run(&pool, &Plan::default(), 300);
}

#[test]
fn shutdown_from_everywhere_returns() {
    let pool = pool(3);
    let each = |_: &Participant<'_>, _| pool.shutdown();
    for _ in 0..20 {
        launch(&pool, &Plan::default(), 30, &EachChunk(each));
        run(&pool, &Plan::default(), 100);
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    run(&pool, &Plan::default(), 50);
                    pool.shutdown();
                }
            });
        }
    });
    assert!(catch_unwind(AssertUnwindSafe(|| pool.shutdown())).is_ok());
}

#[test]
fn tiny_loops_are_held_for_their_callers_and_loops_that_are_left_grow() {
    let plan = Plan { schedule: Schedule::Static, ..Plan::default() };
    let shape = |len| plan.shape(len, 4);
    assert!(shape(4095).tiny && !shape(4096).tiny);
    assert!(!shape(4095).is_protected() && shape(4096).is_protected());
    assert_eq!([2, 64, 65, 4095].map(|len| plan.hold(len, true)), [1, 1, 2, 2]);
    assert_eq!(plan.hold(4096, false), 0);
    assert_eq!(Plan { eager: true, ..plan }.hold(2, true), 0, "sharing is known to pay");
    let dynamic = Plan { schedule: Schedule::Dynamic, ..Plan::default() };
    assert!(!dynamic.shape(1 << 20, 4).is_protected());
    assert_eq!(dynamic.shape(10, 2).kind, Kind::Dynamic);
    assert_eq!(Plan { growing: true, ..dynamic }.shape(10, 2).kind, Kind::Growing);
}

#[test]
fn workers_come_at_once_where_a_call_site_has_chosen_to_share() {
    static SITE: Site = Site::new(None, "src/lib.rs:1:1");
    let pool = pool(2);
    let held = |plan: &Plan<'_>| {
        run(&pool, plan, 8);
        pool.shared().watched()[0].epoch().hold()
    };
    let forced = Plan { schedule: Schedule::Steal, grain: 1, ..Plan::default() };
    assert_eq!(held(&forced), 1);
    assert_eq!(held(&Plan { schedule: Schedule::Auto, site: Some(&SITE), ..forced }), 0);
}

#[test]
fn workers_are_told_how_long_to_hold_back() {
    let pool = pool(2);
    for schedule in [Schedule::Static, Schedule::Steal, Schedule::Dynamic] {
        for (len, expected) in [(2, 1), (100, 2), (5000, 0)] {
            let plan = Plan { schedule, grain: 1, ..Plan::default() };
            let body = |_: &Participant<'_>, _| {
                let [lane] = pool.shared().watched() else { panic!("there is one loop at a time") };
                assert_eq!(lane.epoch().hold(), expected, "{schedule:?}, {len}");
            };
            assert!(launch(&pool, &plan, len, &EachChunk(body)).panic.is_none());
        }
    }
}

#[test]
fn who_runs_an_iteration_is_inside_and_nobody_else() {
    let pool = pool(2);
    for schedule in [Schedule::Static, Schedule::Steal, Schedule::Dynamic] {
        let plan = Plan { schedule, grain: 1, ..Plan::default() };
        let body = |_: &Participant<'_>, _| assert!(is_inside());
        let outcome = launch(&pool, &plan, 2, &EachChunk(body));
        assert!(outcome.panic.is_none() && !is_inside(), "{schedule:?}");
        let stopped =
            launch(&pool, &plan, 2, &EachChunk(|_: &Participant<'_>, _| panic!("on purpose")));
        assert!(stopped.panic.is_some() && !is_inside(), "{schedule:?}");
    }
    let alone = Plan { schedule: Schedule::Serial, ..Plan::default() };
    let body = |_: &Participant<'_>, _| assert!(!is_inside(), "the others are free");
    assert!(launch(&pool, &alone, 2, &EachChunk(body)).panic.is_none());
}

/// Once it is known to be small, a loop is left to its caller while another one is shared.
#[test]
fn small_loops_of_callers_at_once_are_not_shared() {
    static SITE: Site = Site::new(None, "src/lib.rs:2:2");
    let pool = pool(2);
    let small = Plan { schedule: Schedule::Auto, site: Some(&SITE), grain: 1, ..Plan::default() };
    let shared = |plan: &Plan<'_>| {
        let before = pool.stats();
        run(&pool, plan, 8);
        (pool.stats() - before).loops == 1
    };
    assert!(shared(&small), "nothing is known, so sharing is tried");
    // Sharing pays so much that the serial loop is not tried again, and takes little.
    while let Decision { choice, measured: true, .. } = SITE.memory().decide(8, || false) {
        let ns = if choice == Choice::Serial { 15_000 } else { 1500 };
        SITE.learn(8, Sample { choice, ns, left_after: None, in_company: false });
    }
    assert!(shared(&small));
    let other = pool.shared().claim_lane().expect("lanes are free");
    assert!(!shared(&small), "the workers may be with the other caller");
    other.release();
    assert!(shared(&small));
}

/// What may be left begins with its first iterations, where the caller is at once.
#[test]
fn who_calls_has_the_front_of_a_loop_that_may_be_left_and_else_the_back() {
    let plan = Plan { schedule: Schedule::Static, ..Plan::default() };
    let block = |plan: &Plan<'_>, seat| plan.shape(1000, 2).deal.block(seat);
    assert_eq!(block(&plan, 0).hi, 1000);
    let leaving = Plan { may_be_left: true, ..plan };
    assert_eq!((block(&leaving, 0).lo, block(&leaving, 1).hi), (0, 1000));
    let caller = std::thread::current().id();
    let highest = AtomicUsize::new(0);
    let pool = pool(2);
    let first =
        crate::range(0..1_000_000_usize).pool(&pool).schedule(Schedule::Static).find_first(|i| {
            if std::thread::current().id() == caller {
                highest.fetch_max(*i, SeqCst);
            }
            true
        });
    assert_eq!((first, highest.into_inner()), (Some(0), 0));
}
