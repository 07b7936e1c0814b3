//! Handles that are awaited, let go and kept in odd ways: by wakers that panic, by several executors, in destructors of
//! thread-locals, by nobody.
#![allow(unsafe_code, reason = "wakers that panic cannot be made in safe code")]

use std::cell::RefCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;

use super::job_tests::{block_on, occupy, offload, pool};
use super::*;
use crate::Pool;

/// What a waker does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Clone,
    Wake,
    Drop,
}

/// A waker that panics where it should not, and counts how many of it there are.
struct Rude {
    wrong: Wrong,
    alive: AtomicUsize,
}

impl Rude {
    const TABLE: RawWakerVTable =
        RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    fn new(wrong: Wrong) -> &'static Self {
        Box::leak(Box::new(Self { wrong, alive: AtomicUsize::new(0) }))
    }

    fn waker(&'static self) -> Waker {
        self.alive.fetch_add(1, SeqCst);
        // SAFETY: the table's functions do what they must, up to panics, on any thread; the data lives for ever.
        unsafe { Waker::from_raw(self.raw()) }
    }

    fn raw(&self) -> RawWaker {
        RawWaker::new(std::ptr::from_ref(self).cast(), &Self::TABLE)
    }

    /// # Safety
    ///
    /// The pointer is one that `raw` has made.
    unsafe fn at<'a>(data: *const ()) -> &'a Self {
        // SAFETY: it came from a reference that lives for ever.
        unsafe { &*data.cast() }
    }

    fn panics_if(&self, wrong: Wrong) {
        if self.wrong == wrong {
            resume_unwind(Box::new("a rude waker"));
        }
    }

    unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: as for the table.
        let this = unsafe { Self::at(data) };
        this.panics_if(Wrong::Clone);
        this.alive.fetch_add(1, SeqCst);
        this.raw()
    }

    unsafe fn wake(data: *const ()) {
        // SAFETY: as for the table.
        let this = unsafe { Self::at(data) };
        this.alive.fetch_sub(1, SeqCst);
        this.panics_if(Wrong::Wake);
    }

    unsafe fn wake_by_ref(_: *const ()) {
        unreachable!("wakers are used up");
    }

    unsafe fn drop(data: *const ()) {
        // SAFETY: as for the table.
        let this = unsafe { Self::at(data) };
        this.alive.fetch_sub(1, SeqCst);
        this.panics_if(Wrong::Drop);
    }
}

/// Polls with a clone of a waker of this kind.
fn poll(handle: &mut JobHandle<()>, rude: &'static Rude) -> thread::Result<bool> {
    let waker = std::mem::ManuallyDrop::new(rude.waker());
    let polled = catch_unwind(AssertUnwindSafe(|| {
        Pin::new(handle).poll(&mut Context::from_waker(&waker)).is_ready()
    }));
    rude.alive.fetch_sub(1, SeqCst);
    polled
}

#[test]
fn a_waker_that_cannot_be_cloned_leaves_the_handle_as_it_is() {
    let (pool, rude) = (pool(2), Rude::new(Wrong::Clone));
    let (go_on, mut job) = occupy(&pool);
    assert!(poll(&mut job, rude).is_err());
    // Also where another waker stood in the job before.
    assert!(Pin::new(&mut job).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(poll(&mut job, rude).is_err());
    assert!(!job.is_finished());
    go_on.send(()).unwrap();
    block_on(&mut job);
    assert_eq!(rude.alive.load(SeqCst), 0);
}

#[test]
fn wakers_that_panic_when_woken_or_dropped_harm_nobody() {
    for wrong in [Wrong::Wake, Wrong::Drop] {
        let (pool, rude) = (pool(2), Rude::new(wrong));
        for round in 0..200 {
            let (go_on, mut job) = occupy(&pool);
            let polled_ready = if round % 2 == 0 {
                assert!(!poll(&mut job, rude).unwrap());
                // The second takes the first one's place.
                assert!(!poll(&mut job, rude).unwrap());
                go_on.send(()).unwrap();
                false
            } else {
                go_on.send(()).unwrap();
                // While the job ends.
                poll(&mut job, rude).unwrap()
            };
            // A handle whose value a poll has got is of no more use.
            match round % 3 {
                1 if !polled_ready => job.join(),
                2 if !polled_ready => block_on(job),
                _ => drop(job),
            }
        }
        let both: Vec<_> = (0..2).map(|_| occupy(&pool)).collect();
        assert_eq!(both.len(), 2, "both workers are well");
        drop(both);
        pool.shutdown();
        assert_eq!(rude.alive.load(SeqCst), 0, "{wrong:?}: none is lost");
    }
}

#[test]
fn a_handle_may_go_from_executor_to_executor() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let pool = pool(2);
    for _ in 0..200 {
        let (go_on, mut job) = occupy(&pool);
        let first = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&first));
        let mut context = Context::from_waker(&waker);
        assert!(Pin::new(&mut job).poll(&mut context).is_pending());
        // The first has lost interest; another thread's one takes over, while the job ends.
        let second = thread::spawn(move || block_on(&mut job));
        go_on.send(()).unwrap();
        second.join().unwrap();
        assert!(first.0.load(SeqCst) <= 1, "woken at most once");
    }
}

#[test]
fn waiting_leaves_the_job_to_the_workers() {
    let pool = pool(2);
    let here = thread::current().id();
    for polled in [false, true] {
        let busy = [occupy(&pool), occupy(&pool)];
        let mut job = offload(&pool).spawn(|| thread::current().id());
        if polled {
            let _ = Pin::new(&mut job).poll(&mut Context::from_waker(Waker::noop()));
        }
        drop(busy);
        job.wait();
        assert!(job.is_finished());
        // Again, and where there is nothing to wait for.
        job.wait();
        assert_ne!(job.join(), here);
    }
    let mut inline = job().policy(Policy::Inline).spawn(|| 5);
    inline.wait();
    assert_eq!(block_on(&mut inline), 5);
    inline.wait();
}

/// Has `work` run when the calling thread's locals are destroyed.
fn at_the_end(work: impl FnOnce() + 'static) {
    struct Run(Option<Box<dyn FnOnce()>>);
    impl Drop for Run {
        fn drop(&mut self) {
            self.0.take().into_iter().for_each(|work| work());
        }
    }
    thread_local! {
        static RUN: RefCell<Vec<Run>> = const { RefCell::new(Vec::new()) };
    }
    RUN.with(|run| run.borrow_mut().push(Run(Some(Box::new(work)))));
}

/// Drops, joins and spawns jobs; says when it has.
fn use_handles(pool: &'static Pool, done: &mpsc::Sender<usize>) {
    let spawn = move || offload(pool).spawn(|| 1);
    drop(spawn());
    // Polled, and then let go.
    let _ = pin!(spawn()).poll(&mut Context::from_waker(Waker::noop()));
    let taken = spawn().try_join().unwrap_or_else(JobHandle::join);
    done.send(spawn().join() + taken).unwrap();
}

#[test]
fn handles_can_be_used_while_thread_locals_are_destroyed() {
    let pool: &'static Pool = Box::leak(Box::new(pool(2)));
    let (done, all) = mpsc::channel();
    // On a thread of the test's, with handles that were made before; and on workers, when they end.
    for worker in [false, true, true] {
        let (done, older) = (done.clone(), offload(pool).spawn(|| 5));
        let work = move || {
            at_the_end(move || {
                assert_eq!(older.join(), 5);
                use_handles(pool, &done);
            });
        };
        if worker {
            offload(pool).spawn(work);
        } else {
            thread::spawn(work).join().unwrap();
        }
    }
    drop(done);
    pool.shutdown();
    assert_eq!(all.iter().sum::<usize>(), 3 * 2);
}

#[test]
fn a_scope_does_not_care_what_becomes_of_its_handles() {
    let pool = pool(2);
    for _ in 0..100 {
        let parts = [const { AtomicUsize::new(0) }; 4];
        scope(|s| {
            for part in &parts {
                let mut job = offload(&pool).spawn_in(s, || part.fetch_add(1, SeqCst));
                // A future that somebody has begun to await, and then leaks.
                let _ = Pin::new(&mut job).poll(&mut Context::from_waker(Waker::noop()));
                std::mem::forget(job);
            }
        });
        assert!(parts.iter().all(|part| part.load(SeqCst) == 1));
    }
}
