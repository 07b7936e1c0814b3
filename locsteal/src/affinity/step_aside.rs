//! Moving the calling thread away from a CPU that another thread needs, without tying it down.
//!
//! The mask is narrowed to one other CPU, which moves the thread there at once, and then given back: the system
//! may move the thread again, but leaves one that sleeps and wakes now and then where it last was.
//!
//! A thread sees of its mask only the CPUs that are online. If it gave back what it saw, it would not get those that come online
//! later. So where it sees all of its mask that is online, the whole mask is given back: the one that it was once given, or
//! every CPU there may ever be. Where it sees less, somebody has narrowed it, and just that is given back. As long as CPUs are offline
//! nothing is done: kernels cut them out of a mask that is set meanwhile.

use super::kernel::Kernel;
use super::mask::{MaskCalls, current_by, set_by};
use crate::topology::CpuSet;

/// Moves the calling thread to the first of these CPUs that is not the present one and that it may use, else to one of those
/// `near`, else to any other that it may use: of several, threads with different numbers take different ones. False if it stays: it
/// may use no other, some CPUs are offline, or the system refuses.
///
/// Somebody who sets the thread's mask at the same moment has the last word, but for the moment between reading and
/// writing that `guard_pin` speaks of.
///
/// `given`: the mask that this library gave the thread, if any.
pub(crate) fn step_aside(
    to: [Option<usize>; 2],
    near: &CpuSet,
    number: usize,
    given: Option<&CpuSet>,
) -> bool {
    let list = |name: &str| -> Option<CpuSet> {
        std::fs::read_to_string(format!("/sys/devices/system/cpu/{name}")).ok()?.trim().parse().ok()
    };
    let online = list("online");
    if list("present") != online {
        return false;
    }
    step_aside_by(&Kernel, to, near, number, |seen| whole(seen, given, online.as_ref()))
}

/// The mask of which a thread sees this, in the words of the module.
fn whole(seen: &CpuSet, given: Option<&CpuSet>, online: Option<&CpuSet>) -> CpuSet {
    let all = || (0..=CpuSet::MAX_ID).collect();
    let whole = given.map_or_else(all, Clone::clone);
    match online {
        Some(online) if whole.intersection(online) == *seen => whole,
        _ => seen.clone(),
    }
}

fn step_aside_by(
    calls: &impl MaskCalls,
    to: [Option<usize>; 2],
    near: &CpuSet,
    number: usize,
    whole: impl FnOnce(&CpuSet) -> CpuSet,
) -> bool {
    let (Some(here), Ok(before)) = (calls.cpu(), current_by(calls)) else {
        return false;
    };
    let free = |cpu: &usize| *cpu != here && before.contains(*cpu);
    let known = to.into_iter().flatten().find(free);
    let one_of = |cpus: &CpuSet| {
        let count = cpus.iter().filter(free).count();
        cpus.iter().filter(free).nth(number.checked_rem(count)?)
    };
    let Some(to) = known.or_else(|| one_of(near)).or_else(|| one_of(&before)) else {
        return false;
    };
    let there: CpuSet = [to].into_iter().collect();
    if set_by(calls, &there).is_err() {
        return false;
    }
    if current_by(calls).is_ok_and(|now| now == there) {
        // Where this fails the thread is tied to a good place.
        let _ = set_by(calls, &whole(&before));
    }
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::io;

    use super::*;
    use crate::affinity::mask::fake::FakeKernel;

    /// A thread that stays where it is as long as it may.
    struct Thread {
        kernel: FakeKernel,
        cpu: Cell<Option<usize>>,
        /// Where it has been.
        moves: RefCell<Vec<usize>>,
        /// What an operator sets right after the next change.
        operator: RefCell<Option<CpuSet>>,
    }

    impl Thread {
        fn new(mask: &str, cpu: usize) -> Self {
            Self {
                kernel: FakeKernel::new(8, mask),
                cpu: Cell::new(Some(cpu)),
                moves: RefCell::default(),
                operator: RefCell::default(),
            }
        }

        fn mask(&self) -> String {
            self.kernel.mask.borrow().to_string()
        }
    }

    impl MaskCalls for Thread {
        fn get(&self, words: &mut [u64]) -> io::Result<usize> {
            self.kernel.get(words)
        }

        fn set(&self, words: &[u64]) -> io::Result<()> {
            self.kernel.set(words)?;
            let mask = self.kernel.mask.borrow().clone();
            if let Some(cpu) = self.cpu.get().filter(|cpu| !mask.contains(*cpu)) {
                let to = mask.first();
                self.cpu.set(to);
                self.moves.borrow_mut().extend(to);
                assert_ne!(to, Some(cpu));
            }
            if let Some(operator) = self.operator.borrow_mut().take() {
                *self.kernel.mask.borrow_mut() = operator;
            }
            Ok(())
        }

        fn cpu(&self) -> Option<usize> {
            self.cpu.get()
        }
    }

    #[test]
    fn a_thread_moves_to_the_first_cpu_that_is_free_and_is_not_tied_to_it() {
        for (to, arrives) in [
            ([Some(3), Some(2)], 3),
            ([Some(1), Some(2)], 2),
            ([None, Some(2)], 2),
            // Its own, one that it may not use, one that does not exist.
            ([Some(1), None], 0),
            ([Some(6), Some(1)], 0),
            ([Some(70), Some(2)], 2),
            ([None, None], 0),
        ] {
            let thread = Thread::new("0-3", 1);
            assert!(step_aside_by(&thread, to, &CpuSet::new(), 0, CpuSet::clone));
            assert_eq!(*thread.moves.borrow(), [arrives], "{to:?}");
            assert_eq!(thread.mask(), "0-3");
        }
    }

    #[test]
    fn several_threads_take_different_cpus_near_ones_first() {
        let arrives = |near: &str, number| {
            let thread = Thread::new("0-5", 1);
            assert!(step_aside_by(
                &thread,
                [None, None],
                &near.parse().unwrap(),
                number,
                CpuSet::clone
            ));
            thread.moves.take()
        };
        assert_eq!((0..4).map(|n| arrives("0-3", n)).collect::<Vec<_>>(), [[0], [2], [3], [0]]);
        assert_eq!((0..2).map(|n| arrives("1,7", n)).collect::<Vec<_>>(), [[0], [2]]);
    }

    #[test]
    fn who_may_use_one_cpu_stays() {
        let thread = Thread::new("1", 1);
        assert!(!step_aside_by(&thread, [Some(0), Some(2)], &CpuSet::new(), 0, CpuSet::clone));
        assert_eq!((thread.kernel.calls.get(), thread.mask()), (1, "1".into()), "read, not set");
    }

    #[test]
    fn cpus_that_are_offline_are_not_lost_and_none_are_gained() {
        let set = |text: &str| text.parse::<CpuSet>().unwrap();
        let online = set("0,2-3,6");
        let restored = |seen: &str, given: Option<&str>| {
            whole(&set(seen), given.map(set).as_ref(), Some(&online))
        };
        assert_eq!(restored("0,2-3,6", None).len(), CpuSet::MAX_ID + 1, "nobody has narrowed it");
        assert_eq!(restored("2-3", None), set("2-3"), "somebody has");
        assert_eq!(restored("0,2-3", Some("0-3")), set("0-3"));
        assert_eq!(restored("0,2", Some("0-3")), set("0,2"), "somebody has");
        assert_eq!(restored("6", Some("0-3")), set("6"), "somebody has moved it");
        assert_eq!(whole(&set("0-3"), None, None), set("0-3"), "who knows");
        let thread = Thread::new("0-7", 1);
        assert!(step_aside_by(&thread, [Some(0), None], &CpuSet::new(), 0, |_| set("0-63")));
        assert_eq!(thread.mask(), "0-7");
    }

    #[test]
    fn an_operator_has_the_last_word() {
        let thread = Thread::new("0-3", 1);
        *thread.operator.borrow_mut() = Some("2-3".parse().unwrap());
        assert!(step_aside_by(&thread, [Some(0), None], &CpuSet::new(), 0, CpuSet::clone));
        assert_eq!(thread.mask(), "2-3");
    }

    #[test]
    fn refusals_leave_everything_as_it_is() {
        let thread = Thread::new("0-3", 1);
        thread.kernel.set_fails.set(Some(1));
        assert!(!step_aside_by(&thread, [Some(0), None], &CpuSet::new(), 0, CpuSet::clone));
        thread.kernel.get_fails.set(Some(38));
        assert!(!step_aside_by(&thread, [Some(0), None], &CpuSet::new(), 0, CpuSet::clone));
        thread.kernel.get_fails.set(None);
        thread.kernel.set_fails.set(None);
        thread.cpu.set(None);
        assert!(
            !step_aside_by(&thread, [Some(0), None], &CpuSet::new(), 0, CpuSet::clone),
            "nobody knows where it is"
        );
        assert_eq!((thread.mask(), thread.moves.borrow().len()), ("0-3".into(), 0));
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn the_real_thread_moves_and_keeps_its_mask() {
        use std::fs;

        use crate::affinity::mask::{current, current_cpu};

        std::thread::spawn(|| {
            let before = current().unwrap();
            let moved = step_aside([None, None], &CpuSet::new(), 0, None);
            assert_eq!(current().unwrap(), before);
            let list = |name| fs::read_to_string(format!("/sys/devices/system/cpu/{name}")).ok();
            let all_online = list("present") == list("online");
            assert_eq!(moved, all_online && before.len() > 1);
            assert!(before.contains(current_cpu().unwrap()));
        })
        .join()
        .unwrap();
    }
}
