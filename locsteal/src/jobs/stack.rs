//! Room on the stack for a job that is run in place.
//!
//! A joiner that takes its job back runs it on its own stack, and so does a submitter whose job runs inline. That job
//! may join or submit another one, which may join or submit another one: a chain of ten thousand jobs would need ten
//! thousand frames. So from a certain depth on, and once half of the thread's stack is used up, such a job runs on a
//! thread of its own, while the other waits. It is not left to the workers instead: they may all be waiting themselves.
//!
//! That thread stands in for the one that waits: it has its place in its pool, since a pool that is shut down by a job
//! must not wait for whoever waits for that job; and it knows how the other is confined, since it is confined the same.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::affinity::guard_pin::Confinement;
use crate::pool::Place;

/// So many jobs in each other need no look at the stack.
const SHALLOW: usize = 8;
/// Where the ends of the stack are not known, so many may be in each other.
const DEEP: usize = 32;

thread_local! {
    /// How many jobs run in each other on this thread's stack.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The address that half of the stack lies below; 0: not looked up yet.
    static MIDDLE: Cell<usize> = const { Cell::new(0) };
}

/// Runs the job on the calling thread's stack if it has room, else on that of a new thread.
pub(super) fn with_room<A: Send, R: Send>(job: A, run: fn(A) -> R) -> R {
    // The model checker's threads share a stack, and must make no others.
    if cfg!(loom) {
        return run(job);
    }
    let depth = DEPTH.get();
    if depth < SHALLOW || has_room(depth) {
        return nested(depth, job, run);
    }
    let place = Mutex::new(Some(job));
    let take = || place.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (pool_place, confinement) = (Place::here(), Confinement::here());
    let stand_in = || {
        pool_place.take_over();
        confinement.take_over();
        take().map(run)
    };
    let outcome = thread::scope(|scope| {
        let thread = thread::Builder::new().name("locsteal-join".into());
        let thread = thread.spawn_scoped(scope, stand_in).ok()?;
        thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    });
    // Without another thread there is nothing better than to go on here.
    outcome.unwrap_or_else(|| {
        let job = take().expect("no thread was made, so none has taken the job");
        nested(depth, job, run)
    })
}

fn nested<A, R>(depth: usize, job: A, run: fn(A) -> R) -> R {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            DEPTH.set(self.0);
        }
    }
    let _restore = Restore(depth);
    DEPTH.set(depth + 1);
    run(job)
}

fn has_room(depth: usize) -> bool {
    if MIDDLE.get() == 0 {
        MIDDLE.set(middle_of_stack().unwrap_or(usize::MAX));
    }
    match MIDDLE.get() {
        usize::MAX => depth < DEEP,
        middle => here() > middle,
    }
}

/// An address in the calling thread's stack, which grows downwards everywhere that threads exist.
fn here() -> usize {
    let marker = 0_u8;
    std::hint::black_box(&raw const marker).addr()
}

#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
#[allow(unsafe_code, reason = "a call of the C library")]
fn middle_of_stack() -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised by the first call if it succeeds, read by the second, and destroyed once.
    // The places for the answers live as long as the call.
    let found = unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let found =
            libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        found == 0
    };
    let (lowest, here) = (lowest.addr(), here());
    // Else this is not the thread's own stack but one that a coroutine brought.
    (found && (lowest..=lowest.checked_add(size)?).contains(&here)).then_some(lowest + size / 2)
}

#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
fn middle_of_stack() -> Option<usize> {
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Goes down this many levels; gives back how many threads that took.
    fn down(levels: usize) -> usize {
        let here = thread::current().id();
        with_room((levels, here), |(levels, above)| {
            let moved = usize::from(thread::current().id() != above);
            moved + if levels == 0 { 0 } else { down(levels - 1) }
        })
    }

    #[test]
    fn deep_chains_go_on_elsewhere_and_come_back() {
        let small = thread::Builder::new().stack_size(256 << 10);
        let threads = small.spawn(|| (down(SHALLOW - 1), down(3_000), DEPTH.get())).unwrap();
        let (shallow, deep, depth) = threads.join().unwrap();
        assert_eq!((shallow, depth), (0, 0));
        assert!(deep > 0);
    }

    #[test]
    fn a_panic_leaves_the_depth_as_it_was() {
        let caught = std::panic::catch_unwind(|| {
            with_room((), |()| std::panic::resume_unwind(Box::new(())))
        });
        assert!(caught.is_err());
        assert_eq!(DEPTH.get(), 0);
    }
}
