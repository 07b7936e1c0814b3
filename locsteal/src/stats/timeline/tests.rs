use std::thread;
use std::time::Duration;

use super::*;

/// Two nodes of two caches of two seats each; times are microseconds.
fn timeline(tracks: Vec<Track>) -> Timeline {
    let place = |seat: usize| (Some(seat / 2), Some(seat / 4));
    Timeline::new(tracks, 8, place, Duration::from_micros)
}

fn track(who: Who, of: u64, chunks: &[(Range<u64>, Range<u64>, Origin)]) -> Track {
    let mut track = Track::new(who, LoopId::Shared(0, of));
    for (iterations, time, origin) in chunks {
        track.begins(iterations.clone(), *origin, time.start);
        track.ends(time.end);
    }
    track
}

fn launch(mut track: Track, name: &str, iterations: u64, time: Range<u64>) -> Track {
    track.launch = Some(Launch { name: name.into(), iterations, width: 8, time });
    track
}

/// A caller near seat 2, and workers 0 and 5; then a second loop launched by worker 5 inside the first one.
fn sample() -> Timeline {
    let caller = Who::Caller(thread::current().id(), 2);
    timeline(vec![
        track(Who::Worker(5), 1, &[(50..60, 10..90, Origin::Own)]),
        launch(
            track(Who::Worker(5), 2, &[(0..4, 20..60, Origin::Shared)]),
            "in<n>er & \"quoted\"\n",
            4,
            20..70,
        ),
        track(Who::Worker(0), 1, &[(60..70, 15..40, Origin::Other(Tier::Remote))]),
        launch(
            track(
                caller,
                1,
                &[(0..30, 5..50, Origin::Own), (30..50, 50..80, Origin::Other(Tier::Llc))],
            ),
            "",
            100,
            1..100,
        ),
        // A loop that is not over.
        track(Who::Worker(1), 3, &[(0..9, 0..9, Origin::Own)]),
    ])
}

#[test]
fn rows_are_grouped_and_chunks_find_theirs() {
    let timeline = sample();
    let names: Vec<String> = timeline.rows().iter().map(Row::name).collect();
    let expected =
        ["seat 0", "seat 1", "seat 2", "caller", "seat 3", "seat 4", "seat 5", "seat 6", "seat 7"];
    assert_eq!(names, expected);
    let loops: Vec<&str> = timeline.loops().iter().map(|timed| timed.name.as_str()).collect();
    assert_eq!(loops, ["loop 1", "in<n>er & \"quoted\"\n"], "by the time of launching");
    let chunks: Vec<(usize, usize, u64)> = timeline
        .chunks()
        .iter()
        .map(|chunk| (chunk.row, chunk.of, chunk.iterations.start))
        .collect();
    assert_eq!(chunks, [(0, 0, 60), (3, 0, 0), (3, 0, 30), (6, 0, 50), (6, 1, 0)]);
    assert_eq!(timeline.chunks()[1].time, Duration::from_micros(5)..Duration::from_micros(50));
}

#[test]
fn it_is_summed_up_in_words() {
    let text = sample().to_string();
    assert!(text.starts_with("2 loops, 5 chunks, 74 iterations in 100.0µs"), "{text}");
    assert!(text.contains("27.0 % from: same cache"), "{text}");
    assert!(!text.contains("same node"), "{text}");
}

#[test]
fn the_picture_shows_every_chunk_and_is_well_formed() {
    let picture = sample().to_svg();
    for part in [
        "seat 5, loop 1: 50..60 from own block, 80.00µs at 10.00µs",
        "caller, loop 1: 30..50 from same cache",
        "seat 0, loop 1: 60..70 from another node",
        "in&lt;n&gt;er &amp; &quot;quoted&quot;",
        "node 1",
        "cache 2",
    ] {
        assert!(picture.contains(part), "{part}");
    }
    assert!(well_formed(&picture));
    assert!(well_formed(&timeline(Vec::new()).to_svg()));
}

#[test]
fn chunks_too_narrow_to_see_are_drawn_as_one() {
    let chunks: Vec<_> =
        (0..100_000).map(|i| (i..i + 1, 10 * i..10 * i + 9, Origin::Own)).collect();
    let track = track(Who::Worker(0), 1, &chunks);
    let picture = timeline(vec![launch(track, "many", 100_000, 0..1_000_000)]).to_svg();
    assert!(picture.len() < 1_000_000, "{} bytes", picture.len());
    assert!(picture.contains("chunks, "));
}

#[test]
fn a_recording_holds_the_loops_that_were_launched_while_it_was_open() {
    let recorder = Recorder::default();
    let keep = |of, launched: u64| {
        let worker = track(Who::Worker(0), of, &[]);
        recorder.keep(worker.clone());
        recorder.keep(launch(worker, "", 1, launched..launched + 1));
    };
    keep(1, 5);
    recorder.begin();
    keep(2, 10);
    recorder.begin();
    keep(3, 20);
    let count = |tracks: Vec<Track>| tracks.len();
    assert_eq!(count(recorder.end(15)), 2, "the second recording");
    assert!(recorder.is_on());
    assert_eq!(count(recorder.end(8)), 4, "the first one");
    assert!(!recorder.is_on());
    recorder.begin();
    assert_eq!(count(recorder.end(0)), 0, "nothing is left over");
}

/// Whether all tags are closed in order, and no stray special character stands between them.
fn well_formed(text: &str) -> bool {
    let mut open = Vec::new();
    let mut parts = text.split('<');
    if parts.next().is_some_and(|before| !before.trim().is_empty()) {
        return false;
    }
    for part in parts {
        let Some((tag, rest)) = part.split_once('>') else { return false };
        if rest.contains('"') || tag.matches('"').count() % 2 != 0 {
            return false;
        }
        let name = |tag: &str| tag.split_whitespace().next().unwrap_or("").to_owned();
        if let Some(closed) = tag.strip_prefix('/') {
            if open.pop() != Some(name(closed)) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name(tag));
        }
    }
    open.is_empty()
}
