//! What a job costs in things that can be counted: memory that is allocated for it. `jobs_hardship.rs` counts system
//! calls.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use locsteal::{Pool, spawn_near};

/// Counts allocations, of those threads that jobs go to and fro between: not those of the test runner, whose own thread
/// may have something to do at any time.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTED.get() {
            ALLOCATIONS.fetch_add(1, Relaxed);
        }
        // SAFETY: as demanded of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as demanded of the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations a thousand round trips take.
fn allocations(mut round_trip: impl FnMut(usize) -> usize) -> usize {
    // Threads, queues and what else is made once.
    (0..100).for_each(|n| assert_eq!(round_trip(n), n));
    let before = ALLOCATIONS.load(Relaxed);
    (0..1_000).for_each(|n| assert_eq!(round_trip(n), n));
    ALLOCATIONS.load(Relaxed) - before
}

// One test, since tests of one program run at once and would take the processors from each other's pools.
#[test]
fn an_offloaded_job_is_one_allocation_and_an_inline_one_none() {
    COUNTED.set(true);
    let builder = Pool::builder().threads(2).spin(Duration::from_secs(1_000));
    let pool = builder.start_handler(|_| COUNTED.set(true)).build().unwrap();
    let offloaded = |n| {
        let mut job = spawn_near!(<pool = &pool, policy = offload> move || n);
        job.wait();
        job.join()
    };
    // A queue takes some memory for each 63 jobs that stand in it, where no worker is on call.
    let counted = allocations(offloaded);
    assert!((1_000..1_020).contains(&counted), "waited for: {counted}");
    let counted = allocations(|n| spawn_near!(<pool = &pool, policy = offload> move || n).join());
    assert!((1_000..1_020).contains(&counted), "joined: {counted}");
    let inline = |n| spawn_near!(<pool = &pool, policy = inline> move || n).join();
    assert_eq!(allocations(inline), 0, "inline");
    let alone = Pool::builder().threads(1).build().unwrap();
    let counted = allocations(|n| spawn_near!(<pool = &alone, policy = offload> move || n).join());
    assert_eq!(counted, 0, "on a pool of one");
}
