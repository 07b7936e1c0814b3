//! Atomics that tell what is done with them: how often, and how often a cache line had to move for it.
//!
//! In builds for the simulator they stand in for those of `std`, so that what is counted is what the library's own code
//! does. Nothing is counted unless the calling thread is [counting](begin): it then plays one actor after the other, as told
//! by [`play`], and each actor stands for a core with a cache of its own. A line moves when an actor reads what another one
//! has written since it last looked, and when one writes what others have looked at.

#![allow(missing_docs, reason = "for the project's own simulator")]

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::Location;
use std::ptr::from_ref;
use std::sync::atomic::{self, Ordering};
use std::sync::{LockResult, MutexGuard};

use crossbeam_utils::CachePadded;

/// Bytes that caches exchange.
const LINE: usize = 64;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Load,
    Store,
    /// An exchange, with or without a comparison, or another atomic operation that reads and writes.
    Exchange,
    Fence,
    /// A sleeping thread was woken.
    Wake,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub actor: usize,
    pub kind: Kind,
    pub address: usize,
    /// Whether a line had to move for it.
    pub moved: bool,
    pub place: &'static Location<'static>,
}

/// What was done in a while.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub accesses: Vec<Access>,
}

impl Tally {
    /// How often something of this kind was done.
    pub fn count(&self, kind: Kind) -> usize {
        self.accesses.iter().filter(|access| access.kind == kind).count()
    }

    /// Loads, stores and exchanges.
    pub fn operations(&self) -> usize {
        [Kind::Load, Kind::Store, Kind::Exchange].map(|kind| self.count(kind)).iter().sum()
    }

    /// How many lines were touched.
    pub fn lines(&self) -> usize {
        let touched = self.accesses.iter().filter(|access| access.address != 0);
        touched.map(|access| access.address / LINE).collect::<HashSet<_>>().len()
    }

    /// How often a line had to move.
    pub fn transfers(&self) -> usize {
        self.accesses.iter().filter(|access| access.moved).count()
    }
}

/// Who holds a line.
#[derive(Debug, Default)]
struct Holders {
    /// The one who has written it last, and those who have looked at it since.
    all: HashSet<usize>,
}

#[derive(Debug, Default)]
struct Log {
    actor: usize,
    lines: HashMap<usize, Holders>,
    tally: Tally,
}

thread_local! {
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// The calling thread counts from now on, with empty caches.
pub(crate) fn begin() {
    LOG.set(Some(Log::default()));
}

/// It counts no more.
pub(crate) fn end() {
    LOG.set(None);
}

/// What the thread does from now on is done by this actor; gives back who it was before.
pub(crate) fn play(actor: usize) -> usize {
    LOG.with_borrow_mut(|log| {
        log.as_mut().map_or(0, |log| std::mem::replace(&mut log.actor, actor))
    })
}

/// What was done since the last call.
pub(crate) fn take() -> Tally {
    LOG.with_borrow_mut(|log| {
        log.as_mut().map_or_else(Tally::default, |log| std::mem::take(&mut log.tally))
    })
}

/// Does something that is not counted.
pub(crate) fn aside<R>(f: impl FnOnce() -> R) -> R {
    let log = LOG.take();
    let result = f();
    LOG.set(log);
    result
}

/// Notes an operation on the line of `address`; 0: on none.
#[track_caller]
fn note(kind: Kind, address: usize) {
    let place = Location::caller();
    // A thread that ends drops atomics after its log is gone.
    let _ = LOG.try_with(|log| {
        let Ok(mut log) = log.try_borrow_mut() else { return };
        let Some(log) = log.as_mut() else { return };
        let actor = log.actor;
        let moved = address != 0 && {
            let holders = &mut log.lines.entry(address / LINE).or_default().all;
            match kind {
                Kind::Load => holders.insert(actor) && holders.len() > 1,
                _ => {
                    let moved =
                        !holders.is_empty() && (holders.len() > 1 || !holders.contains(&actor));
                    holders.clear();
                    holders.insert(actor);
                    moved
                }
            }
        };
        log.tally.accesses.push(Access { actor, kind, address, moved, place });
    });
}

/// How many compare-exchanges were tried in all threads together, and how many of them came to nothing since another thread was
/// faster. On lines of their own, so that counting adds little to what is counted.
static CONTENTION: [CachePadded<[atomic::AtomicU64; 2]>; 64] =
    [const { CachePadded::new([const { atomic::AtomicU64::new(0) }; 2]) }; 64];

/// How a compare-exchange has ended.
#[inline]
fn contend<T>(outcome: Result<T, T>) -> Result<T, T> {
    static THREADS: atomic::AtomicUsize = atomic::AtomicUsize::new(0);
    thread_local!(static MINE: usize = THREADS.fetch_add(1, Ordering::Relaxed) % CONTENTION.len());
    if let Ok(mine) = MINE.try_with(|mine| *mine) {
        let [tried, lost] = &*CONTENTION[mine];
        tried.fetch_add(1, Ordering::Relaxed);
        lost.fetch_add(u64::from(outcome.is_err()), Ordering::Relaxed);
    }
    outcome
}

/// Compare-exchanges of all threads since the process began: tried, and lost to another thread.
pub fn contention() -> (u64, u64) {
    let sum =
        |which: usize| CONTENTION.iter().map(|counts| counts[which].load(Ordering::Relaxed)).sum();
    (sum(0), sum(1))
}

/// Notes that plain memory is written, or else read.
#[track_caller]
pub(super) fn touch<T>(place: *const T, writes: bool) {
    note(if writes { Kind::Store } else { Kind::Load }, place.addr());
}

/// As [`std::sync::atomic::fence`].
#[inline]
#[track_caller]
pub(crate) fn fence(order: Ordering) {
    note(Kind::Fence, 0);
    atomic::fence(order);
}

/// A type of `std`, with those of its functions that the library uses.
macro_rules! counted {
    ($name:ident $(<$T:ident>)?, $std:ty, $value:ty, $($change:ident),*) => {
        pub(crate) struct $name $(<$T>)? ($std);

        impl $(<$T>)? fmt::Debug for $name $(<$T>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $(<$T>)? Default for $name $(<$T>)? {
            fn default() -> Self {
                Self(<$std>::default())
            }
        }

        #[allow(dead_code, reason = "each is used for some of the types")]
        impl $(<$T>)? $name $(<$T>)? {
            pub(crate) const fn new(value: $value) -> Self {
                Self(<$std>::new(value))
            }

            #[inline]
            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                note(Kind::Load, from_ref(self).addr());
                self.0.load(order)
            }

            #[inline]
            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                note(Kind::Store, from_ref(self).addr());
                self.0.store(value, order);
            }

            #[inline]
            #[track_caller]
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                note(Kind::Exchange, from_ref(self).addr());
                self.0.swap(value, order)
            }

            #[inline]
            #[track_caller]
            pub(crate) fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                note(Kind::Exchange, from_ref(self).addr());
                contend(self.0.compare_exchange(current, new, success, failure))
            }

            #[inline]
            #[track_caller]
            pub(crate) fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                note(Kind::Exchange, from_ref(self).addr());
                contend(self.0.compare_exchange_weak(current, new, success, failure))
            }

            pub(crate) fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            pub(crate) fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            $(
                #[inline]
                #[track_caller]
                pub(crate) fn $change(&self, value: $value, order: Ordering) -> $value {
                    note(Kind::Exchange, from_ref(self).addr());
                    self.0.$change(value, order)
                }
            )*
        }
    };
}

counted!(
    AtomicU64,
    atomic::AtomicU64,
    u64,
    fetch_add,
    fetch_sub,
    fetch_and,
    fetch_or,
    fetch_min,
    fetch_max
);
counted!(
    AtomicUsize,
    atomic::AtomicUsize,
    usize,
    fetch_add,
    fetch_sub,
    fetch_and,
    fetch_or,
    fetch_min,
    fetch_max
);
counted!(AtomicBool, atomic::AtomicBool, bool, fetch_and, fetch_or);
counted!(AtomicPtr<T>, atomic::AtomicPtr<T>, *mut T,);

/// As that of `std`.
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    #[track_caller]
    pub(crate) fn notify_one(&self) {
        note(Kind::Wake, from_ref(self).addr());
        self.0.notify_one();
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.0.wait(guard)
    }
}

/// Names for places in memory.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<(std::ops::Range<usize>, String)>);

impl Parts {
    /// What lies in this value and in nothing that was named before.
    pub(crate) fn add<T>(&mut self, name: impl Into<String>, value: &T) {
        let start = from_ref(value).addr();
        self.0.push((start..start + size_of::<T>(), name.into()));
    }

    /// What lies at this address.
    pub(crate) fn name(&self, address: usize) -> &str {
        let part = self.0.iter().find(|(range, _)| range.contains(&address));
        part.map_or("elsewhere", |(_, name)| name)
    }
}
