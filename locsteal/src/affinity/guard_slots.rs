//! How many threads are pinned to a domain right now, with a cap.

use crate::sync::{AtomicUsize, Ordering};

/// Counts the live pins of one domain.
///
/// Relaxed throughout: the count bounds how many threads are pinned and hands nothing over.
#[derive(Debug)]
pub(crate) struct Slots(AtomicUsize);

/// One live pin; dropping it gives the slot back.
#[derive(Debug)]
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Takes a slot unless `cap` are taken. Callers may name different caps: each is kept.
    pub(crate) fn take(&self, cap: usize) -> Option<Slot<'_>> {
        let mut taken = self.0.load(Ordering::Relaxed);
        while taken < cap {
            match self.0.compare_exchange_weak(
                taken,
                taken + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Slot(self)),
                Err(now) => taken = now,
            }
        }
        None
    }

    /// How many slots are taken.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn gives_out_as_many_as_the_cap_says() {
        let slots = Slots::new();
        assert!(slots.take(0).is_none());
        let first = slots.take(2).unwrap();
        let second = slots.take(2).unwrap();
        assert!(slots.take(2).is_none());
        let third = slots.take(3).unwrap();
        drop(first);
        assert!(slots.take(2).is_none(), "two are still out");
        drop((second, third));
        assert_eq!(slots.taken(), 0);
    }

    #[test]
    fn many_threads_never_exceed_the_cap() {
        let slots = Slots::new();
        let most = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        if let Some(_slot) = slots.take(3) {
                            most.fetch_max(slots.taken(), Ordering::Relaxed);
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
        assert!((1..=3).contains(&most.into_inner()));
        assert_eq!(slots.taken(), 0);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;

    #[test]
    fn the_cap_holds_in_every_interleaving() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(|| {
            let shared = Arc::new((Slots::new(), AtomicUsize::new(0)));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let shared = Arc::clone(&shared);
                    loom::thread::spawn(move || {
                        let (slots, holders) = &*shared;
                        if let Some(slot) = slots.take(1) {
                            assert_eq!(holders.fetch_add(1, Ordering::Relaxed), 0);
                            holders.fetch_sub(1, Ordering::Relaxed);
                            drop(slot);
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(shared.0.taken(), 0);
        });
    }
}
