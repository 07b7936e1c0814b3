//! A list that only grows, without locks.
//!
//! What the library makes when it is first needed, and keeps until the process ends, stands in such lists rather than
//! behind `OnceLock` and `Mutex`: the child of a fork has only the thread that forked, and would wait for ever for one
//! that held a lock at that moment.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Entries stay where they are for as long as the list lives.
pub(crate) struct Grown<T> {
    newest: AtomicPtr<Entry<T>>,
    /// It owns the entries, and lends them.
    holds: PhantomData<Box<Entry<T>>>,
}

struct Entry<T> {
    value: T,
    /// Never written once the entry is in a list.
    older: *mut Entry<T>,
}

// SAFETY: a list that is sent takes its values along, and one that is shared lends `&T` to every thread, and takes values
// from each that are dropped elsewhere: `T: Send + Sync` allows all of that. The pointers are the list's own.
unsafe impl<T: Send + Sync> Send for Grown<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Grown<T> {}

impl<T> Grown<T> {
    pub(crate) const fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()), holds: PhantomData }
    }

    /// The entry that was added last.
    #[inline]
    pub(crate) fn newest(&self) -> Option<&T> {
        self.iter().next()
    }

    /// The entries, newest first.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        // Acquire: pairs with the release of `push`, which the entry was written before, and all older ones by way of
        // the exchanges that came before it.
        self.from(self.newest.load(Ordering::Acquire))
    }

    /// This entry and all older ones.
    #[inline]
    fn from(&self, mut entry: *mut Entry<T>) -> impl Iterator<Item = &T> {
        std::iter::from_fn(move || {
            // SAFETY: null, or an entry that was read from this list with acquire, so that it is seen as it was written
            // before it was added. Entries are never changed, and live until the list is dropped, which `&self` rules out.
            let found: &Entry<T> = unsafe { entry.as_ref() }?;
            entry = found.older;
            Some(&found.value)
        })
    }

    /// Adds an entry.
    pub(crate) fn add(&self, value: T) -> &T {
        match self.add_unless(value, |_| false) {
            Ok(added) | Err(added) => added,
        }
    }

    /// An entry that is `wanted`, which is made if there is none. Threads that do so at once may each make one, of which
    /// one is kept.
    #[inline]
    pub(crate) fn find_or_add(&self, wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &T {
        match self.iter().find(|value| wanted(value)) {
            Some(found) => found,
            None => self.made(wanted, make),
        }
    }

    /// The newest entry; the first is made if there is none, as in [`find_or_add`](Self::find_or_add).
    #[inline]
    pub(crate) fn newest_or_add(&self, make: impl FnOnce() -> T) -> &T {
        match self.newest() {
            Some(found) => found,
            None => self.made(|_| true, make),
        }
    }

    #[cold]
    fn made(&self, wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &T {
        match self.add_unless(make(), wanted) {
            Ok(kept) | Err(kept) => kept,
        }
    }

    /// Adds an entry; `Err` with the one that is there if one is `wanted`.
    fn add_unless(&self, value: T, wanted: impl Fn(&T) -> bool) -> Result<&T, &T> {
        let mut entry = Box::new(Entry { value, older: ptr::null_mut() });
        loop {
            // Acquire: as in `iter`.
            let newest = self.newest.load(Ordering::Acquire);
            if let Some(found) = self.from(newest).find(|value| wanted(value)) {
                return Err(found);
            }
            entry.older = newest;
            let added = Box::into_raw(entry);
            // Release: pairs with the acquire of who reads the list.
            match self.newest.compare_exchange(newest, added, Ordering::Release, Ordering::Relaxed)
            {
                // SAFETY: it is in the list now, and nobody changes it until the list is dropped.
                Ok(_) => return Ok(unsafe { &(*added).value }),
                // SAFETY: made by `Box::into_raw` just now, and not in the list: nobody else has it.
                Err(_) => entry = unsafe { Box::from_raw(added) },
            }
        }
    }
}

impl<T> Default for Grown<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Grown<T> {
    fn drop(&mut self) {
        let mut entry = *self.newest.get_mut();
        while !entry.is_null() {
            // SAFETY: every entry was made by `Box::into_raw` and is in one list, which owns it and ends here.
            entry = unsafe { Box::from_raw(entry) }.older;
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Grown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    #[test]
    fn entries_stay_and_the_newest_comes_first() {
        let list = Grown::new();
        assert_eq!(list.newest(), None);
        let first = list.add(1);
        assert_eq!(list.newest_or_add(|| unreachable!()), first);
        list.add(2);
        assert_eq!(*list.find_or_add(|value| *value == 1, || unreachable!()), 1);
        assert_eq!(*list.find_or_add(|value| *value == 3, || 3), 3);
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(*first, 1);
    }

    #[test]
    fn of_what_threads_make_at_once_one_is_kept_and_all_is_dropped() {
        static ALIVE: AtomicUsize = AtomicUsize::new(0);
        struct Counted(usize);
        impl Counted {
            fn new(value: usize) -> Self {
                ALIVE.fetch_add(1, Ordering::Relaxed);
                Self(value)
            }
        }
        impl Drop for Counted {
            fn drop(&mut self) {
                ALIVE.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let (list, threads, values) = (Grown::new(), 4, 20);
        let begin = Barrier::new(threads);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    begin.wait();
                    for value in 0..values {
                        let made = || Counted::new(value);
                        assert_eq!(list.find_or_add(|found| found.0 == value, made).0, value);
                    }
                });
            }
        });
        let mut kept: Vec<usize> = list.iter().map(|found| found.0).collect();
        kept.sort_unstable();
        assert_eq!(kept, (0..values).collect::<Vec<_>>());
        assert_eq!(ALIVE.load(Ordering::Relaxed), values);
        drop(list);
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
    }
}
