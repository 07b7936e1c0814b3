//! Loops without macros: options, early ends, collected values, owned parts, progress.

mod collected;
mod exits;
mod options;
mod owned;
mod progress;

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use locsteal::source::ParallelSlice;
use locsteal::{Parallel, Pool, Schedule};

const SCHEDULES: [Schedule; 6] = [
    Schedule::Static,
    Schedule::StaticChunk(3),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

fn pool() -> Pool {
    Pool::builder().threads(3).build().unwrap()
}

/// A value that counts how many of its kind are alive.
#[derive(Debug)]
struct Value<'a>(usize, &'a AtomicUsize);

impl<'a> Value<'a> {
    fn new(value: usize, alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, SeqCst);
        Value(value, alive)
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        self.1.fetch_sub(1, SeqCst);
    }
}

fn message(caught: thread::Result<impl Sized>) -> String {
    let payload = caught.err().expect("a panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
    }
}

#[test]
fn words_are_counted_without_a_macro() {
    let text = "the near and the far and the nearer";
    let words: Vec<&str> = text.split(' ').collect();
    let lengths = words
        .par_chunks(2)
        .par()
        .collect_vec(|pair| pair.iter().map(|word| word.len()).sum::<usize>());
    assert_eq!(lengths, [7, 6, 6, 9]);
    let longest = words.par().max(str::len);
    assert_eq!(longest, Some(6));
}
