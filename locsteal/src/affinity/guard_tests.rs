//! The guard's protocol on made-up machines with private counters, and a made-up kernel in whose calls failures can be
//! injected.

use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::guard_pin::{Confines, settle_by, unpinned_by};
use super::mask::MaskCalls;
use super::{Near, Unpinned, mask};
use crate::topology::{CpuSet, Topology};

/// One thread as its kernel sees it.
#[derive(Debug)]
struct MadeUp {
    mask: RefCell<CpuSet>,
    online: RefCell<CpuSet>,
    /// The kernel's own mask size, in words.
    words: usize,
    log: RefCell<Vec<Call>>,
    /// Which call from now fails, and how.
    fails: Cell<Option<(usize, i32)>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    Get,
    Set(CpuSet),
}

impl MadeUp {
    fn new(mask: &str) -> Self {
        Self {
            mask: RefCell::new(set(mask)),
            online: RefCell::new((0..4096).collect()),
            words: 2,
            log: RefCell::default(),
            fails: Cell::new(None),
        }
    }

    fn now(&self) -> String {
        self.mask.borrow().to_string()
    }

    /// As an operator does it, from outside.
    fn moved_to(&self, cpus: &str) {
        *self.mask.borrow_mut() = set(cpus);
    }

    fn calls(&self) -> usize {
        self.log.borrow().len()
    }

    fn fail(&self, call: usize, errno: i32) {
        self.fails.set(Some((call, errno)));
    }

    fn called(&self, call: Call) -> io::Result<()> {
        self.log.borrow_mut().push(call);
        match self.fails.get() {
            Some((0, errno)) => {
                self.fails.set(None);
                Err(io::Error::from_raw_os_error(errno))
            }
            Some((after, errno)) => {
                self.fails.set(Some((after - 1, errno)));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl MaskCalls for &MadeUp {
    fn get(&self, words: &mut [u64]) -> io::Result<usize> {
        self.called(Call::Get)?;
        if words.len() < self.words {
            return Err(io::Error::from_raw_os_error(EINVAL));
        }
        let mask = self.mask.borrow();
        words[..mask.words().len()].copy_from_slice(mask.words());
        Ok(self.words * 8)
    }

    fn set(&self, words: &[u64]) -> io::Result<()> {
        let asked = CpuSet::from_words(words.to_vec());
        self.called(Call::Set(asked.clone()))?;
        let mask = asked.intersection(&self.online.borrow());
        if mask.is_empty() {
            return Err(io::Error::from_raw_os_error(EINVAL));
        }
        *self.mask.borrow_mut() = mask;
        Ok(())
    }

    fn cpu(&self) -> Option<usize> {
        self.mask.borrow().first()
    }
}

const EPERM: i32 = 1;
const EINVAL: i32 = 22;
const ENOSYS: i32 = 38;

fn set(cpus: &str) -> CpuSet {
    cpus.parse().unwrap()
}

/// Two domains of four CPUs, and one that is in two pieces.
fn machine() -> Confines {
    let machine =
        Topology::builder().domain(&set("0-3")).domain(&set("4-7")).domain(&set("8-9,12-13"));
    Confines::new(machine.build().unwrap())
}

#[test]
fn a_pin_narrows_to_exactly_the_intersection_and_is_undone_bit_for_bit() {
    for (before, domain, pinned) in [
        ("0-7", 0, "0-3"),
        ("0-7", 1, "4-7"),
        ("1-2,6,100-101,120", 0, "1-2"),
        ("0,3-5,9,12,90", 2, "9,12"),
        ("0,2,4,6,8,10,12,14", 1, "4,6"),
    ] {
        let thread = MadeUp::new(before);
        let machine = machine();
        let pin = machine.pin(domain, &thread).unwrap();
        assert_eq!(thread.now(), pinned);
        assert_eq!(machine.taken(domain), 1);
        drop(pin);
        assert_eq!(thread.now(), before);
        assert_eq!(*thread.log.borrow().last().unwrap(), Call::Set(set(before)));
        assert_eq!((machine.taken(domain), thread.calls()), (0, 4));
    }
}

#[test]
fn a_hundred_pins_leave_no_slot_taken() {
    let (machine, thread) = (machine(), MadeUp::new("0-9"));
    for round in 0..100 {
        let pin = machine.pin(round % 3, &thread);
        assert_eq!(pin.is_ok(), round % 3 != 2 || thread.now() == "8-9", "{round}");
    }
    assert_eq!((machine.taken(0), machine.taken(1), machine.taken(2)), (0, 0, 0));
    assert_eq!(thread.now(), "0-9");
}

#[test]
fn refusals_change_nothing_and_say_why() {
    let machine = machine();
    for (mask, domain, why, calls) in [
        ("0-3", 0, Unpinned::AlreadyThere, 1),
        ("1", 0, Unpinned::AlreadyThere, 1),
        ("0,4-7", 0, Unpinned::TooFewCpus, 1),
        ("4-7", 0, Unpinned::TooFewCpus, 1),
    ] {
        let thread = MadeUp::new(mask);
        assert_eq!(machine.pin(domain, &thread).unwrap_err(), why);
        assert_eq!((thread.now().as_str(), thread.calls()), (mask, calls));
        assert_eq!(machine.taken(domain), 0);
    }
}

#[test]
fn one_domain_or_none_costs_no_system_call() {
    for topology in [Topology::default(), Topology::regular(1, 1, 8)] {
        let (machine, thread) = (Confines::new(topology), MadeUp::new("0-7"));
        for domain in [0, 7] {
            assert_eq!(machine.pin(domain, &thread).unwrap_err(), Unpinned::OneDomain);
        }
        assert_eq!(thread.calls(), 0);
    }
}

#[test]
fn nested_pins_are_refused_also_across_domains_and_machines() {
    let (machine, other) = (machine(), machine());
    let thread = MadeUp::new("0-7");
    let outer = machine.pin(0, &thread).unwrap();
    let calls = thread.calls();
    for refused in [machine.pin(0, &thread), machine.pin(1, &thread), other.pin(1, &thread)] {
        assert_eq!(refused.unwrap_err(), Unpinned::Nested);
    }
    assert_eq!((machine.taken(0), machine.taken(1), other.taken(1)), (1, 0, 0));
    assert_eq!((thread.calls(), thread.now().as_str()), (calls, "0-3"));
    drop(outer);
    assert!(machine.pin(1, &thread).is_ok(), "the flag is down again");
}

#[test]
fn the_cap_leaves_one_cpu_of_the_threads_own_intersection() {
    let machine = &machine();
    // Three threads each pinned, held until all have been counted.
    let (pinned, counted) = (&Barrier::new(4), &Barrier::new(4));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(move || {
                let thread = MadeUp::new("0-7");
                let pin = machine.pin(0, &thread).unwrap();
                pinned.wait();
                counted.wait();
                drop(pin);
            });
        }
        pinned.wait();
        assert_eq!(machine.taken(0), 3);
        let thread = MadeUp::new("0-7");
        assert_eq!(machine.pin(0, &thread).unwrap_err(), Unpinned::Full);
        assert_eq!((thread.now().as_str(), thread.calls()), ("0-7", 1));
        counted.wait();
    });
    assert_eq!(machine.taken(0), 0);
    // With one pin live, a thread that may use two CPUs of the domain would fill its share, a wider one would not.
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let thread = MadeUp::new("0-7");
            let pin = machine.pin(0, &thread).unwrap();
            pinned.wait();
            counted.wait();
            drop(pin);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                pinned.wait();
                counted.wait();
            });
        }
        pinned.wait();
        let (narrow, wide) = (MadeUp::new("0-1,4-7"), MadeUp::new("0-7"));
        assert_eq!(machine.pin(0, &narrow).unwrap_err(), Unpinned::Full);
        assert!(machine.pin(0, &wide).is_ok());
        counted.wait();
    });
    let narrow = MadeUp::new("0-1,4-7");
    assert!(machine.pin(0, &narrow).is_ok());
}

#[test]
fn many_threads_never_exceed_the_cap() {
    let machine = &machine();
    let (live, most, pins) = (&AtomicUsize::new(0), &AtomicUsize::new(0), &AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                let thread = MadeUp::new("0-7");
                for _ in 0..500 {
                    if let Ok(_pin) = machine.pin(1, &thread) {
                        most.fetch_max(live.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        pins.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        live.fetch_sub(1, Ordering::SeqCst);
                    }
                    assert_eq!(thread.now(), "0-7");
                }
            });
        }
    });
    assert!(most.load(Ordering::SeqCst) <= 3 && pins.load(Ordering::SeqCst) > 0);
    assert_eq!(machine.taken(1), 0);
}

#[test]
fn a_move_outside_the_pin_stays_and_one_within_is_undone() {
    for (moved, after) in [
        ("4-7", "4-7"),
        ("0-7", "0-7"),
        ("2-4", "2-4"),
        ("60", "60"),
        ("1", "0-7,60"),
        ("0-3", "0-7,60"),
    ] {
        let (machine, thread) = (machine(), MadeUp::new("0-7,60"));
        let pin = machine.pin(0, &thread).unwrap();
        thread.moved_to(moved);
        drop(pin);
        assert_eq!(thread.now(), after, "moved to {moved}");
        assert_eq!(machine.taken(0), 0);
        assert!(machine.pin(0, &MadeUp::new("0-7")).is_ok(), "the flag is down");
    }
}

#[test]
fn a_cpu_that_goes_offline_clamps_the_pin_and_the_rest_comes_back() {
    let (machine, thread) = (machine(), MadeUp::new("0-7"));
    let pin = machine.pin(0, &thread).unwrap();
    thread.online.borrow_mut().remove(2);
    thread.moved_to("0-1,3");
    drop(pin);
    assert_eq!(*thread.log.borrow().last().unwrap(), Call::Set(set("0-7")), "as it was saved");
    assert_eq!(thread.now(), "0-1,3-7", "as far as the kernel still has it");
    // Offline before the pin: the kernel clamps what is set.
    let pin = machine.pin(0, &thread).unwrap();
    assert_eq!(thread.now(), "0-1,3");
    drop(pin);
    assert_eq!(thread.now(), "0-1,3-7");
}

#[test]
fn cpus_that_the_operator_excluded_are_never_gained() {
    let (machine, thread) = (machine(), MadeUp::new("1-2,5-7"));
    for domain in [0, 1, 2, 0] {
        drop(machine.pin(domain, &thread));
    }
    for call in thread.log.borrow().iter() {
        if let Call::Set(mask) = call {
            assert!(mask.is_subset(&set("1-2,5-7")), "set {mask}");
        }
    }
    assert_eq!(thread.now(), "1-2,5-7");
}

#[test]
fn failing_calls_cost_the_pin_and_nothing_else() {
    // A pin makes these calls: get, set; get, set.
    for errno in [EPERM, ENOSYS, EINVAL] {
        for failing in 0..4 {
            let (machine, thread) = (machine(), MadeUp::new("0-7"));
            // A failed `get` with EINVAL is tried again with a larger buffer, so nothing fails then.
            let retried = errno == EINVAL && failing % 2 == 0;
            thread.fail(failing, errno);
            let pin = machine.pin(0, &thread);
            let what = format!("errno {errno} at call {failing}");
            match failing {
                0 | 1 if !retried => {
                    let kind = io::Error::from_raw_os_error(errno).kind();
                    assert_eq!(*pin.as_ref().unwrap_err(), Unpinned::Failed(kind), "{what}");
                }
                _ => assert!(pin.is_ok(), "{what}"),
            }
            drop(pin);
            let restored = retried || failing < 2;
            assert_eq!(thread.now(), if restored { "0-7" } else { "0-3" }, "{what}");
            assert_eq!(machine.taken(0), 0, "{what}");
            assert!(machine.pin(1, &MadeUp::new("0-7")).is_ok(), "{what}: the flag is down");
        }
    }
}

#[test]
fn masks_of_more_than_1024_cpus() {
    let domains = Topology::builder().domain(&set("0-3")).domain(&set("1500-1503"));
    let machine = Confines::new(domains.build().unwrap());
    let mut thread = MadeUp::new("0-3,1500-1502");
    thread.words = 32;
    let pin = machine.pin(1, &thread).unwrap();
    assert_eq!(thread.now(), "1500-1502");
    drop(pin);
    assert_eq!(thread.now(), "0-3,1500-1502");
}

#[test]
fn a_panic_restores_too() {
    let (machine, thread) = (machine(), MadeUp::new("0-7"));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _pin = machine.pin(0, &thread).unwrap();
        std::panic::resume_unwind(Box::new("job"));
    }));
    assert!(caught.is_err());
    assert_eq!((thread.now().as_str(), machine.taken(0)), ("0-7", 0));
    assert!(machine.pin(0, &thread).is_ok());
}

#[test]
fn the_mask_is_restored_before_the_slot_is_given_back() {
    /// Notes how many slots are taken whenever the mask is set.
    struct Watching<'a>(&'a MadeUp, &'a Confines, &'a RefCell<Vec<usize>>);

    impl MaskCalls for Watching<'_> {
        fn get(&self, words: &mut [u64]) -> io::Result<usize> {
            self.0.get(words)
        }
        fn set(&self, words: &[u64]) -> io::Result<()> {
            self.2.borrow_mut().push(self.1.taken(0));
            self.0.set(words)
        }
        fn cpu(&self) -> Option<usize> {
            self.0.cpu()
        }
    }

    let (machine, thread, taken) = (machine(), MadeUp::new("0-7"), RefCell::default());
    drop(machine.pin(0, Watching(&thread, &machine, &taken)));
    assert_eq!(*taken.borrow(), [1, 1], "held while the mask is narrow");
}

#[test]
fn unpinned_widens_for_its_time() {
    let (machine, thread) = (machine(), MadeUp::new("0-7,50"));
    assert_eq!(unpinned_by(&&thread, || thread.now()), "0-7,50");
    assert_eq!(thread.calls(), 0, "nothing was narrowed");
    let pin = machine.pin(0, &thread).unwrap();
    let inside = unpinned_by(&&thread, || {
        assert_eq!(machine.pin(1, &thread).unwrap_err(), Unpinned::Nested);
        unpinned_by(&&thread, || thread.now())
    });
    assert_eq!((inside.as_str(), thread.now().as_str()), ("0-7,50", "0-3"));
    // Somebody else's choice is not widened.
    thread.moved_to("4-5");
    assert_eq!(unpinned_by(&&thread, || thread.now()), "4-5");
    assert_eq!(thread.now(), "4-5");
    drop(pin);
}

#[test]
fn what_is_changed_while_unpinned_stays() {
    let (machine, thread) = (machine(), MadeUp::new("0-7"));
    let pin = machine.pin(0, &thread).unwrap();
    unpinned_by(&&thread, || thread.moved_to("5-6"));
    assert_eq!(thread.now(), "5-6");
    drop(pin);
    assert_eq!(thread.now(), "5-6");
}

#[test]
fn unpinned_gives_a_worker_what_it_could_use_before_it_was_placed() {
    // On a thread of its own, since a placement is for life.
    std::thread::spawn(|| {
        let thread = MadeUp::new("0-9");
        settle_by(&&thread, &set("0-7")).unwrap();
        let machine = machine();
        let pin = machine.pin(0, &thread).unwrap();
        assert_eq!(thread.now(), "0-3");
        assert_eq!(unpinned_by(&&thread, || thread.now()), "0-9");
        drop(pin);
        assert_eq!(thread.now(), "0-7");
        assert_eq!(unpinned_by(&&thread, || thread.now()), "0-9");
        // An operator has given the worker another mask: that one is not widened.
        thread.moved_to("3-9");
        assert_eq!(unpinned_by(&&thread, || thread.now()), "3-9");
        // Nor is it once a pin is on top: the pin is lifted, the operator's mask stays in force.
        let pin = machine.pin(1, &thread).unwrap();
        assert_eq!(thread.now(), "4-7");
        assert_eq!(unpinned_by(&&thread, || thread.now()), "3-9");
        drop(pin);
    })
    .join()
    .unwrap();
}

#[test]
fn failing_calls_leave_unpinned_without_effect() {
    for errno in [EPERM, ENOSYS] {
        for failing in 0..5 {
            let (machine, thread) = (machine(), MadeUp::new("0-7"));
            let pin = machine.pin(0, &thread).unwrap();
            thread.fail(failing, errno);
            // It makes these calls: get, set, get; get, set.
            let inside = unpinned_by(&&thread, || thread.now());
            assert_eq!(inside, if failing < 2 { "0-3" } else { "0-7" }, "call {failing}");
            thread.fails.set(None);
            drop(pin);
            assert_eq!((thread.now().as_str(), machine.taken(0)), ("0-7", 0), "call {failing}");
        }
    }
}

#[test]
fn real_masks_of_this_machine_are_as_before_after_each_guard() {
    let Ok(before) = mask::current() else {
        assert!(!cfg!(target_os = "linux") || cfg!(miri));
        return;
    };
    let guard = Near::here().guard();
    let now = mask::current().unwrap();
    assert!(now.is_subset(&before));
    assert_eq!(guard.is_pinned(), now != before, "{guard:?}");
    assert_eq!(unpinned_by(&super::kernel::Kernel, || mask::current().unwrap()), before);
    drop(guard);
    assert_eq!(mask::current().unwrap(), before);
    assert!(Near::of(usize::MAX).guard().unpinned().is_some(), "no such CPU");
    assert_eq!(Near::here().wrap(|| 7)(), 7);
}

#[test]
fn real_masks_are_narrowed_on_made_up_domains() {
    // Needs three CPUs: two to be pinned to, and another one. With fewer, pins must be refused, and are.
    let Ok(before) = mask::current() else { return };
    let cpus: Vec<usize> = before.iter().collect();
    let (first, rest) = cpus.split_at(cpus.len().div_ceil(2));
    if rest.is_empty() {
        return assert_eq!(before.len(), 1);
    }
    let halves = Topology::builder().domain(first.iter().copied()).domain(rest.iter().copied());
    let machine = Confines::new(halves.build().unwrap());
    match machine.pin(0, super::kernel::Kernel) {
        Ok(pin) => {
            assert_eq!(mask::current().unwrap(), first.iter().copied().collect::<CpuSet>());
            drop(pin);
        }
        Err(why) => assert_eq!((first.len(), why), (1, Unpinned::TooFewCpus)),
    }
    assert_eq!((mask::current().unwrap(), machine.taken(0)), (before, 0));
}
