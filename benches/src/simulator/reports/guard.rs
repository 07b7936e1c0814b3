//! What the affinity guard's steps take, by the real kernel: no simulation, but the same door into the library.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use locsteal::__simulator::guarding::{Stage, Unpinned};

use crate::table::{Table, duration};

const SAMPLES: usize = 400;
/// Operations in a sample.
const EACH: usize = 50;

pub(crate) fn print() -> Result<(), String> {
    let stage = Stage::new()
        .ok_or("a guard acts where a thread may use two CPUs or more; this one may not")?;
    println!(
        "The affinity guard on this machine: the CPUs that are there as one last-level cache, and a made-up one beside it, so\n\
         that the guard acts. Its calls are the kernel's own. Median, and what nine of ten take at most.\n"
    );
    let mut table = Table::new(["what", "median", "90 %"]);
    let mut row = |what: &str, mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| duration(times[(share * (times.len() - 1) as f64) as usize]);
        table.row([what.into(), at(0.5), at(0.9)]);
    };
    row(
        "one cache: nothing to choose",
        time(|| {
            black_box(stage.pin_where_there_is_one().is_ok());
        }),
    );
    row(
        "pinned and restored, on CPUs that it may stay on",
        time(|| {
            black_box(stage.pin().is_ok());
        }),
    );
    let outer = stage.pin().map_err(|why| format!("the guard refuses to act: {why}"))?;
    row(
        "refused: an outer guard of the thread is alive",
        time(|| {
            let refused = stage.pin().err();
            debug_assert_eq!(refused, Some(Unpinned::Nested));
            black_box(refused);
        }),
    );
    drop(outer);
    let (full, go_on) = (Barrier::new(stage.cap() + 1), Barrier::new(stage.cap() + 1));
    let refused = std::thread::scope(|scope| {
        for _ in 0..stage.cap() {
            scope.spawn(|| {
                let pin = stage.pin();
                full.wait();
                go_on.wait();
                drop(pin);
            });
        }
        full.wait();
        let times = time(|| {
            let refused = stage.pin().err();
            debug_assert_eq!(refused, Some(Unpinned::Full));
            black_box(refused);
        });
        go_on.wait();
        times
    });
    row("refused: all but one of the CPUs have a pinned thread", refused);
    let failed = |error: std::io::Error| format!("a thread could not be moved: {error}");
    let moves: Result<Vec<f64>, String> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            stage.move_on().map_err(failed)?;
            let took = start.elapsed().as_nanos() as f64;
            stage.restore().map_err(failed)?;
            Ok(took)
        })
        .collect();
    row("a thread that must move to another CPU: the call until it runs there", moves?);
    println!("{table}");
    Ok(())
}

/// Nanoseconds of one operation, sample by sample.
fn time(mut operate: impl FnMut()) -> Vec<f64> {
    (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            (0..EACH).for_each(|_| operate());
            start.elapsed().as_nanos() as f64 / EACH as f64
        })
        .collect()
}
