//! Loops that are launched where nobody expects one: by listeners and destructors, after the end of their pool, in futures.

use locsteal::{Pool, par_for};
use std::cell::RefCell;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use crate::panics;

#[par_for]
fn told(n: usize, tell: impl Fn(u64) + Sync) -> usize {
    let mut count = 0_usize;
    #[par_for(reduce(+: count), progress = &tell)]
    for i in 0..n {
        count += i % 2;
    }
    count
}

#[test]
fn listeners_may_panic_and_launch_loops() {
    assert!(panics(|| {
        told(1_000_000, |_| panic!("told"));
    }));
    let inner = AtomicUsize::new(0);
    let count = told(1_000_000, |_| {
        inner.fetch_add(told(100, |_| {}), SeqCst);
    });
    assert_eq!(count, 500_000);
    assert!(inner.load(SeqCst) > 0 && inner.load(SeqCst).is_multiple_of(50));
}

/// Launches a loop when it is dropped.
struct Launches;

static LAUNCHED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Launches {
    fn drop(&mut self) {
        LAUNCHED.fetch_add(told(100, |_| {}), SeqCst);
    }
}

thread_local! {
    static LAST: RefCell<Option<Launches>> = const { RefCell::new(None) };
}

#[par_for]
fn leaves_in_threads(n: usize, pool: &Pool) {
    #[par_for(pool = pool, schedule = dynamic(1))]
    for _ in 0..n {
        LAST.with(|last| *last.borrow_mut() = Some(Launches));
    }
}

#[par_for]
fn drops_while_panicking(n: usize) {
    for i in 0..n {
        let _launches = Launches;
        assert!(i != 50);
    }
}

#[test]
fn destructors_launch_loops() {
    let pool = Pool::builder().threads(3).build().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| leaves_in_threads(100, &pool));
    });
    pool.shutdown();
    drop(pool);
    assert!(panics(|| drops_while_panicking(1000)));
    // Each that was dropped has run all of its loop.
    assert!(LAUNCHED.load(SeqCst) >= 50 && LAUNCHED.load(SeqCst).is_multiple_of(50));
}

#[par_for]
fn in_a_pool(y: &mut [usize], pool: &Pool) {
    #[par_for(pool = pool, schedule = steal)]
    for i in 0..y.len() {
        y[i] += i;
    }
}

#[test]
fn loops_run_after_the_end_of_their_pool() {
    let pool = Pool::builder().threads(4).build().unwrap();
    let mut y = vec![0; 1000];
    in_a_pool(&mut y, &pool);
    pool.shutdown();
    in_a_pool(&mut y, &pool);
    assert!(y.iter().enumerate().all(|(i, y)| *y == 2 * i));
}

#[par_for]
async fn awaits(y: &mut [usize], limit: usize) -> Result<usize, String> {
    std::future::ready(()).await;
    let mut sum = 0;
    #[par_for(reduce(+: sum))]
    for i in 0..y.len() {
        let waits = async { i.checked_sub(limit).map(|_| ()).ok_or(i) };
        if size_of_val(&waits) == usize::MAX || i == limit {
            return Err(format!("{i}"));
        }
        y[i] = 1;
        sum += 1;
    }
    std::future::ready(()).await;
    Ok(sum)
}

#[test]
fn loops_in_futures() {
    let mut y = [0; 100];
    let mut context = Context::from_waker(Waker::noop());
    for (limit, expected) in [(100, Ok(100)), (40, Err("40".to_owned()))] {
        let done = pin!(awaits(&mut y, limit)).as_mut().poll(&mut context);
        assert_eq!(done, Poll::Ready(expected));
    }
}
