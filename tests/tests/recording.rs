//! Recording loops: every iteration once, in the row of who ran it; nothing while nothing is recorded; reports.

use locsteal::timeline::{Origin, Timeline};
use locsteal::{Placement, Pool, Schedule, Stats, Topology, par_for};

fn pool(threads: usize) -> Pool {
    // Seats have homes whatever machine this runs on.
    let machine = Topology::regular(2, 2, 2);
    Pool::builder().threads(threads).topology(machine).placement(Placement::Llc).build().unwrap()
}

const SCHEDULES: [Schedule; 7] = [
    Schedule::Auto,
    Schedule::Static,
    Schedule::StaticChunk(7),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(13),
    Schedule::Serial,
];

fn iterations_of(timeline: &Timeline, of: usize) -> Vec<u64> {
    let chunks = timeline.chunks().iter().filter(|chunk| chunk.of == of);
    let mut all: Vec<u64> = chunks.flat_map(|chunk| chunk.iterations.clone()).collect();
    all.sort_unstable();
    all
}

#[test]
fn every_iteration_is_in_one_chunk_of_its_loop() {
    for threads in [1, 2, 8] {
        let pool = pool(threads);
        let recording = pool.record();
        for schedule in SCHEDULES {
            let name = format!("{schedule:?}");
            locsteal::range(0..5000).pool(&pool).schedule(schedule).name(name).for_each(|i| {
                std::hint::black_box(i);
            });
        }
        let timeline = recording.finish();
        assert_eq!(timeline.rows().len(), threads + 1, "the pool's seats, and this thread");
        assert_eq!(timeline.loops().len(), SCHEDULES.len());
        for (of, (timed, schedule)) in timeline.loops().iter().zip(SCHEDULES).enumerate() {
            assert_eq!(timed.name, format!("{schedule:?}"));
            assert_eq!(timed.iterations, 5000);
            assert_eq!(
                iterations_of(&timeline, of),
                (0..5000).collect::<Vec<u64>>(),
                "{schedule:?}"
            );
        }
        for chunk in timeline.chunks() {
            let timed = &timeline.loops()[chunk.of];
            assert!(chunk.time.start < chunk.time.end);
            assert!(timed.time.start <= chunk.time.start && chunk.time.end <= timed.time.end);
        }
    }
}

#[test]
fn origins_tell_the_seat_from_whose_block_iterations_came() {
    let pool = pool(8);
    let recording = pool.record();
    for _ in 0..50 {
        locsteal::range(0..8000).pool(&pool).schedule(Schedule::Steal).for_each(|i| {
            std::hint::black_box(i);
        });
    }
    locsteal::range(0..100).pool(&pool).schedule(Schedule::DynamicChunk(10)).for_each(|i| {
        std::hint::black_box(i);
    });
    let timeline = recording.finish();
    for chunk in timeline.chunks() {
        if chunk.of == 50 {
            assert_eq!(chunk.origin, Origin::Shared);
            continue;
        }
        let row = &timeline.rows()[chunk.row];
        if row.caller.is_some() {
            continue;
        }
        // The first seat has the last block.
        let home = 7 - chunk.iterations.start / 1000;
        match chunk.origin {
            Origin::Own => assert_eq!(home, row.seat as u64),
            Origin::Other(tier) => {
                assert_ne!(home, row.seat as u64);
                let far = home / 4 != row.seat as u64 / 4;
                assert_eq!(far, tier == locsteal::Tier::Remote, "{home} to {}", row.seat);
            }
            other @ Origin::Shared => panic!("{other:?}"),
        }
    }
}

#[test]
fn loops_inside_loops_and_from_other_threads_are_recorded_too() {
    let pool = pool(4);
    let recording = pool.record();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                locsteal::range(0..8).pool(&pool).name("outer").for_each(|_| {
                    locsteal::range(0..100).pool(&pool).name("inner").for_each(|i| {
                        std::hint::black_box(i);
                    });
                });
            });
        }
    });
    let timeline = recording.finish();
    let named = |name| timeline.loops().iter().filter(move |timed| timed.name == name).count();
    assert_eq!((named("outer"), named("inner")), (2, 16));
    for (of, timed) in timeline.loops().iter().enumerate() {
        assert_eq!(iterations_of(&timeline, of).len() as u64, timed.iterations);
    }
    assert!(timeline.to_svg().ends_with("</svg>\n"));
}

#[test]
fn a_loop_that_panics_or_is_left_is_recorded_as_far_as_it_went() {
    let pool = pool(4);
    let recording = pool.record();
    let left = locsteal::range(0..1000).pool(&pool).find_first(|&i| i == 300);
    assert_eq!(left, Some(300));
    let panicked = std::panic::catch_unwind(|| {
        locsteal::range(0..1000).pool(&pool).for_each(|i| assert_ne!(i, 500));
    });
    assert!(panicked.is_err());
    let timeline = recording.finish();
    assert_eq!(timeline.loops().len(), 2);
    assert!(iterations_of(&timeline, 0).starts_with(&(0..=300).collect::<Vec<u64>>()));
}

#[test]
fn a_trace_is_json_that_holds_every_loop_and_chunk() {
    let pool = pool(4);
    let recording = pool.record();
    let name = "in<n>er & \"quoted\"\n\u{1}";
    locsteal::range(0..1000).pool(&pool).name(name).schedule(Schedule::DynamicChunk(100)).for_each(
        |i| {
            std::hint::black_box(i);
        },
    );
    let timeline = recording.finish();
    let trace: serde_json::Value = serde_json::from_str(&timeline.to_trace()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let complete: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(complete.len(), 1 + 10);
    for event in complete {
        assert_eq!(event["name"], name);
        let same_place = |other: &&serde_json::Value| {
            other["name"] == "thread_name"
                && other["pid"] == event["pid"]
                && other["tid"] == event["tid"]
        };
        assert!(event["args"]["width"] == 4 || events.iter().any(|other| same_place(&other)));
        assert!(event["dur"].as_f64() > Some(0.0));
    }
}

#[test]
fn what_is_not_recorded_leaves_no_trace() {
    let pool = pool(4);
    let run = || {
        locsteal::range(0..100).pool(&pool).for_each(|i| {
            std::hint::black_box(i);
        });
    };
    run();
    drop(pool.record());
    run();
    let recording = pool.record();
    assert_eq!(recording.finish().loops(), []);
    let recording = pool.record();
    run();
    let timeline = recording.finish();
    run();
    assert_eq!(timeline.loops().len(), 1);
}

#[test]
fn a_report_counts_one_loop() {
    for threads in [1, 4] {
        let pool = pool(threads);
        for schedule in SCHEDULES {
            let before = pool.stats();
            let mut stats = Stats::default();
            locsteal::range(0..5000).pool(&pool).schedule(schedule).report(&mut stats).for_each(
                |i| {
                    std::hint::black_box(i);
                },
            );
            assert_eq!(stats.iterations, 5000, "{schedule:?}");
            assert_eq!(stats.loops + stats.serial_loops, 1);
            assert_eq!((pool.stats() - before).loops, stats.loops);
            assert!(stats.moved.total() <= 5000 && stats.chunks >= 1);
        }
    }
}

/// A loop whose first chunk is handed over in any case; the rest is as it comes.
#[par_for(pool = pool, schedule = steal)]
fn reported(pool: &Pool, n: u64, first: &mut Stats, second: &mut Stats) -> (u64, Option<u64>) {
    let mut sum = 0;
    #[par_for(report = first, reduce(+: sum))]
    for i in 0..n {
        sum += i;
    }
    #[par_for(schedule = serial, report = &mut *second)]
    for i in 0..n {
        if i == 10 {
            return (sum, Some(i));
        }
    }
    (sum, None)
}

#[test]
fn the_clause_reports_each_loop_on_its_own() {
    for threads in [1, 4] {
        let pool = pool(threads);
        let (mut first, mut second) = (Stats::default(), Stats::default());
        let before = pool.stats();
        let sum = reported(&pool, 1000, &mut first, &mut second);
        assert_eq!(sum, (499_500, Some(10)));
        assert_eq!((first.iterations, first.loops + first.serial_loops), (1000, 1));
        assert_eq!((second.iterations, second.loops, second.serial_loops), (11, 0, 1));
        let counted = pool.stats() - before;
        assert_eq!(counted.loops, first.loops);
        assert_eq!((counted.moved, counted.steals), (first.moved, first.steals));
    }
}

#[test]
fn what_is_counted_and_reported_is_told_to_people_and_machines() {
    let pool = pool(4);
    let mut stats = Stats::default();
    locsteal::range(0..100_000).pool(&pool).schedule(Schedule::Steal).report(&mut stats).for_each(
        |i| {
            std::hint::black_box(i);
        },
    );
    let said = stats.to_string();
    assert!(said.contains("loops: 1 shared, 0 on the caller alone"), "{said}");
    assert!(said.contains(&format!("iterations: 100000 in {} chunks", stats.chunks)), "{said}");
    assert!(said.contains(&format!("iterations moved: {}", stats.moved)), "{said}");

    let json = serde_json::to_value(stats).unwrap();
    assert_eq!(json["iterations"], 100_000);
    assert_eq!(json["moved"]["remote"], stats.moved.remote);
    assert_eq!(serde_json::from_value::<Stats>(json).unwrap(), stats);
    // Numbers that an older version did not count are zero.
    let old: Stats = serde_json::from_str(r#"{"loops": 2, "steals": {"llc": 3}}"#).unwrap();
    assert_eq!((old.loops, old.steals.llc, old.steals.remote, old.chunks), (2, 3, 0, 0));

    let locality = serde_json::to_value(pool.locality()).unwrap();
    assert_eq!(locality["on"], true);
    assert_eq!(locality["lines"].as_array().unwrap().len(), pool.locality().lines().len());

    locsteal::spawn_near!(<name = "told", weight = 5, pool = &pool> || ()).join();
    let sites = serde_json::to_value(locsteal::callsites()).unwrap();
    let told = sites.as_array().unwrap().iter().find(|site| site["name"] == "told").unwrap();
    assert_eq!((&told["kind"], &told["size"]), (&"Job".into(), &4.into()));
    assert_eq!(told["place"]["file"], file!());
}
