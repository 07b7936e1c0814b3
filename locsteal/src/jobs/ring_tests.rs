//! The ring against a plain queue, and with others who take jobs out meanwhile.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use super::cell::{Circumstances, Job, make};
use super::policy::Lesson;
use super::ring::{MOST, Ring, ring};

/// A job that counts that it has run. Its number stands where others have their domain.
fn job(number: usize, ran: &Arc<AtomicUsize>) -> Job {
    let ran = Arc::clone(ran);
    let circumstances = Circumstances { domain: Some(number), lesson: Lesson::NONE, scope: None };
    // SAFETY: nothing is borrowed.
    let (job, claim) = unsafe { make(move || ran.fetch_add(1, Relaxed), circumstances) };
    drop(claim);
    job
}

/// Runs the job; gives back its number.
fn run(job: Job) -> usize {
    let number = job.domain().unwrap();
    assert!(job.run());
    number
}

fn take(ring: &Ring) -> Option<usize> {
    ring.take().map(run)
}

/// Puts in and takes out, more of the former until the ring is full and of the latter until it is empty, so that it grows
/// with its oldest job at any place.
#[test]
fn a_ring_is_a_queue_that_takes_so_many_jobs_and_no_more() {
    // From where it has wrapped not at all, once, and in the middle.
    for ahead in [0, 1, 40, 64, 100] {
        let ran = Arc::new(AtomicUsize::new(0));
        let ((mut entry, ring), mut plain) = (ring(), VecDeque::new());
        let mut numbers = 0..;
        for number in numbers.by_ref().take(ahead) {
            entry.put(job(number, &ran)).unwrap();
            assert_eq!(take(&ring), Some(number));
        }
        for (puts, takes) in [(3, 2), (7, 1), (2, 3), (1, 9), (90, 50), (1, 0), (0, 1)] {
            let (fills, mut over) = (puts > takes, false);
            while !over {
                for number in numbers.by_ref().take(puts) {
                    match entry.put(job(number, &ran)) {
                        Ok(()) => plain.push_back(number),
                        Err(job) => {
                            assert_eq!((run(job), plain.len()), (number, MOST));
                            over = fills;
                        }
                    }
                }
                assert_eq!(entry.len(), plain.len());
                for turn in 0..takes {
                    let job = if turn % 2 == 0 { ring.take() } else { entry.take() };
                    assert_eq!(job.map(run), plain.pop_front());
                    over |= plain.is_empty() && !fills;
                }
            }
        }
        assert!(ring.take().is_none());
        assert_eq!(Some(ran.load(Relaxed)), numbers.next());
    }
}

#[test]
fn whoever_takes_jobs_while_the_ring_grows_has_them_in_their_order_and_each_is_had_once() {
    let jobs = if cfg!(miri) { 500 } else { 5 * MOST };
    let (ran, ended) = (Arc::new(AtomicUsize::new(0)), AtomicBool::new(false));
    let (mut entry, ring) = ring();
    thread::scope(|scope| {
        let takers = [(); 3].map(|()| {
            let (ring, ended) = (ring.clone(), &ended);
            scope.spawn(move || {
                let mut numbers = Vec::new();
                loop {
                    // Before the look, so that nothing comes after one in vain.
                    let last = ended.load(std::sync::atomic::Ordering::Acquire);
                    match take(&ring) {
                        Some(number) => numbers.push(number),
                        None if last => return numbers,
                        None => thread::yield_now(),
                    }
                }
            })
        });
        let mut numbers = Vec::new();
        for number in 0..jobs {
            match entry.put(job(number, &ran)) {
                Ok(()) => {}
                Err(job) => numbers.push(run(job)),
            }
            if number % 5 == 0 {
                // Not in order with those that were refused.
                entry.take().map(run).into_iter().for_each(|number| numbers.push(number));
            }
        }
        ended.store(true, std::sync::atomic::Ordering::Release);
        for taker in takers {
            let taken = taker.join().unwrap();
            assert!(taken.is_sorted());
            numbers.extend(taken);
        }
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..jobs));
    });
    assert_eq!(ran.load(Relaxed), jobs);
}
